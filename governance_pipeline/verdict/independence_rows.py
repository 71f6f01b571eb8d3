"""The rows of `audit_independence`, one attestation at a time.

What belongs here: what several rows about one attestation say together. What does not: judging independence (trust).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.verdict.detector import Place

if TYPE_CHECKING:
    from governance_pipeline.verdict.round_view import RoundView


class Attestation(NamedTuple):
    """One validator attestation of a round.

    Attributes:
        validator_id: who attests; None when it does not say.
        is_independent: of every producer; False when it is not of one of them, None when that cannot be decided.
        rule: the first rule that failed, or why nothing could be decided; None when it is independent.
        place: the line of attestations.jsonl.
        rows: its rows of `audit_independence`.
    """

    validator_id: str | None
    is_independent: bool | None
    rule: str | None
    place: Place
    rows: list[dict[str, Any]]


def attestations(view: RoundView) -> list[Attestation]:
    """List the attestations of a round, in the order of their lines."""
    grouped: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in view.rows("audit_independence"):
        grouped.setdefault((row["path"], row["line"] or 0), []).append(row)
    return [_attestation(rows) for _, rows in sorted(grouped.items())]


def _attestation(rows: list[dict[str, Any]]) -> Attestation:
    values = [row["is_independent"] for row in rows]
    decisive: bool | None = False if False in values else None if None in values else True
    row = next(row for row in rows if row["is_independent"] is decisive)
    place = Place(row["path"], row["file_sha256"], row["line"], row["pointer"])
    return Attestation(row["validator_id"], decisive, row["rule"], place, rows)
