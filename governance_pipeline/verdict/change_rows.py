"""What the changes of a round come to: the facts of its steps, set off against each other.

What belongs here: the sums over the steps of a round. What does not: the facts of one change (ingest) and what is a
finding (detectors). A round is judged by where it ends: what went away and came back, in the same place or in another,
is not gone; what the round itself brought, it may take away again. A test that goes while one of a like name comes is
renamed, wherever that one stands.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.rounds.paths import normal_form
from governance_pipeline.strict.name_words import alike
from governance_pipeline.verdict.shell_touches import is_touched_by_shell
from governance_pipeline.vocabulary import FactKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.verdict.round_view import RoundView

    Row = dict[str, Any]

TABLE: Final = "core_change_facts"
TABLES: Final = (TABLE, "core_steps")
"""What a detector of changes reads: the facts, and the shell commands that may have undone them."""

NATIVE: Final = "native"
CARRIED_SHARE: Final = 0.5
"""Share of its assertions by which a test that went away is known again elsewhere: that of `strict.name_words`."""


class LostAssertions(NamedTuple):
    """A test that asserts less than before: the change that took most away, and how many assertions are gone."""

    row: Row
    missing: int


def facts_of(view: RoundView, *kinds: FactKind) -> list[Row]:
    """Rows of some kinds of facts, in stored order: by run, step and change."""
    return [row for kind in kinds for row in view.once(_by_kind).get(kind, ())]


def in_order(view: RoundView) -> list[Row]:
    """Rows of facts by run, step and change; those of change events left out, which show no content."""
    return view.once(_in_order)


def removed_tests(view: RoundView) -> dict[str, list[Row]]:
    """File -> facts of its tests that are gone at the end of the round, by name."""
    return view.once(_removed_tests)


def disabled_tests(view: RoundView) -> list[Row]:
    """Facts of the tests that are disabled at the end of the round and were not before it."""
    state: dict[tuple[str, str], list[Row]] = {}
    for row in view.once(_in_order):
        if row["kind"] in (FactKind.TEST_DISABLED, FactKind.TEST_ENABLED):
            state.setdefault((normal_form(row["file_path"]), row["subject"]), []).append(row)
    gone = {(path, row["subject"]) for path, rows in removed_tests(view).items() for row in rows}
    born = Counter(row["subject"] for row in facts_of(view, FactKind.TEST_ADDED))
    lost = Counter(row["subject"] for row in facts_of(view, FactKind.TEST_REMOVED))
    return [
        rows[-1]
        for key, rows in state.items()
        if rows[0]["kind"] == rows[-1]["kind"] == FactKind.TEST_DISABLED
        and key not in gone
        and born[key[1]] <= lost[key[1]]
        and not is_touched_by_shell(view, rows[-1])
    ]


def lost_assertions(view: RoundView) -> list[LostAssertions]:
    """Tests that are still there and assert less than before the round."""
    gone = {(path, row["subject"]) for path, rows in removed_tests(view).items() for row in rows}
    tests = view.once(_assertions)
    came = Counter(digest for test in tests.values() for digest in (test.added - test.removed).elements())
    lost = []
    for key, test in tests.items():
        missing, surplus = test.removed - test.added, test.added - test.removed
        elsewhere = came - surplus
        missing = Counter({digest: count for digest, count in missing.items() if elsewhere[digest] < count})
        count = missing.total() - surplus.total()
        if count > 0 and key not in gone and test.rows and not is_touched_by_shell(view, test.rows[-1]):
            lost.append(LostAssertions(max(test.rows, key=lambda row: len(_digests(row, "removed"))), count))
    return lost


class _Test:
    """Assertions of one test over the round: every one that went and every one that came."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.removed: Counter[str] = Counter()
        self.added: Counter[str] = Counter()


def _assertions(view: RoundView) -> dict[tuple[str, str], _Test]:
    tests: dict[tuple[str, str], _Test] = {}
    for row in view.once(_in_order):
        if row["kind"] not in (FactKind.ASSERTIONS_CHANGED, FactKind.TEST_ADDED):
            continue
        test = tests.setdefault((normal_form(row["file_path"]), row["subject"]), _Test())
        test.removed.update(_digests(row, "removed"))
        test.added.update(_digests(row, "added"))
        if row["kind"] == FactKind.ASSERTIONS_CHANGED and row["removed_assertions"]:
            test.rows.append(row)
    return tests


def _removed_tests(view: RoundView) -> dict[str, list[Row]]:
    added = Counter(_bare(row["subject"]) for row in facts_of(view, FactKind.TEST_ADDED))
    came = {
        digest
        for row in facts_of(view, FactKind.TEST_ADDED, FactKind.ASSERTIONS_CHANGED)
        for digest in _digests(row, "added")
    }
    removed: dict[tuple[str, str], list[Row]] = {}
    for row in facts_of(view, FactKind.TEST_REMOVED):
        removed.setdefault((normal_form(row["file_path"]), row["subject"]), []).append(row)
    found: dict[str, list[Row]] = {}
    for (path, name), rows in sorted(removed.items()):
        digests = _digests(rows[-1], "removed")
        is_carried = digests and sum(digest in came for digest in digests) / len(digests) >= CARRIED_SHARE
        is_carried = is_carried or any(alike(_bare(name), other) for other in added)
        if len(rows) > added[_bare(name)] and not is_carried and not is_touched_by_shell(view, rows[-1]):
            found.setdefault(path, []).append(rows[-1])
    return found


def _by_kind(view: RoundView) -> dict[str, list[Row]]:
    kinds: dict[str, list[Row]] = {}
    for row in view.once(_in_order):
        kinds.setdefault(row["kind"], []).append(row)
    return kinds


def _in_order(view: RoundView) -> list[Row]:
    rows = view.rows(TABLE)
    runs = {run_id: at for at, run_id in enumerate(dict.fromkeys(row["run_id"] for row in rows))}
    return sorted(
        (row for row in rows if row["origin"] != NATIVE),
        key=lambda row: (runs[row["run_id"]], row["step_index"] or 0, row["change_index"], row["fact_index"]),
    )


def unjudged(view: RoundView) -> Iterator[tuple[str, str]]:
    """Give each question that stayed open and why: (aspect, reason), in the order of their names.

    Change events show no content; where a log shows the same work they leave nothing open.
    """
    rows = view.rows(TABLE)
    shown = [row for row in rows if row["origin"] != NATIVE] or rows
    open_ = {(row["subject"], row["text_after"] or "") for row in shown if row["kind"] == FactKind.UNJUDGED}
    yield from sorted(open_)


def _digests(row: Row, which: str) -> list[str]:
    given = row[f"{which}_assertions"]
    digests: list[str] = [] if given is None else json.loads(given)
    return digests


def _bare(name: str) -> str:
    return name.rpartition(" > ")[2].rpartition("::")[2].rpartition(".")[2]
