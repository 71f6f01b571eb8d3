"""Input of the decision table: refused whole when anything in it is not what the interface says."""

from __future__ import annotations

import copy
import json

import pytest
from click.testing import CliRunner

from governance_pipeline.cli.main import run
from governance_pipeline.cli.verdict import verdict
from governance_pipeline.errors import UsageError
from governance_pipeline.verdict.decide import decide, read_decide_input
from governance_pipeline.verdict.document_schema import document_fault

POLICY = {"schema": "govern/policy/v1", "version": "1"}
FACT = {"id": "a", "class": "A", "code": "test-deleted"}
GAP = {"id": "b", "class": "B", "code": "components-missing"}
STATISTIC = {
    "id": "c", "class": "C", "code": "extreme-surface", "calibration": "none", "extremity": "extreme", "cohort": "ok",
}  # fmt: skip
JUDGEMENT = {"id": "d", "class": "D", "code": "model-note"}
GOAL = {"contract": "valid"}
WHOLE = {
    "schema": "govern/decide-input/v1",
    "mode": "quick",
    "policy": POLICY,
    "signals": [FACT, GAP, STATISTIC, JUDGEMENT],
    "checks": [{"id": "unit", "required": True, "ran": True}],
    "goal": GOAL,
}


def changed(*place, to):
    """The whole input with the value at `place` replaced (or removed: `to` is Ellipsis)."""
    document = copy.deepcopy(WHOLE)
    target = document
    for step in place[:-1]:
        target = target[step]
    if to is ...:
        del target[place[-1]]
    else:
        target[place[-1]] = to
    return document


def read(document):
    return read_decide_input(json.dumps(document).encode())


def test_the_whole_input_is_accepted():
    assert decide(read(WHOLE))["status"] == "unknown"


@pytest.mark.parametrize(
    ("place", "to"),
    [
        (("schema",), "govern/decide-input/v2"),
        (("schema",), ...),
        (("mode",), "strict"),
        (("mode",), None),
        (("policy",), ...),
        (("policy",), None),
        (("signals",), ...),
        (("signals",), None),
        (("checks",), ...),
        (("confidence",), 0.9),
        (("signals", 0, "confidence"), 0.9),
        (("signals", 0, "severity"), "blocking"),
        (("signals", 0, "required"), True),
        (("signals", 0, "class"), "E"),
        (("signals", 0, "class"), ...),
        (("signals", 0, "id"), ...),
        (("signals", 0, "id"), "b"),
        (("signals", 0, "id"), ""),
        (("signals", 0, "id"), ".a"),
        (("signals", 0, "id"), "a\n"),
        (("signals", 0, "id"), 1),
        (("signals", 0, "id"), 1.5),
        (("signals", 0, "id"), "goal-substitution"),
        (("signals", 0, "code"), "goal-substitution"),
        (("signals", 0, "code"), "Test-Deleted"),
        (("signals", 0, "code"), "test-deleted\n"),
        (("signals", 1, "code"), "goal-substitution"),
        (("signals", 1, "reason"), "because"),
        (("signals", 1, "required"), "yes"),
        (("signals", 1, "cohort"), "ok"),
        (("signals", 2, "calibration"), ...),
        (("signals", 2, "calibration"), None),
        (("signals", 2, "extremity"), "mild"),
        (("signals", 2, "cohort"), None),
        (("signals", 2, "p"), 0.01),
        (("signals", 3, "decision"), "block"),
        (("checks", 0, "ran"), ...),
        (("checks", 0, "ran"), 1),
        (("checks", 0, "required"), None),
        (("checks", 0, "result"), "pass"),
        (("checks",), [{"id": "x", "required": True, "ran": True}] * 2),
        (("goal", "contract"), ...),
        (("goal", "contract"), "unsure"),
        (("goal", "files"), -1),
        (("goal", "files"), 2.0),
        (("goal", "files"), True),
        (("goal", "files"), 2**64),
        (("goal", "score"), 1),
        (("goal", "contributes_to"), ["KR1", "KR1"]),
        (("goal", "contributes_to"), [1]),
        (("goal", "evidence"), {"KR1": -1}),
        (("goal", "evidence"), {"": 1}),
        (("policy", "schema"), "govern/policy/v2"),
        (("policy", "version"), ...),
        (("policy", "version"), 1),
        (("policy", "severity"), {"goal-substitution": "blocking"}),
        (("policy", "severity"), {"test-deleted": "fatal"}),
        (("policy", "severity"), {"Test": "blocking"}),
        (("policy", "default_severity"), "fatal"),
        (("policy", "final_block"), ["test-deleted"]),
        (("policy", "final_block"), "criterion-without-evidence"),
        (("policy", "goal_substitution"), "block"),
        (("policy", "material_files"), 0),
        (("policy", "material_files"), 2**53),
        (("policy", "material_churn"), 400.0),
        (("policy", "dismissible"), []),
    ],
)
def test_an_input_that_breaks_a_rule_is_refused(place, to):
    with pytest.raises(UsageError, match=r"refused|policy"):
        read(changed(*place, to=to))


