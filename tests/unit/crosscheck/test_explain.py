"""Every hypothesis the catalogue declares, on made-up parts: it holds for its own value and for no other."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from governance_pipeline.crosscheck.alternative import Rows
from governance_pipeline.crosscheck.catalogue import catalogue
from governance_pipeline.crosscheck.explain import Claim, Parts, Sister, attempt
from governance_pipeline.crosscheck.formula import ALL_ROWS
from governance_pipeline.crosscheck.rows import ComponentRow, Value
from governance_pipeline.strict.numbers import canonical
from governance_pipeline.vocabulary import ValueKind

SHIPPED = [(entry, found) for entry in catalogue().entries for found in entry.explanations]
EPSILON = Decimal("0.000001")
SIZE = 4
ENTRIES = {entry.check.id: entry.check for entry in catalogue().entries}


def number(value):
    return Value(ValueKind.NUMBER, str(value))


def made_up(*formulas, subject="s", offset=0):
    """Rows of every source the formulas read, each column another number; the last row repeats the first and has a 0."""
    columns = {}
    for column in (column for formula in formulas for column in formula.columns):
        columns.setdefault(column.source, set()).add(column.name)
    rows, files = [], {}
    for at, (source, names) in enumerate(sorted(columns.items())):
        for index in range(1, SIZE + at + 1):
            cells = {name: number(offset + 10 * index + 7 * place + at) for place, name in enumerate(sorted(names))}
            rows.append(ComponentRow(subject, source, index, cells))
            files[source, index] = f"file-{(index + 1) // 2}"
        rows.append(ComponentRow(subject, source, SIZE + at + 1, dict(rows[-SIZE - at].values)))
        rows.append(ComponentRow(subject, source, SIZE + at + 2, {name: number(0) for name in names}))
        files |= {(source, SIZE + at + 1): "file-9", (source, SIZE + at + 2): "file-9"}
    return Parts(rows, files)


def claim(value):
    return Claim(value, canonical(value), EPSILON)


@pytest.mark.parametrize(
    ("entry", "alternative"), SHIPPED, ids=lambda v: getattr(getattr(v, "check", v), "id", "")[:60]
)
def test_a_hypothesis_holds_for_its_own_value_and_for_no_other(entry, alternative):
    check = entry.check
    sister = None if alternative.until is None else ENTRIES[alternative.until]
    parts = made_up(check.formula, alternative.formula, *([sister.formula] if sister else []))
    more = {"pooled": [*parts.rows, *made_up(alternative.formula, subject="t", offset=5).rows]}
    first_two = _value_of_two_rows(alternative, sister or replace(check, formula=alternative.formula), parts)
    if sister is not None:
        more["sister"] = Sister(sister, claim(first_two))
    asked = claim(first_two) if alternative.rows in {Rows.PREFIX, Rows.SUFFIX} else claim(Decimal("123456.789"))
    value = attempt(alternative, check, asked, parts, **more).side.value
    assert value is not None
    assert ALL_ROWS not in str(value)
    if alternative.rounding is None:
        assert attempt(alternative, check, claim(value), parts, **more).holds is True
    beyond = claim(value + 2 * EPSILON + 10**6)
    assert attempt(alternative, check, beyond, parts, **more).holds is False


def _value_of_two_rows(alternative, check, parts):
    """What two rows at the end a hypothesis reads give; any number where it reads no such part."""
    rows = [row for row in parts.rows if row.source in check.formula.sources]
    if alternative.rows is Rows.SUFFIX:
        rows.reverse()
    if alternative.rows not in {Rows.PREFIX, Rows.SUFFIX}:
        return Decimal(1)
    whole = replace(alternative, formula=check.formula, rows=Rows.ALL, until=None)
    # Two numbers of different rows: the rows after the zero one come first when read from the end.
    return attempt(whole, check, claim(Decimal(1)), Parts(rows[:3], parts.files)).side.value
