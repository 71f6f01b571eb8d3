"""An alternative recompute: one hypothesis about why a declared number differs, as the catalogue declares it.

What belongs here: what a hypothesis reads, and refusing one that cannot be meant. What does not: trying it
(`crosscheck.explain`). A hypothesis never reads what is declared; the one exception is the number of a sister check
named by `until`, which only says where a log may have ended. Source: spec/crosscheck.md §5b.

Members of one entry of `explanations` in a catalogue file:
    hypothesis: one of the closed list, without none_holds.
    reads: what it reads and would mean, one sentence.
    recompute: the other expression; ``{}`` stands for that of the check, which is also the default.
    components: the source whose rows ``count(*)`` counts, as in a check.
    rows: which component rows are read instead of all of them, one of `Rows`.
    without_zero: ``source.column``; rows of that source whose value is 0 are left out.
    until: check of the same subject; its declared number says after how many rows the log ended (prefix, suffix).
    subject: the hypothesis is about subjects whose id ends like this, such as one benchmark.
    rounding: how the value is rounded once more, one of `Rounding`; `decimals`: to how many (default: as declared).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.crosscheck.formula import parse_formula
from governance_pipeline.strict.numbers import DECIMAL_PLACES
from governance_pipeline.vocabulary import Hypothesis

if TYPE_CHECKING:
    from governance_pipeline.crosscheck.formula import Formula

OWN: Final = "{}"
"""Stands for the expression of the check itself."""

_REQUIRED: Final = frozenset({"hypothesis", "reads"})
_OPTIONAL: Final = frozenset(
    {"recompute", "components", "rows", "without_zero", "until", "subject", "rounding", "decimals"}
)


class Rows(StrEnum):
    """Component rows a hypothesis reads."""

    ALL = "all"
    PREFIX = "prefix"
    SUFFIX = "suffix"
    FIRST_FILE = "first_file"
    DISTINCT = "distinct"
    POOLED = "pooled"


class Rounding(StrEnum):
    """How a value may have been rounded."""

    DOWN = "down"
    UP = "up"
    HALF_UP = "half_up"
    HALF_EVEN = "half_even"


DECIMAL_ROUNDING: Final = {
    Rounding.DOWN: ROUND_FLOOR,
    Rounding.UP: ROUND_CEILING,
    Rounding.HALF_UP: ROUND_HALF_UP,
    Rounding.HALF_EVEN: ROUND_HALF_EVEN,
}
"""Rounding -> its name in the decimal module."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One hypothesis of one check; members as in the module's docstring, absent ones None."""

    hypothesis: Hypothesis
    reads: str
    formula: Formula
    rows: Rows = Rows.ALL
    without_zero: tuple[str, str] | None = None
    until: str | None = None
    subject: str | None = None
    rounding: Rounding | None = None
    decimals: int | None = None

    def is_about(self, subject_id: str | None) -> bool:
        """Tell whether the hypothesis applies to a subject."""
        return self.subject is None or (subject_id or "").endswith(self.subject)


def read_alternative(item: Mapping[str, Any], own: Formula, only_source: str | None) -> Alternative:
    """Read one entry of `explanations`.

    Args:
        item: the entry.
        own: expression of the check.
        only_source: its `components` member.

    Raises:
        ValueError: a member nobody reads, a missing or blank one, or one that cannot be meant together with another.
        FormulaRefused: the expression is not in the grammar.
    """
    if not isinstance(item, Mapping):
        raise ValueError(f"explanation {item!r} is no mapping; write hypothesis, reads and what differs")  # noqa: TRY004 - a fault of data
    unknown = sorted(set(item) - _REQUIRED - _OPTIONAL)
    blank = sorted(key for key in _REQUIRED | (_OPTIONAL & set(item)) if not str(item.get(key, "")).strip())
    if unknown or blank:
        raise ValueError(f"explanation: members nobody reads: {unknown}; missing or blank: {blank}")
    told = str(item.get("recompute", OWN))
    text = own.text if told == OWN else told.replace(OWN, f"({own.text})")
    read = Alternative(
        hypothesis=Hypothesis(item["hypothesis"]),
        reads=item["reads"],
        formula=parse_formula(text, only_source=item.get("components", only_source)),
        rows=Rows(item.get("rows", Rows.ALL)),
        without_zero=_column(item.get("without_zero")),
        until=item.get("until"),
        subject=item.get("subject"),
        rounding=Rounding(item["rounding"]) if "rounding" in item else None,
        decimals=item.get("decimals"),
    )
    _refuse_meaningless(read, own)
    return read


def _column(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    source, point, column = text.partition(".")
    if not point:
        raise ValueError(f"without_zero {text!r} names no source; write source.column")
    return source, column


def _refuse_meaningless(read: Alternative, own: Formula) -> None:
    is_part = read.rows in {Rows.PREFIX, Rows.SUFFIX}
    if read.hypothesis is Hypothesis.NONE_HOLDS:
        raise ValueError("none_holds is found, not declared")
    if read.until is not None and not is_part:
        raise ValueError("until goes with rows prefix or suffix only")
    if is_part and len(read.formula.sources) != 1:
        raise ValueError(f"rows {read.rows} needs an expression over one source: {read.formula.text}")
    if is_part and read.until is None and not any(read.formula.numeric_columns(s) for s in read.formula.sources):
        raise ValueError("a count of some of the rows meets any smaller number; name the check it ends with (until)")
    if read.decimals is not None and (read.rounding is None or not 0 <= int(read.decimals) <= DECIMAL_PLACES):
        raise ValueError(f"decimals {read.decimals!r} needs rounding, and lies within 0 … {DECIMAL_PLACES}")
    changes = (read.without_zero, read.rounding)
    if read.formula.text == own.text and read.rows is Rows.ALL and not any(changes):
        raise ValueError("it recomputes what the check does; change recompute, rows, without_zero or rounding")
