"""The controls of the detectors: inputs on which each must fire and must stay silent, and the run of both.

What belongs here: making whole tables of a control's few columns, and `govern verdict selftest`. What does not: the
controls themselves, which stand beside each rule. Their rows keep the contracts of the tables, as a test shows, so no
control rests on an input that no round could give.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.registry import empty_frame, frame_of
from governance_pipeline.verdict.detectors import DETECTORS
from governance_pipeline.verdict.policy_document import shipped_policy
from governance_pipeline.verdict.round_view import FOLDER_INPUTS, INPUTS, RoundView, RowsByRound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from governance_pipeline.verdict.detector import Control, Detector

CONTROL_ROUND: Final = "control-1"
_DIGEST: Final = "a" * 64


def _from(path: str) -> dict[str, Any]:
    return {"path": path, "file_sha256": _DIGEST, "line": 1, "pointer": ""}


_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "raw_log_files": {
        "path": "logs/a.jsonl", "file_sha256": _DIGEST, "record_unit": "line", "bytes": 1, "lines_in": 0,
        "accepted": 0, "quarantined": 0, "blank": 0, "duplicates": 0,
    },
    "raw_quarantine": {
        "path": "logs/a.jsonl", "file_sha256": _DIGEST, "pointer": "", "disposition": "quarantined",
        "reason_code": "malformed_json", "excerpt": "",
    },
    "core_rounds": {"contract_state": "valid", "contract_sha256": _DIGEST, "runs_count": 0},
    "core_criteria": {"criterion_id": "C1", "is_required": True, "weight": 1.0},
    "core_steps": {"run_id": "r1", "step_index": 1, **_from("logs/a.jsonl")},
    "core_declared": {
        "subject_id": "r1", "field": "total", "value_raw": "8", "value_kind": "number", "format": "native",
        "component_paths": "{}", **_from("declared.jsonl"),
    },
    "core_file_changes": {
        "origin": "native", "run_id": "", "step_index": 1, "change_index": 1, "file_path": "src/a.py",
        **_from("changes.jsonl"),
    },
    "core_change_facts": {
        "origin": "log", "run_id": "r1", "step_index": 1, "change_index": 1, "fact_index": 1, "file_path": "src/a.py",
        "kind": "parsed", "subject": "file", **_from("logs/a.jsonl"),
    },
    "core_changes": {"step_index": 1, "has_files": True, "line_sha256": _DIGEST, **_from("changes.jsonl")},
    "core_evidence": {"step_index": 1, "criterion_id": "C1", "state": "proven", **_from("evidence.jsonl")},
    "audit_cross_checks": {
        "record_id": _DIGEST, "check_id": "native_total", "subject_id": "r1", "field": "total",
        "data_type": "integer", "epsilon_reason": "exact", "status": "match", "action": "accept",
        "overwritten": False, "formula": "count(*)", "formula_digest": _DIGEST, "components_count": 0,
        "declared_file_sha256": _DIGEST, "declared_path": "declared.jsonl", "declared_line": 1,
        "declared_pointer": "/value", "escalate_to": "round_owner",
    },
    "audit_integrity": {
        "run_id": "r1", "step_index": 1, "hashed": "output_result", "declared_hash": _DIGEST, "status": "match",
        **_from("logs/a.jsonl"),
    },
    "audit_independence": {
        "validator_id": "v1", "form": "envelope", "attestation_sha256": _DIGEST, "producer_agent_ids": "[]",
        **_from("attestations.jsonl"),
    },
    "features_step_surface": {
        "step_index": 1, "origin": "native", "is_repeated": False, "unknown": "{}", "mismatches": "[]",
        "path": "changes.jsonl", "file_sha256": _DIGEST, "feature_version": "trajectory-features-v1",
        "epsilon": 1e-6,
    },
    "features_graph_surface": {
        "step_index": 1, "origin": "native", "unknown": "{}", "path": "changes.jsonl", "file_sha256": _DIGEST,
        "feature_version": "trajectory-features-v2",
    },
    "features_round": {
        "origin": "native", "contract_state": "valid", "steps_count": 0, "step_gaps": "[]", "repeated_steps": "[]",
        "aus_known_steps_count": 0, "quarantined_changes_count": 0, "quarantined_evidence_count": 0,
        "opaque_steps_count": 0, "feature_version": "trajectory-features-v1", "epsilon": 1e-6,
    },
    "features_amplification": {
        "unit": "src/a.py", "is_in_baseline": True, "baseline_frequency_count": 3, "baseline_impact_count": 2,
        "is_in_candidate": True, "candidate_frequency_count": 4, "candidate_impact_count": 2, "impact_delta_count": 0,
        "base_commit_id": "a" * 40, "candidate_commit_id": "b" * 40, "provider": "{}", "rule": "{}", "unknown": "{}",
        "feature_version": "change-amplification-v1",
    },
    "features_conformal": {
        "feature": "largest_s", "cohort": '["c"]', "baseline_id": _DIGEST, "known_count": 99, "unknown_count": 0,
        "batch_count": 5, "level": "0.05", "feature_version": "trajectory-features-v1", "epsilon": 1e-6,
    },
}  # fmt: skip
"""Table -> what a row says where a control is silent."""


_FOLDER_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "audit_registry": {
        "name": "prices", "version": "canonical", "path": "data/master/prices.csv", "recorded_sha256": _DIGEST,
        "ledger_sha256": _DIGEST, "computed_sha256": _DIGEST, "state": "verified", "status": "canonical",
        "last_verified_at": datetime(2026, 1, 1, tzinfo=UTC), "checked_at": datetime(2026, 1, 2, tzinfo=UTC),
    },
}  # fmt: skip
"""The same for tables of the governed folder."""


class ControlResult(NamedTuple):
    """How one control of one detector came out."""

    code: str
    control: str
    expected: bool
    fired: bool

    @property
    def is_as_expected(self) -> bool:
        """Whether the detector did what the control demands."""
        return self.fired == self.expected


def control_tables(control: Control) -> dict[str, pd.DataFrame]:
    """Make every input table of one round from the rows a control names.

    Raises:
        ContractBreach: a value of a control does not fit its column.
    """
    rows = {"core_rounds": [{}], **control}
    return {table: _table(table, rows[table]) if rows.get(table) else _without_rows(table) for table in INPUTS}


def _table(table: str, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    whole = ({"round_id": CONTROL_ROUND, **_DEFAULTS[table], **row} for row in rows)
    return frame_of(table, whole)


@cache
def _without_rows(table: str) -> pd.DataFrame:
    return empty_frame(table)


def control_view(control: Control) -> RoundView:
    """Look at the one round of a control under the shipped policy, beside the governed folder it names rows of."""
    folder = {
        table: frame_of(table, ({**_FOLDER_DEFAULTS[table], **row} for row in control[table]))
        for table in FOLDER_INPUTS
        if table in control
    }
    return RoundView(RowsByRound(control_tables(control), folder=folder), CONTROL_ROUND, shipped_policy())


def fires(detector: Detector, control: Control) -> bool:
    """Tell whether a detector finds anything in a control."""
    return any(True for _ in detector.detect(control_view(control)))


def selftest() -> list[ControlResult]:
    """Run both controls of every detector; one result each, in the order of the detectors."""
    return [
        ControlResult(detector.code, name, expected, fires(detector, control))
        for detector in DETECTORS
        for name, expected, control in (
            ("fires_on", True, detector.fires_on),
            ("silent_on", False, detector.silent_on),
        )
    ]
