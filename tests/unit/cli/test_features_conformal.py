"""`govern features conformal`: the page says what the document says, and no name of a file is obeyed."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.trajectory.conformal import ConformalReason, RobustZReason
from governance_pipeline.trajectory.conformal_page import IN_WORDS

SCHEMA = json.loads(
    (resources.files("governance_pipeline.trajectory") / "schemas" / "conformal-v1.json").read_text("utf-8")
)


@pytest.fixture
def govern(tmp_path, capsys):
    """Run the command over rounds of one cohort; gives its stdout."""

    def _govern(values, *options, feature="L", alpha=0.05, **more):
        rounds = [
            {"round_id": f"r{at:03}", "at": f"2026-01-01T00:{at:02}:00Z", "cohort": "c", "values": {feature: value}}
            for at, value in enumerate(values)
        ]
        file = tmp_path / "cohort.json"
        schema = "govern/conformal-input/v1"
        file.write_text(json.dumps({"schema": schema, "alpha": alpha, "features": [feature], "rounds": rounds, **more}))
        assert run(["features", "conformal", str(file), *options]) == 0
        return capsys.readouterr().out

    return _govern


def test_every_reason_has_its_words_and_its_place_in_the_schema():
    assert set(IN_WORDS) == set(ConformalReason)
    members = SCHEMA["properties"]["results"]["items"]["properties"]
    assert members["reason"]["enum"] == [None, *ConformalReason]
    assert members["robust_z_reason"]["enum"] == [None, *RobustZReason]


def test_a_hostile_name_is_neither_obeyed_nor_read_as_markup(govern):
    name = "\x1b[2J[red]\u202ex"
    page = govern([1, 2], feature=name)
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "[red]" in page
    document = json.loads(govern([1, 2], "--json", feature=name))
    assert document["results"][0]["feature"] == name


def test_the_page_never_calls_p_a_probability_of_being_wrong(govern):
    page = " ".join(govern([3, 1, 2] * 10).split())
    assert "never a probability of being wrong" in page


def test_the_page_names_what_is_extreme_what_is_unknown_and_what_is_not_judged(govern):
    assert "too few earlier rounds" in govern([1, 2, 3])
    assert "the cohort drifts" in govern(list(range(40)), targets=["r039"])
    page = govern([3, 1, 2] * 13 + [9], targets=["r039"])
    assert " extreme" in page
    assert "not extreme" not in page


@pytest.mark.parametrize("values", [[], [None], [0, -0.0, 1e-310, -1e307, 1e307] * 8, [2**63, 10**30, 2.0] * 9])
def test_any_values_give_a_document_of_the_schema_without_minus_zero(govern, values):
    text = govern(values, "--json", alpha=0.5, vector=["L"], martingale_bound=2.5)
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(text))
    assert "-0," not in text
    assert "-0.0" not in text


def test_empty_lists_ask_nothing(govern):
    found = json.loads(govern([1, 2], "--json", targets=[], vector=[]))
    assert (found["batch"], found["results"], found["martingale_bound"], found["alpha"]) == (0, [], 100, 0.05)
