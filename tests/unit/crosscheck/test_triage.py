"""Every request gets the answer of the golden cases, in the library and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import governance_pipeline.crosscheck
from governance_pipeline.cli.crosscheck import crosscheck
from governance_pipeline.crosscheck.triage import EXIT_OF, Answer, read_request, request_of, triage
from governance_pipeline.errors import UsageError

CASES = [
    json.loads(line) for line in (Path(__file__).parent / "cases" / "triage.jsonl").read_text("utf-8").splitlines()
]
SCHEMAS = Path(governance_pipeline.crosscheck.__file__).parent / "schemas"
REQUEST = {"schema": "govern/crosscheck-triage-request/v1"}


def schema(name):
    return json.loads((SCHEMAS / name).read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_the_command_answers_as_the_golden_cases_say(tmp_path, case):
    path = tmp_path / "request.json"
    path.write_text(json.dumps(case["request"]))
    result = CliRunner().invoke(crosscheck, ["triage", str(path), "--json"])
    wanted = dict(case["expected"])
    assert result.exit_code == wanted.pop("exit_code")
    answer = json.loads(result.stdout)
    if "error" in wanted:
        jsonschema.validate(answer, schema("crosscheck-errors-v1.json"))
        assert [error["code"] for error in answer["errors"]] == [wanted["error"]]
    else:
        jsonschema.validate(answer, schema("crosscheck-triage-answer-v1.json"))
        assert answer == wanted


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b'{"schema":"x"}', b"\xff", b'{"ask":"verify","ask":"verify"}', b"[" * 100, b" " * (2**20 + 1)]
)  # fmt: skip
def test_what_is_no_request_is_refused(data):
    with pytest.raises(UsageError, match="bad_request"):
        request_of(data)


@pytest.mark.parametrize("number", ["5", "1e999", "-0", "1.5", str(2**70)])
@pytest.mark.parametrize("member", ['"field":%s', '"declared":%s', '"components":[%s]', '"derived_from_declared":[%s]'])
def test_a_number_is_no_name_however_it_is_spelled(member, number):
    with pytest.raises(UsageError, match="bad_request"):
        request_of(b'{"schema":"govern/crosscheck-triage-request/v1",%s}' % (member % number).encode())


def test_a_request_that_cannot_be_read_is_refused(tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "none.json")
    for path in (tmp_path / "none.json", tmp_path, link):
        with pytest.raises(UsageError, match="bad_request"):
            read_request(path)


def test_the_page_says_answer_and_reason(tmp_path):
    path = tmp_path / "request.json"
    path.write_text(json.dumps(REQUEST | {"ask": "overwrite"}))
    result = CliRunner().invoke(crosscheck, ["triage", str(path)])
    assert (result.exit_code, result.stdout) == (4, "refuse: silent_correction\n")


MEMBERS = schema("crosscheck-triage-request-v1.json")["properties"]
REFERENCE = st.sampled_from(["a.b", "a.c", "d.e"])


@given(
    st.fixed_dictionaries(
        {"schema": st.just(REQUEST["schema"])},
        optional={
            "ask": st.sampled_from(MEMBERS["ask"]["enum"]),
            "field": st.none() | st.text(max_size=3),
            "data_type": st.sampled_from(MEMBERS["data_type"]["enum"]),
            "declared": st.none() | REFERENCE,
            "components": st.none() | st.lists(REFERENCE, max_size=2),
            "derived_from_declared": st.none() | st.lists(REFERENCE, max_size=2),
            "on_mismatch": st.sampled_from(MEMBERS["on_mismatch"]["enum"]),
        },
    )
)
def test_a_request_to_correct_is_always_refused_and_verify_needs_both_sides(request_):
    found = triage(request_of(json.dumps(request_).encode()))
    wants_correction = request_.get("ask") in ("overwrite", "reconcile") or request_.get("on_mismatch") not in (
        None,
        "escalate",
    )
    assert (found.answer is Answer.REFUSE) is wants_correction
    if found.answer is Answer.VERIFY:
        assert request_["declared"] not in request_["components"]
        assert request_["data_type"] in ("integer", "currency", "float", "percent")
    assert EXIT_OF[found.answer] in (0, 3, 4)
