"""The `govern/features/v1` document of a round, made of its rows in the two feature tables.

What belongs here: tables -> document (spec/trajectory.md §9). What does not: any number that is not in the tables,
and how a page looks (`page`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.trajectory.formulas import EPSILON, FEATURE_VERSION
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.round_features import round_features
from governance_pipeline.trajectory.step_surface import COLUMN_OF, step_surface

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.trajectory.event_rows import Tables

SCHEMA: Final = "govern/features/v1"
LIST_SCHEMA: Final = "govern/features-list/v1"

_COLUMN_OF: Final = {
    **COLUMN_OF,
    "S": "surface_sum",
    "J": "evidence_per_surface",
    "delta_s": "surface_sum_delta",
    "delta_e": "evidence_share_delta",
}


def features_documents(tables: Tables) -> list[dict[str, Any]]:
    """Compute the features of rounds and give one `govern/features/v1` document each, ordered by round id.

    Args:
        tables: raw and core tables of the rounds.

    Raises:
        UsageError: an event belongs to a round that `core_rounds` does not have.
    """
    steps = step_surface(tables)
    of_round = round_features({**tables, "features_step_surface": steps})
    by_round: dict[str, list[dict[str, Any]]] = {}
    for row in rows_of(steps):
        by_round.setdefault(row["round_id"], []).append(row)
    rounds = sorted(rows_of(of_round), key=lambda row: row["round_id"])
    return [_document(row, by_round.get(row["round_id"], [])) for row in rounds]


def list_document(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """Put documents of several rounds into one `govern/features-list/v1` document."""
    return {"schema": LIST_SCHEMA, "feature_version": FEATURE_VERSION, "epsilon": EPSILON, "rounds": documents}


def shortest_number(value: float | None) -> int | float | None:
    """Give a number so that JSON writes it shortest: a whole one without its `.0`, never -0."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def mismatch_numbers(mismatches: list[dict[str, str]]) -> list[dict[str, Any]]:
    """Give mismatches with their two sides as numbers instead of lexemes."""
    return [
        {"field": found["field"], **{side: _number(found["field"], found[side]) for side in ("declared", "computed")}}
        for found in mismatches
    ]


def _document(row: Mapping[str, Any], steps: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "feature_version": row["feature_version"],
        "epsilon": row["epsilon"],
        "round_id": row["round_id"],
        "contract": row["contract_state"],
        "module_rule": row["module_rule"],
        "steps": [_step(step) for step in steps],
        "round": {
            "steps": row["steps_count"],
            "last_step": row["last_step_index"],
            "step_gaps": json.loads(row["step_gaps"]),
            "repeated_steps": json.loads(row["repeated_steps"]),
            "AUS_round": shortest_number(row["aus_round"]),
            "aus_known_steps": row["aus_known_steps_count"],
            "aus_reason": row["aus_reason"],
            "required": row["required_count"],
            "proven_required": row["proven_required_count"],
            "E": shortest_number(row["evidence_share"]),
            "e_reason": row["evidence_reason"],
        },
        "quarantined": {"changes": row["quarantined_changes_count"], "evidence": row["quarantined_evidence_count"]},
    }


def _step(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "step": row["step_index"],
        **{name: shortest_number(row[column]) for name, column in _COLUMN_OF.items()},
        "unknown": json.loads(row["unknown"]),
        "mismatches": mismatch_numbers(json.loads(row["mismatches"])),
    }


def _number(field: str, lexeme: str) -> int | float | None:
    return shortest_number(float(lexeme)) if field == "H" else int(lexeme)
