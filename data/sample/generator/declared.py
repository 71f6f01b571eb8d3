"""Declared aggregates of the native files, and what the plan says their check must find.

The expected values come from the rows of the draft alone. They are worked out here a second time, on purpose not
with the library's own comparison.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

from generator.native import AUDIT_LOG

if TYPE_CHECKING:
    from collections.abc import Callable

    from generator.model import Draft

HALF_A_CENT = Decimal("0.005")
UNITS = {
    "total_cost_usd": ("currency", "USD"),
    "step_count": ("integer", "steps"),
    "tool_call_count": ("integer", "calls"),
    "agent_count": ("integer", "agents"),
    "run_count": ("integer", "runs"),
    "tool_kind_count": ("integer", "tools"),
    "lines_added": ("integer", "lines"),
    "lines_deleted": ("integer", "lines"),
    "churn_lines": ("integer", "lines"),
    "files_changed": ("integer", "files"),
}
OF_CHANGES = frozenset({"lines_added", "lines_deleted", "churn_lines", "files_changed"})

_RECOMPUTE: dict[str, Callable[[list[Any]], Decimal | int]] = {
    "total_cost_usd": lambda entries: sum((e["token_cost"] for e in entries), Decimal(0)),
    "step_count": len,
    "tool_call_count": len,
    "agent_count": lambda entries: len({e["agent_id"] for e in entries}),
    "run_count": lambda entries: len({e["run_id"] for e in entries}),
    "tool_kind_count": lambda entries: len({e["tool_called"] for e in entries}),
    "lines_added": lambda files: sum(f["added"] for f in files),
    "lines_deleted": lambda files: sum(f["deleted"] for f in files),
    "churn_lines": lambda files: sum(f["added"] + f["deleted"] for f in files),
    "files_changed": lambda files: len({f["path"] for f in files}),
}


def recompute(draft: Draft, subject: str, field: str) -> Decimal | int:
    """Recompute an aggregate of the round (subject = round id) or of one run from the rows of the draft."""
    rows = draft.changes if field in OF_CHANGES else draft.audit
    rows = [row for row in rows if subject in (draft.round_id, row["run_id"])]
    if field in OF_CHANGES:
        rows = [file for row in rows for file in row["files"]]
    return _RECOMPUTE[field](rows)


def declare(draft: Draft, subject: str, field: str, value: Decimal | int | None = None) -> dict[str, Any]:
    """Append a declared aggregate; without `value` it is the true one, a cost rounded to the cent for the round."""
    if value is None:
        value = recompute(draft, subject, field)
        if field == "total_cost_usd" and subject == draft.round_id:
            value = Decimal(value).quantize(Decimal("0.01"), ROUND_HALF_UP)
    data_type, unit = UNITS[field]
    row = {"subject": subject, "field": field, "value": value, "data_type": data_type, "unit": unit}
    draft.declared.append(row)
    return row


def declare_honestly(draft: Draft) -> None:
    """Declare true totals of every run and of the round: what an honest agent leaves behind."""
    if draft.audit:
        for run_id in dict.fromkeys(entry["run_id"] for entry in draft.audit):
            for field in ("total_cost_usd", "step_count"):
                declare(draft, run_id, field)
        for field in (
            "total_cost_usd",
            "tool_call_count",
            "run_count",
            draft.dice.pick(("agent_count", "tool_kind_count")),
        ):
            declare(draft, draft.round_id, field)
    if draft.changes:
        for field in ("files_changed", draft.dice.pick(("churn_lines", "lines_added", "lines_deleted"))):
            declare(draft, draft.round_id, field)


def row_of(draft: Draft, subject: str, field: str) -> dict[str, Any]:
    """Give the declared row of a subject and field, for a fault to change."""
    return next(
        row for row in draft.declared if isinstance(row, dict) and (row["subject"], row["field"]) == (subject, field)
    )


def count_declared(draft: Draft) -> None:
    """Add the native declared aggregates to the tally of the round."""
    rows = [row for row in draft.declared if isinstance(row, dict)]
    keys = [(row["subject"], row["field"]) for row in rows]
    if len(rows) < len(draft.declared):
        draft.tally.unverifiable = None  # a line nobody can read names no check, so none is promised a record
    for row, key in zip(rows, keys, strict=True):
        is_incomplete = bool(draft.endings.get(AUDIT_LOG)) and row["field"] not in OF_CHANGES
        difference = abs(Decimal(row["value"]) - Decimal(recompute(draft, *key)))
        if keys.count(key) > 1 or is_incomplete:
            draft.tally.unverifiable = (draft.tally.unverifiable or 0) + 1
        elif difference > epsilon(row["value"], row["data_type"]):
            draft.tally.mismatch += 1
        else:
            draft.tally.match += 1


def epsilon(declared: Decimal | int, data_type: str) -> Decimal:
    """Give the tolerance: 0 for a count; half of the last declared decimal, at most half a cent, for money."""
    if data_type == "integer":
        return Decimal(0)
    exponent = Decimal(declared).as_tuple().exponent
    digits = min(9, -exponent) if isinstance(exponent, int) and exponent < 0 else 0
    return min(HALF_A_CENT, Decimal(5).scaleb(-digits - 1))
