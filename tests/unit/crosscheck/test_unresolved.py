"""Which stored rows still speak against a round."""

from __future__ import annotations

import pytest

from governance_pipeline.contracts.registry import empty_frame, frame_of
from governance_pipeline.crosscheck.unresolved import false_hashes, open_mismatches

DIGEST = "0" * 64


def _case(number, reason, state):
    return {
        "round_id": "r",
        "case_id": f"case-{number:064x}",
        "record_id": f"{number:064x}",
        "assignee": "round_owner",
        "reason": reason,
        "state": state,
    }


def test_a_mismatch_is_open_until_a_person_resolved_it():
    cases = [_case(n, "mismatch", state) for n, state in enumerate(["open", "acknowledged", "resolved"])]
    assert open_mismatches(frame_of("audit_escalations", cases))["state"].tolist() == ["open", "acknowledged"]


def test_an_unverifiable_record_is_a_question_and_not_a_mismatch():
    assert open_mismatches(frame_of("audit_escalations", [_case(1, "components_missing", "open")])).empty


def test_only_a_hash_of_other_bytes_is_false():
    row = {"round_id": "r", "run_id": "run", "hashed": "output_result", "declared_hash": DIGEST, "path": "a"}
    place = {"file_sha256": DIGEST, "line": 1, "pointer": ""}
    rows = [
        {**row, **place, "step_index": n, "status": status}
        for n, status in enumerate(["match", "mismatch", "unverifiable"], start=1)
    ]
    assert false_hashes(frame_of("audit_integrity", rows))["status"].tolist() == ["mismatch"]


@pytest.mark.parametrize(
    ("judge", "table"), [(open_mismatches, "audit_escalations"), (false_hashes, "audit_integrity")]
)
def test_an_empty_table_speaks_against_nothing(judge, table):
    assert judge(empty_frame(table)).empty
