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
from governance_pipeline.trajectory.base_lines import open_base as open_base_in
from governance_pipeline.trajectory.event_rows import CHANGES_FILE, Origin, native_rounds
from governance_pipeline.trajectory.events import EVIDENCE_FILE, quarantined_lines
from governance_pipeline.trajectory.evidence import evidence_by_round
from governance_pipeline.trajectory.formulas import EPSILON, FEATURE_VERSION, refuse_other_formulas
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.growth import StepState, largest, unproven_growth
from governance_pipeline.trajectory.reasons import AusReason, GrowthReason
from governance_pipeline.trajectory.rewriting import REWRITING_TABLES, RewriteReason, rewritten
from governance_pipeline.trajectory.rules import rules_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from governance_pipeline.trajectory.accumulated import Accumulated
    from governance_pipeline.trajectory.base_lines import OpenBase
    from governance_pipeline.trajectory.event_rows import Tables
    from governance_pipeline.trajectory.evidence import RoundEvidence
    from governance_pipeline.trajectory.rewriting import Rewritten

TABLE: Final = "features_round"

ROUND_TABLES: Final = (
    "raw_log_files",
    "raw_quarantine",
    "core_rounds",
    "core_criteria",
    "core_runs",
    "core_changes",
    "core_evidence",
    "core_steps",
    "core_file_changes",
    "features_step_surface",
)
"""Tables `round_features` reads."""


_STEP_COLUMNS: Final = ("round_id", "step_index", "surface_sum", "entropy_nats", "evidence_share", "is_repeated")


def round_features(tables: Tables, open_base: OpenBase | None = None) -> pd.DataFrame:
    """Return one row per round of `core_rounds`, in its order; columns as contract `features_round`.

    Args:
        tables: the frames named by `ROUND_TABLES`, of the same rounds, of any number of them.
        open_base: opens the base of a round (`base_lines`); None: repositories with an absolute path only.

    Raises:
        StorageError: `features_step_surface` was made with another epsilon or version.
    """
    refuse_other_formulas(tables["features_step_surface"], "features_step_surface")
    steps: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows_of(tables["features_step_surface"], _STEP_COLUMNS):
        steps[row["round_id"]].append(row)
    rules = rules_of(tables["core_rounds"], tables["core_criteria"])
    evidence = evidence_by_round(rules, tables["core_evidence"], tables["raw_quarantine"])
    lost = {file: quarantined_lines(tables["raw_quarantine"], file) for file in (CHANGES_FILE, EVIDENCE_FILE)}
    opaque = tables["core_runs"].groupby("round_id")["opaque_step_count"].sum().to_dict()
    natives = native_rounds(tables)
    shares = rewritten({name: tables[name] for name in REWRITING_TABLES}, open_base or open_base_in())
    return frame_of(
        TABLE,
        (
            {
                "round_id": round_id,
                "origin": Origin.NATIVE if round_id in natives else Origin.LOG,
                "opaque_steps_count": int(opaque.get(round_id, 0)),
                **_surface(steps[round_id], lost[CHANGES_FILE].get(round_id, 0), shares[round_id]),
                **_evidence(evidence[round_id]),
                "quarantined_evidence_count": lost[EVIDENCE_FILE].get(round_id, 0),
                "feature_version": FEATURE_VERSION,
                "epsilon": EPSILON,
            }
            for round_id in rules
        ),
    )


def _surface(steps: Sequence[Mapping[str, Any]], quarantined: int, share: Rewritten) -> dict[str, Any]:
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
        **_compared(ordered, total, share),
        "quarantined_changes_count": quarantined,
    }


def _compared(ordered: Sequence[Mapping[str, Any]], total: Accumulated, share: Rewritten) -> dict[str, Any]:
    """Give the numbers cohorts compare: a step that is missing may have been the largest, so it makes all unknown."""
    missing = None if total.reason == AusReason.S_UNKNOWN else total.reason
    if missing is not None:
        is_without = share.reason == RewriteReason.NO_REPO
        return {
            "largest_h_reason": missing,
            "unproven_growth_reason": missing,
            "rewrite_share_reason": share.reason if is_without else missing,
        }
    peak = largest([row["entropy_nats"] for row in ordered])
    states = [StepState(row["step_index"], row["surface_sum"], row["evidence_share"]) for row in ordered]
    growth = None if total.reason else unproven_growth(states)
    lacking = GrowthReason.S_UNKNOWN if total.reason else GrowthReason.E_UNKNOWN
    return {
        "largest_s": None if total.reason else largest([row["surface_sum"] for row in ordered]),
        "largest_h": peak,
        "largest_h_reason": GrowthReason.H_UNKNOWN if peak is None else None,
        "unproven_growth": growth,
        "unproven_growth_reason": lacking if growth is None else None,
        "rewrite_share": share.value,
        "rewrite_share_reason": share.reason,
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
