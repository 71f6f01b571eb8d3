"""The page a person sees for one case: one record of declared against computed, with everything there is to judge it.

What belongs here: the facts in their order, as text, for a terminal and for an HTML file alike, and the one line that
says what was tried to explain a mismatch. What does not: escaping for a screen (whoever prints), colours, and any
judgement. Both values stand side by side and none is ever shown as right. Source: spec/crosscheck.md §5b and §8.

A record is an item of `cross_checks` of `govern/audit/v1`, an explanation an item of its `explanations`, and a meaning
an item of its `meanings` (None: the check is not in the catalogue). A standing is where the case stands by the
ledger, as `gate.cases.standing_facts` gives it (None: there is no ledger, or nobody can tell).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pandas as pd

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.report.texts import words
from governance_pipeline.vocabulary import Hypothesis

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Row = Mapping[str, Any]

UNSURE: Final = frozenset({"assumed", "to_be_confirmed"})
"""Evidence every page of a record must name: what the declared number means is not established."""

_LABEL_WIDTH: Final = 14
_RESOLVED: Final = "resolved"
_WEEK, _MONTH, _TWO_WEEKS, _TWO_MONTHS = 7, 30, 14, 60  # days
_CASE_COLUMNS: Final = ("field", "subject_id", "delta", "epsilon", "epsilon_reason", "formula", "where")
_MARKS: Final = {True: "holds", False: "holds_not", None: "holds_unknown"}


class Fact(NamedTuple):
    """One line of a page: its label, what it says, what stands beside it in small print; a warning is set apart."""

    label: str
    text: str
    note: str = ""
    is_warning: bool = False


class CasePage(NamedTuple):
    """The page of one case: its facts, and a fact for each explanation tried (none for an unverifiable record)."""

    facts: tuple[Fact, ...]
    tried: tuple[Fact, ...]


def case_page(
    record: Row,
    explanations: Iterable[Row],
    meaning: Row | None,
    texts: Mapping[str, str],
    standing: Row | None = None,
) -> CasePage:
    """Return the page of one record; `explanations` are those of this record, `texts` the words of a language."""
    unit = f" {record['unit']}" if record["unit"] else ""
    pointer = record["declared_pointer"]
    line = f":{pointer['line']}" if pointer["line"] else ""
    facts = [
        Fact(texts["declared"], _known(record["declared"], texts) + unit, f"({_known(record['declared_raw'], texts)})"),
        Fact(texts["computed"], _known(record["computed"], texts) + unit),
        Fact(texts["delta"], _known(record["delta"], texts)),
        Fact(texts["epsilon"], _known(record["epsilon"], texts), record["epsilon_reason"]),
        Fact(texts["formula"], record["formula"], f"{record['components_count']} {texts['components']}"),
        Fact(texts["where"], f"{record['declared_path']}{line} {pointer['pointer']}", f"sha256 {pointer['file']}"),
        _evidence(meaning, texts),
        Fact(texts["owner"], record["escalate_to"]),
    ]
    if record["reason_code"] is not None:
        facts.insert(2, Fact(texts["reason"], record["reason_code"]))
    if standing is not None:
        facts += _standing(standing, texts)
    return CasePage(tuple(facts), tuple(_tried(row, texts) for row in explanations))


def age_words(age_days: int | None, texts: Mapping[str, str]) -> str:
    """Return how long a case has waited, in whole days, with weeks or months beside them where they say more."""
    if age_days is None:
        return texts["not_opened"]
    if age_days <= 1:
        return texts["one_day" if age_days else "under_a_day"]
    if age_days < _TWO_WEEKS:
        return texts["days"].format(n=age_days)
    name, length = ("weeks", _WEEK) if age_days < _TWO_MONTHS else ("months", _MONTH)
    return texts[name].format(n=age_days, m=age_days // length)


def standing_words(standing: Row, texts: Mapping[str, str]) -> str:
    """Return state and age of a case in one phrase."""
    late = f", {texts['overdue']}" if standing["is_overdue"] else ""
    return f"{texts[standing['state']]}, {age_words(standing['age_days'], texts)}{late}"


def page_lines(page: CasePage, texts: Mapping[str, str]) -> list[str]:
    """Return a page as lines of text; whoever prints them escapes them."""
    lines = [_line(fact.label, fact) for fact in page.facts]
    if page.tried:
        lines.append(f"  {texts['tried']}:")
        lines += [f"    {fact.label:<18} {fact.text}{_beside(fact)}" for fact in page.tried]
        lines.append(f"    {texts['no_excuse']}")
    return lines


def explained_line(explanations: Sequence[Row], texts: Mapping[str, str]) -> str:
    """Return what was tried on one mismatch in one line: what holds first, else that nothing does; empty for none."""
    tried = [row for row in explanations if row["hypothesis"] != Hypothesis.NONE_HOLDS]
    held = [row for row in tried if row["holds"] is True]
    if held:
        names = ", ".join(f"{row['hypothesis']} ({row['value']})" for row in held)
        return f"{texts['holds']}: {names}; {texts['of_tried'].format(n=len(tried))}"
    if not explanations:
        return ""
    names = ", ".join(dict.fromkeys(str(row["hypothesis"]) for row in tried))
    return f"{texts['none_holds']}; {texts['of_tried'].format(n=len(tried))}{f': {names}' if names else ''}"


def by_record(explanations: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    """Group explanations by round and record, in their order."""
    grouped: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in explanations:
        grouped[row["round_id"], row["record_id"]].append(row)
    return grouped


def case_rows(cases: pd.DataFrame, checks: pd.DataFrame, explanations: pd.DataFrame) -> pd.DataFrame:
    """Return one row per case, for a list of cases: what its page says, in columns of text.

    Args:
        cases: rows of `audit_escalations`, of one round.
        checks: `audit_cross_checks` of that round.
        explanations: `audit_explanations` of that round.
    """
    texts = words("en")
    tried = by_record(plain_rows(explanations))
    records = {row["record_id"]: row for row in plain_rows(checks)}
    rows = [
        {
            **case,
            **_columns(records[case["record_id"]]),
            "explanations": explained_line(tried.get((case["round_id"], case["record_id"]), []), texts),
        }
        for case in plain_rows(cases)
    ]
    return pd.DataFrame(rows, columns=[*cases.columns, *_CASE_COLUMNS, "explanations"])


def _columns(record: Row) -> dict[str, Any]:
    line = f":{record['declared_line']}" if record["declared_line"] else ""
    where = f"{record['declared_path']}{line} {record['declared_pointer']}"
    return {**{name: record[name] for name in _CASE_COLUMNS[:-1]}, "where": where}


def _standing(standing: Row, texts: Mapping[str, str]) -> list[Fact]:
    is_late = bool(standing["is_overdue"])
    facts = [
        Fact(texts["case"], standing["case_id"]),
        Fact(texts["state"], standing_words(standing, texts), is_warning=is_late),
    ]
    if standing["state"] == _RESOLVED and standing["owner"] is None:
        return facts  # whoever resolved it needed nobody to hold it
    return [*facts, Fact(texts["held_by"], standing["owner"] or texts["nobody"])]


def _evidence(meaning: Row | None, texts: Mapping[str, str]) -> Fact:
    if meaning is None:
        return Fact(texts["evidence"], texts["no_meaning"])
    is_unsure = meaning["evidence"] in UNSURE
    said = f"{meaning['evidence']} ({texts['unsure']})" if is_unsure else meaning["evidence"]
    return Fact(texts["evidence"], said, meaning["semantics"], is_warning=is_unsure)


def _tried(row: Row, texts: Mapping[str, str]) -> Fact:
    if row["hypothesis"] == Hypothesis.NONE_HOLDS:
        return Fact(str(row["hypothesis"]), row["reads"], is_warning=True)
    why = f" ({row['reason_code']})" if row["reason_code"] else ""
    value = f"{_known(row['value'], texts)}{why}, {texts[_MARKS[row['holds']]]}"
    return Fact(str(row["hypothesis"]), value, f"{row['reads']}: {row['formula']}, {row['rows_read']}")


def _line(label: str, fact: Fact) -> str:
    return f"  {label:<{_LABEL_WIDTH}} {fact.text}{_beside(fact)}"


def _beside(fact: Fact) -> str:
    return f"  {fact.note}" if fact.note else ""


def _known(value: object, texts: Mapping[str, str]) -> str:
    return texts["nobody_knows"] if value is None else str(value)