@pytest.mark.parametrize(
    "data",
    [b"", b"null", b"[]", b"{", b'{"schema": NaN}', b'{"a": 1, "a": 1}', b"\xff", b"{} {}", b"[" * 1000],
)
def test_what_is_no_strict_json_object_is_refused(data):
    with pytest.raises(UsageError):
        read_decide_input(data)


def test_a_refused_input_leaves_stdout_empty_and_exits_2(tmp_path, capsys):
    file = tmp_path / "input.json"
    file.write_text(json.dumps(changed("mode", to="strict")))
    assert run(["verdict", "decide", str(file), "--json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "mode" in captured.err


@pytest.mark.parametrize("name", ["absent.json", "folder", "link.json"])
def test_a_file_that_cannot_be_read_exits_2(name, tmp_path, capsys):
    (tmp_path / "folder").mkdir()
    (tmp_path / "real.json").write_text(json.dumps(WHOLE))
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    assert run(["verdict", "decide", str(tmp_path / name), "--json"]) == 2
    assert capsys.readouterr().out == ""


def test_hostile_text_of_a_refused_input_is_escaped():
    with pytest.raises(UsageError) as error:
        read(changed("mode", to="\x1b[31m\u202e"))
    assert "\x1b" not in str(error.value)
    assert "\u202e" not in str(error.value)


@pytest.mark.parametrize("member", ["goal"])
def test_null_stands_for_an_absent_optional_member(member):
    assert decide(read(changed(member, to=None))) == decide(read(changed(member, to=...)))


@pytest.mark.parametrize("member", ["required", "reason"])
def test_null_takes_the_default_of_a_gap(member):
    document = decide(read(changed("signals", 1, member, to=None)))
    assert document["findings"][1] | {"id": "b"} == {
        "id": "b", "class": "B", "code": "components-missing", "decision": "unknown", "reason": "no_evidence",
    }  # fmt: skip


@pytest.mark.parametrize(
    "member",
    ["severity", "default_severity", "final_block", "goal_substitution", "material_files", "material_churn"],
)
def test_null_takes_the_default_of_a_policy_and_changes_its_digest(member):
    plain, null = decide(read(WHOLE)), decide(read(changed("policy", member, to=None)))
    assert null["policy_digest"] != plain["policy_digest"]
    assert null | {"policy_digest": ""} == plain | {"policy_digest": ""}


def test_without_a_goal_nothing_is_said_about_it():
    document = decide(read(changed("goal", to=...)))
    assert document["goal_substitution"] is None
    assert document_fault("decision-v1.json", document) is None


def test_an_absent_file_list_of_checks_is_no_check_at_all():
    document = decide(read(changed("checks", to=[])))
    assert [f["id"] for f in document["findings"]] == ["a", "b", "c", "d", "checks"]


def test_the_decision_is_pure():
    assert decide(read(WHOLE)) == decide(read(copy.deepcopy(WHOLE)))


def test_help_of_every_command_has_an_example():
    for name, command in verdict.commands.items():
        assert f"govern verdict {name}" in CliRunner().invoke(command, ["--help"]).stdout
