"""Trying one hypothesis on one mismatch: the other recompute, over the rows it reads, held against the declared number.

What belongs here: which rows are read, what they give, and whether that meets the declared number within the epsilon
of the record. What does not: what the catalogue declares (`crosscheck.alternative`) and the table (`explanations`).
Nothing here can reach a record: an attempt is a value of its own. Source: spec/crosscheck.md §5b.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.crosscheck.aggregate import Totals, component_number
from governance_pipeline.crosscheck.alternative import DECIMAL_ROUNDING, Rows
from governance_pipeline.crosscheck.evaluate import computed_side
from governance_pipeline.crosscheck.formula import ALL_ROWS
from governance_pipeline.crosscheck.rows import MISSING
from governance_pipeline.strict.comparison import Side, compare
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.numbers import EXACT, ZERO, declared_decimals
from governance_pipeline.vocabulary import RecordStatus, UnknownReason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from governance_pipeline.crosscheck.alternative import Alternative
    from governance_pipeline.crosscheck.check import Check
    from governance_pipeline.crosscheck.formula import Formula
    from governance_pipeline.crosscheck.rows import ComponentRow

_DECLARED_DECIMALS: Final = 9
"""Digits after the point that count as precision (spec/crosscheck.md §2)."""

_WIDE: Final = Context(prec=100)
"""Room for any number of the engine, which has 38 digits and 30 decimals, or is a binary64."""

_SUBJECT: Final = ""
"""Subject of the rows while they are added up; pooled rows come from several."""


class Claim(NamedTuple):
    """A declared number, its text as written, and the tolerance of its record."""

    declared: Decimal
    raw: str
    epsilon: Decimal


class Parts(NamedTuple):
    """Component rows a subject has, and the file of each by (source, index)."""

    rows: Sequence[ComponentRow]
    files: Mapping[tuple[str, int | None], str]


class Sister(NamedTuple):
    """The check `until` names, and what is declared for it; no claim where its record is a match over all rows."""

    check: Check
    claim: Claim | None


class Attempt(NamedTuple):
    """What one hypothesis gave; `holds` is None where the value is unknown."""

    rows_read: str
    side: Side
    delta: Decimal | None
    holds: bool | None


def attempt(
    alternative: Alternative,
    check: Check,
    claim: Claim,
    parts: Parts,
    *,
    pooled: Sequence[ComponentRow] = (),
    incomplete: frozenset[str] = frozenset(),
    sister: Sister | None = None,
) -> Attempt:
    """Try one hypothesis.

    Args:
        alternative: the hypothesis.
        check: check of the mismatch; gives data type and what no components mean.
        claim: the declared number.
        parts: components of its subject.
        pooled: components of every subject the same number is declared for.
        incomplete: component sources that hold a quarantined row.
        sister: what `until` names; None when it has no comparable record.
    """
    other = replace(check, formula=alternative.formula)
    rows, said, is_other = _chosen(alternative, parts, pooled, other)
    if alternative.rows in {Rows.PREFIX, Rows.SUFFIX}:
        return _tried_in_part(alternative, other, claim, rows, incomplete, sister)
    side = _rounded(_computed(other, rows, incomplete), alternative, claim)
    # A hypothesis about which rows count says nothing where they are the rows the check itself counts.
    return _judged(said, side, claim, check, may_hold=is_other)


def _tried_in_part(
    alternative: Alternative, other: Check, claim: Claim, rows: list[ComponentRow], incomplete: frozenset[str],
    sister: Sister | None,
) -> Attempt:  # fmt: skip
    """A log that was longer, or shorter, when the number was declared: where it ended is searched for."""
    if alternative.until is not None and sister is None:
        return Attempt("it is unknown where the log ended", Side(None, UnknownReason.DECLARED_MISSING), None, None)
    if alternative.rows is Rows.SUFFIX:
        rows.reverse()
    ends_with, ends_at = (other, claim) if sister is None else sister
    count, is_met = (len(rows), False) if ends_at is None else _end(ends_with, ends_at, rows)
    side = _rounded(_computed(other, rows[:count], incomplete), alternative, claim)
    word = "first" if alternative.rows is Rows.PREFIX else "last"
    return _judged(f"{word} {count} of {len(rows)} rows", side, claim, other, may_hold=is_met)


def _end(check: Check, claim: Claim, rows: Sequence[ComponentRow]) -> tuple[int, bool]:
    """The fewest rows that meet a declared number; else how many come nearest. Never all: those do not meet it.

    A declared 0 is met by no row at all, so it says nothing about where the log ended.
    """
    is_told = claim.declared.copy_abs() > claim.epsilon
    totals = Totals(check.formula, check.data_type)
    nearest: tuple[Decimal, int] | None = None
    for count, row in enumerate(rows[:-1], 1):
        totals.add(row._replace(subject=_SUBJECT, line=count))
        value = computed_side(check, totals.subjects.get(_SUBJECT), frozenset()).value
        if value is None:
            continue
        gap = EXACT.subtract(claim.declared, value).copy_abs()
        if gap <= claim.epsilon:
            return count, is_told
        nearest = (gap, count) if nearest is None or gap < nearest[0] else nearest
    return (len(rows) if nearest is None else nearest[1]), False


def _chosen(
    alternative: Alternative, parts: Parts, pooled: Sequence[ComponentRow], other: Check
) -> tuple[list[ComponentRow], str, bool]:
    """The rows a hypothesis reads, how they are named to a person, and whether its choice of rows changes any."""
    named = other.formula.sources
    own, where = [row for row in parts.rows if row.source in named], ""
    rows = own
    if alternative.rows is Rows.POOLED:
        rows, where = [row for row in pooled if row.source in named], " of all subjects it is declared for"
    elif alternative.rows is Rows.FIRST_FILE and rows:
        first = min(parts.files[row.source, row.line] for row in rows)
        rows, where = (
            [row for row in rows if parts.files[row.source, row.line] == first],
            f" (those of {excerpt(first)})",
        )
    elif alternative.rows is Rows.DISTINCT:
        rows, where = _distinct(rows, other.formula), " (repeated ones once)"
    if alternative.without_zero is not None:
        rows = [row for row in rows if not _is_zero(row, alternative.without_zero, other)]
        where += " (without those of 0)"
    chooses = alternative.rows is not Rows.ALL or alternative.without_zero is not None
    said = f"{len(rows)} of {len(own)} rows" if len(rows) < len(own) else f"all {len(rows)} rows"
    return rows, said + where, not chooses or len(rows) != len(own)


def _distinct(rows: Sequence[ComponentRow], formula: Formula) -> list[ComponentRow]:
    named = {s: [c.name for c in formula.columns if c.source == s and c.name != ALL_ROWS] for s in formula.sources}
    kept: dict[tuple[str | None, ...], ComponentRow] = {}
    for row in rows:
        names = named[row.source] or sorted(row.values)
        kept.setdefault((row.source, *(row.values.get(name, MISSING).raw for name in names)), row)
    return list(kept.values())


def _is_zero(row: ComponentRow, place: tuple[str, str], check: Check) -> bool:
    source, column = place
    return row.source == source and component_number(row.values.get(column, MISSING), check.data_type) == ZERO


def _computed(check: Check, rows: Sequence[ComponentRow], incomplete: frozenset[str]) -> Side:
    totals = Totals(check.formula, check.data_type)
    for index, row in enumerate(sorted(rows, key=lambda row: row.source), 1):
        totals.add(row._replace(subject=_SUBJECT, line=index))
    return computed_side(check, totals.subjects.get(_SUBJECT), incomplete)


def _rounded(side: Side, alternative: Alternative, claim: Claim) -> Side:
    if side.value is None or alternative.rounding is None:
        return side
    places = alternative.decimals
    if places is None:
        places = declared_decimals(claim.raw, _DECLARED_DECIMALS)
    step = Decimal(1).scaleb(-places)
    return Side(side.value.quantize(step, rounding=DECIMAL_ROUNDING[alternative.rounding], context=_WIDE))


def _judged(rows_read: str, side: Side, claim: Claim, check: Check, *, may_hold: bool) -> Attempt:
    found = compare(Side(claim.declared), side, claim.epsilon, check.data_type)
    is_known = found.status is not RecordStatus.UNVERIFIABLE
    holds = may_hold and found.status is RecordStatus.MATCH if is_known else None
    return Attempt(rows_read, Side(side.value, found.reason), found.delta, holds)
