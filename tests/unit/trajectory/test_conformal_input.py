"""A conformal input is understood whole or refused whole, with its place, exit code 2 and an empty stdout."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from fractions import Fraction

import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.errors import UsageError
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.trajectory.conformal_input import conformal_question

SOUND = {
    "schema": "govern/conformal-input/v1",
    "alpha": 0.1,
    "martingale_bound": 50,
    "features": ["F", "L"],
    "vector": ["F"],
    "targets": ["t"],
    "rounds": [
        {"round_id": "r1", "at": "2026-01-01T00:00:00Z", "cohort": "c", "values": {"F": 1, "L": 2.5}},
        {"round_id": "t", "at": "2026-01-02T00:00:00.000001Z", "cohort": "c", "values": {"F": None}},
    ],
}
DROP = object()


def changed(path: str, value) -> dict:
    """Give the sound document with one member set (or dropped), named like `rounds.0.at`."""
    document = copy.deepcopy(SOUND)
    *parents, last = [int(name) if name.isdigit() else name for name in path.split(".")]
    at = document
    for name in parents:
        at = at[name]
    if value is DROP:
        del at[last]
    else:
        at[last] = value
    return document


def question(document):
    return conformal_question(parse_json(json.dumps(document).encode()))


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        ("more", 1, "$"), ("rounds.0.more", 1, "$.rounds[0]"), ("rounds.0.values.X", 1, "$.rounds[0].values"),
        ("schema", DROP, "$"), ("alpha", DROP, "$"), ("features", DROP, "$"), ("rounds", DROP, "$"),
        ("rounds.0.round_id", DROP, "$.rounds[0]"), ("rounds.0.values", DROP, "$.rounds[0]"),
        ("schema", "govern/conformal-input/v2", "$.schema"), ("schema", None, "$.schema"),
        ("alpha", 0, "$.alpha"), ("alpha", 1, "$.alpha"), ("alpha", -0.1, "$.alpha"), ("alpha", "0.1", "$.alpha"),
        ("alpha", None, "$.alpha"), ("alpha", True, "$.alpha"), ("alpha", 1e-310 / 1e20, "$.alpha"),
        ("martingale_bound", 1, "$.martingale_bound"), ("martingale_bound", "100", "$.martingale_bound"),
        ("features", None, "$.features"), ("features", ["F", "F"], "$.features"), ("features", ["F", "max_z"], "$.features[1]"),
        ("features", ["F", ""], "$.features[1]"), ("features", ["F", 1], "$.features[1]"), ("features", "F", "$.features"),
        ("vector", ["M"], "$.vector"), ("vector", ["F", "F"], "$.vector"),
        ("targets", ["nobody"], "$.targets"), ("targets", ["t", "t"], "$.targets"), ("targets", "t", "$.targets"),
        ("rounds", {}, "$.rounds"), ("rounds", None, "$.rounds"), ("rounds.0", [], "$.rounds[0]"),
        ("rounds.0.round_id", "t", "$.rounds"), ("rounds.0.round_id", "T", "$.rounds"),
        ("rounds.0.round_id", "a b", "$.rounds[0].round_id"), ("rounds.0.round_id", "a..b", "$.rounds[0].round_id"),
        ("rounds.0.round_id", "a\n", "$.rounds[0].round_id"), ("rounds.0.round_id", 1, "$.rounds[0].round_id"),
        ("rounds.0.at", "2026-01-01", "$.rounds[0].at"), ("rounds.0.at", "2026-01-01T00:00:00", "$.rounds[0].at"),
        ("rounds.0.at", "2026-01-01T00:00:00+00:00", "$.rounds[0].at"), ("rounds.0.at", "2026-02-30T00:00:00Z", "$.rounds[0].at"),
        ("rounds.0.at", "2026-01-01T00:00:00Z\n", "$.rounds[0].at"), ("rounds.0.at", "2026-01-01T24:00:00Z", "$.rounds[0].at"),
        ("rounds.0.at", "2026-01-01T00:00:00.1Z", "$.rounds[0].at"), ("rounds.0.at", 1767225600, "$.rounds[0].at"),
        ("rounds.0.at", "٢٠٢٦-01-01T00:00:00Z", "$.rounds[0].at"), ("rounds.0.cohort", "", "$.rounds[0].cohort"),
        ("rounds.0.cohort", ["c"], "$.rounds[0].cohort"), ("rounds.0.language", 3, "$.rounds[0].language"),
        ("rounds.0.values", None, "$.rounds[0].values"), ("rounds.0.values.F", "1", "$.rounds[0].values.F"),
        ("rounds.0.values.F", True, "$.rounds[0].values.F"), ("rounds.0.values.F", 1.1e307, "$.rounds[0].values.F"),
        ("rounds.0.values.F", -(10**400), "$.rounds[0].values.F"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused_with_its_place(path, value, place, tmp_path, capsys):
    file = tmp_path / "input.json"
    file.write_text(json.dumps(changed(path, value)))
    assert run(["features", "conformal", str(file), "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"refused: {place}: " in err


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        "null",
        '{"alpha": 0.1, "alpha": 0.2}',
        '{"alpha": NaN}',
        json.dumps(SOUND) + "{}",
        "{'a': 1}",
        "\xff",
    ],
)
@pytest.mark.parametrize("options", [["--json"], []])
def test_what_is_no_such_document_is_refused_with_nothing_on_stdout(text, options, tmp_path, capsys):
    file = tmp_path / "input.json"
    file.write_bytes(text.encode("latin-1"))
    assert run(["features", "conformal", str(file), *options]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["missing.json", ".", "link.json"])
def test_a_file_that_cannot_be_read_is_a_usage_error(name, tmp_path, capsys):
    (tmp_path / "input.json").write_text(json.dumps(SOUND))
    (tmp_path / "link.json").symlink_to(tmp_path / "input.json")
    assert run(["features", "conformal", str(tmp_path / name), "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "cannot be read" in err


def test_an_alpha_of_a_million_digits_is_refused_before_it_costs_anything():
    with pytest.raises(UsageError, match=r"\$\.alpha: more than 400 characters"):
        conformal_question(parse_json(json.dumps(SOUND).replace("0.1", "0." + "1" * 1_000_000).encode()))


def test_alpha_is_the_decimal_as_written_and_values_are_doubles():
    found = question(SOUND)
    assert found.alpha == Fraction(1, 10)
    assert found.rounds[0].values == {"F": 1, "L": 2.5}
    assert found.rounds[0].at == datetime(2026, 1, 1, tzinfo=UTC)
    assert found.rounds[1].at == datetime(2026, 1, 2, 0, 0, 0, 1, tzinfo=UTC)
    assert (found.targets, found.vector, found.martingale_bound) == (["t"], ["F"], 50)


@pytest.mark.parametrize("value", [None, DROP])
def test_optional_members_may_be_absent_or_null(value):
    document = SOUND
    for name in ("martingale_bound", "vector", "targets"):
        document = {key: item for key, item in document.items() if key != name}
        if value is None:
            document[name] = None
    found = question({**document, "rounds": [{"round_id": "r1", "values": {}}, *SOUND["rounds"][1:]]})
    assert (found.targets, list(found.vector), found.martingale_bound) == (["r1", "t"], [], 100)
    assert (found.rounds[0].at, found.rounds[0].cohort) == (None, None)


def test_no_targets_at_all_is_not_the_same_as_an_empty_list_of_targets():
    assert question(changed("targets", [])).targets == []
