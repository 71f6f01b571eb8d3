"""Table `features_round`: what a round accumulated and proved, and what forbids saying so.

What belongs here: putting a row together from the steps of a round. What does not: any formula, and any other round
(cohorts). Source: spec/trajectory.md §1.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.trajectory.accumulated import accumulated, step_gaps
from governance_pipeline.trajectory.events import CHANGES_FILE, EVIDENCE_FILE, Origin, native_rounds, quarantined_lines
from governance_pipeline.trajectory.evidence import evidence_by_round
from governance_pipeline.trajectory.formulas import EPSILON, FEATURE_VERSION, refuse_other_formulas
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.rules import rules_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from governance_pipeline.trajectory.events import Tables
    from governance_pipeline.trajectory.evidence import RoundEvidence

TABLE: Final = "features_round"

ROUND_TABLES: Final = (
    "raw_log_files",
    "raw_quarantine",
    "core_rounds",
    "core_criteria",
    "core_runs",
    "core_changes",
    "core_evidence",
    "features_step_surface",
)
"""Tables `round_features` reads."""


def round_features(tables: Tables) -> pd.DataFrame:
    """Return one row per round of `core_rounds`, in its order; columns as contract `features_round`.

    Args:
        tables: the frames named by `ROUND_TABLES`, of the same rounds, of any number of them.

    Raises:
        StorageError: `features_step_surface` was made with another epsilon or version.
    """
    refuse_other_formulas(tables["features_step_surface"], "features_step_surface")
    steps: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows_of(tables["features_step_surface"], ("round_id", "step_index", "surface_sum", "is_repeated")):
        steps[row["round_id"]].append(row)
    rules = rules_of(tables["core_rounds"], tables["core_criteria"])
    evidence = evidence_by_round(rules, tables["core_evidence"], tables["raw_quarantine"])
    lost = {file: quarantined_lines(tables["raw_quarantine"], file) for file in (CHANGES_FILE, EVIDENCE_FILE)}
    opaque = tables["core_runs"].groupby("round_id")["opaque_step_count"].sum().to_dict()
    natives = native_rounds(tables)
    return frame_of(
        TABLE,
        (
            {
                "round_id": round_id,
                "origin": Origin.NATIVE if round_id in natives else Origin.LOG,
                "opaque_steps_count": int(opaque.get(round_id, 0)),
                **_surface(steps[round_id], lost[CHANGES_FILE].get(round_id, 0)),
                **_evidence(evidence[round_id]),
                "quarantined_evidence_count": lost[EVIDENCE_FILE].get(round_id, 0),
                "feature_version": FEATURE_VERSION,
                "epsilon": EPSILON,
            }
            for round_id in rules
        ),
    )


def _surface(steps: Sequence[Mapping[str, Any]], quarantined: int) -> dict[str, Any]:
    ordered = sorted(steps, key=lambda row: row["step_index"])
    numbers = [row["step_index"] for row in ordered]
    gaps = step_gaps(numbers)
    total = accumulated([row["surface_sum"] for row in ordered], has_gap=bool(gaps), has_quarantined=quarantined > 0)
    return {
        "steps_count": len(numbers),
        "last_step_index": numbers[-1] if numbers else None,
        "step_gaps": json.dumps(gaps),
        "repeated_steps": json.dumps([row["step_index"] for row in ordered if row["is_repeated"]]),
        "aus_round": total.value,
        "aus_known_steps_count": total.known_steps,
        "aus_reason": total.reason,
        "quarantined_changes_count": quarantined,
    }


def _evidence(evidence: RoundEvidence) -> dict[str, Any]:
    share = evidence.share()
    return {
        "contract_state": evidence.rules.state,
        "module_rule": evidence.rules.modules.rule,
        "required_count": evidence.required,
        "proven_required_count": evidence.proven_required,
        "evidence_share": share.value,
        "evidence_reason": share.reason,
    }
