"""Rows of `audit_cross_checks`: the numbers change events carry, recomputed from the files they list.

What belongs here: records in the shape of that table, with ids, formula and component digests by the same rule as
every other record (spec/crosscheck.md §3 and §12). What does not: which numbers are compared, and how (`comparisons`).
A record changes nothing: the event's own numbers stay in the features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.rounds.change_checks import CHANGE_CHECKS
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.numbers import canonical
from governance_pipeline.trajectory.comparisons import compared
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.reading import READING_TABLES, read_surface

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    import pandas as pd

    from governance_pipeline.rounds.change_checks import ChangeCheck
    from governance_pipeline.trajectory.comparisons import Compared
    from governance_pipeline.trajectory.event_rows import Tables
    from governance_pipeline.trajectory.events import Event
    from governance_pipeline.trajectory.reading import Surface

TABLE: Final = "audit_cross_checks"

CROSS_CHECK_TABLES: Final = READING_TABLES
"""Tables `surface_cross_checks` reads."""


def surface_cross_checks(tables: Tables) -> pd.DataFrame:
    """Return one row per number an event carries beside its files; columns as contract `audit_cross_checks`.

    Match and mismatch rows both. Unverifiable where a file's lines are unknown (`component_missing_value`) and where
    different events claim one step (`duplicate_subject`). Ordered by round, check, subject and line.

    Args:
        tables: the frames named by `CROSS_CHECK_TABLES`, of the same rounds, of any number of them.

    Raises:
        UsageError: an event belongs to a round that `core_rounds` does not have.
    """
    surface = read_surface(tables)
    parts = _listed_by_event(surface)
    rows = [row for step in surface.events.steps for at in step.events for row in _rows(surface, at, parts, step.event)]
    return frame_of(TABLE, sorted(rows, key=_order))


def _rows(
    surface: Surface, position: int, parts: Mapping[int, list[dict[str, Any]]], chosen: int | None
) -> Iterator[dict[str, Any]]:
    event, count = surface.events.events[position], surface.counts[position]
    rules = surface.rules[event.round_id]
    for one in compared(event, count, rules, is_contested=chosen is None):
        yield _record(event, one, parts.get(position, []))


def _record(event: Event, one: Compared, files: list[dict[str, Any]]) -> dict[str, Any]:
    check, subject, pointer = CHANGE_CHECKS[one.field], f"step-{event.step}", f"/{one.field}"
    digest = sha256_hex(check.formula.encode())
    place = [event.file_sha256, event.line, pointer]
    return {
        "round_id": event.round_id,
        "record_id": sha256_hex(canonical_json([check.check_id, digest, subject, *place])),
        "check_id": check.check_id,
        "subject_id": subject,
        "field": one.field,
        "data_type": one.data_type,
        "unit": check.unit,
        "declared": _shown(one.declared.value),
        "declared_raw": str(getattr(event.declared, one.field)),
        "computed": _shown(one.computed.value),
        "delta": _shown(one.result.delta),
        "epsilon": _shown(one.result.epsilon),
        "epsilon_reason": check.epsilon_reason,
        "status": one.result.status,
        "mismatch": one.result.mismatch,
        "action": one.result.action,
        "reason_code": one.result.reason,
        "overwritten": False,
        "formula": check.formula,
        "formula_digest": digest,
        "components_count": len(files),
        "components_digest": _components_digest(event, check, files),
        "declared_file_sha256": event.file_sha256,
        "declared_path": event.path,
        "declared_line": event.line,
        "declared_pointer": pointer,
        "escalate_to": check.escalate_to,
    }


def _listed_by_event(surface: Surface) -> dict[int, list[dict[str, Any]]]:
    """File rows of the events that carry numbers, in the order listed; raw text of each column."""
    wanted = [at for at, event in enumerate(surface.events.events) if any(n is not None for n in event.declared)]
    listed = surface.events.listed
    parts: dict[int, list[dict[str, Any]]] = {}
    for row in rows_of(listed[listed["event"].isin(wanted)]):
        added, deleted = row["added_count"], row["deleted_count"]
        parts.setdefault(row["event"], []).append(
            {
                "path": row["file_path"],
                "added": None if added is None else str(added),
                "deleted": None if deleted is None else str(deleted),
                "module": row["module"],
            }
        )
    return parts


def _components_digest(event: Event, check: ChangeCheck, files: list[dict[str, Any]]) -> str | None:
    if not files:
        return None
    lines = [canonical_json(["files", event.line, *(row[name] for name in check.columns)]) for row in files]
    return sha256_hex(b"\n".join(lines))


def _shown(value: Decimal | None) -> str | None:
    return None if value is None else canonical(value)


def _order(row: Mapping[str, Any]) -> tuple[str, str, str, int]:
    return row["round_id"], row["check_id"], row["subject_id"], row["declared_line"] or 0
