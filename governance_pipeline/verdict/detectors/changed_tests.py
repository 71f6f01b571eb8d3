"""`test-deleted`, `test-disabled` and `assertion-removed`: the round leaves less tested than it found.

The facts are those of `core_change_facts`, set off against each other over the round (`change_rows`). Deleting a test
can be right, when what it tested goes too: the finding states what happened, and a person judges it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.rounds.paths import normal_form
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.change_rows import (
    TABLES,
    disabled_tests,
    lost_assertions,
    removed_tests,
)
from governance_pipeline.verdict.detector import Detector, Hit, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.verdict.round_view import RoundView

NAMED: Final = 5
"""Names of deleted tests a message gives; the factors have them all."""


def _deleted(view: RoundView) -> Iterator[Hit]:
    for path, rows in removed_tests(view).items():
        names = sorted({excerpt(row["subject"], 120) for row in rows})
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield Hit(
            (path, *sorted({row["subject"] for row in rows})),
            f"{len(names)} test{'s' * (len(names) > 1)} of {excerpt(path, 120)} no longer there: "
            f"{', '.join(names[:NAMED])}{more}",
            {"file": excerpt(path), "tests": names, "line_before": rows[0]["changed_line"]},
            place_of(rows[0]),
        )


def _disabled(view: RoundView) -> Iterator[Hit]:
    for row in disabled_tests(view):
        path = normal_form(row["file_path"])
        marker, name = excerpt(row["text_after"] or "", 120), excerpt(row["subject"], 120)
        yield Hit(
            (path, row["subject"]),
            f"{name} in {excerpt(path, 120)} is disabled: {marker}",
            {"file": excerpt(path), "test": name, "marker": marker, "line": row["changed_line"]},
            place_of(row),
        )


def _removed(view: RoundView) -> Iterator[Hit]:
    for lost in lost_assertions(view):
        row, path = lost.row, normal_form(lost.row["file_path"])
        name, first = excerpt(row["subject"], 120), excerpt(row["text_before"] or "", 120)
        yield Hit(
            (path, row["subject"]),
            f"{name} in {excerpt(path, 120)} asserts {lost.missing} thing{'s' * (lost.missing > 1)} less: {first}",
            {"file": excerpt(path), "test": name, "assertions": lost.missing, "first": first,
             "line": row["changed_line"]},
            place_of(row),
        )  # fmt: skip


_TEST: Final = {"file_path": "tests/test_a.py", "subject": "test_a"}
_ASSERTION: Final = {**_TEST, "kind": "assertions_changed", "text_before": "x == 1"}

DELETED: Final = Detector(
    code="test-deleted",
    rule="a test that was there before the round is gone after it, and no other test carries it on",
    reads=TABLES,
    detect=_deleted,
    fires_on={"core_change_facts": [{**_TEST, "kind": "test_removed", "removed_assertions": '["0123456789"]'}]},
    silent_on={
        "core_change_facts": [
            {**_TEST, "kind": "test_removed", "removed_assertions": '["0123456789"]'},
            {**_TEST, "file_path": "tests/test_b.py", "step_index": 2, "kind": "test_added",
             "added_assertions": '["0123456789"]'},
            {"file_path": "tests/test_c.py", "subject": "test_c", "step_index": 3, "kind": "test_added"},
            {"file_path": "tests/test_c.py", "subject": "test_c", "step_index": 4, "kind": "test_removed"},
        ]
    },
)  # fmt: skip
DISABLED: Final = Detector(
    code="test-disabled",
    rule="a test, a class of tests or a whole file of them that ran before the round is marked not to run after it",
    reads=TABLES,
    detect=_disabled,
    fires_on={"core_change_facts": [{**_TEST, "kind": "test_disabled", "text_after": "pytest.mark.skip"}]},
    silent_on={
        "core_change_facts": [
            {**_TEST, "kind": "test_disabled", "text_after": "pytest.mark.skip"},
            {**_TEST, "step_index": 2, "kind": "test_enabled", "text_before": "pytest.mark.skip"},
            {"file_path": "tests/test_b.py", "subject": "tests", "step_index": 3, "kind": "unjudged",
             "text_after": "only_part_shown"},
        ]
    },
)  # fmt: skip
REMOVED: Final = Detector(
    code="assertion-removed",
    rule="a test asserts less after the round than before it; what was rewritten, merged or moved counts as kept",
    reads=TABLES,
    detect=_removed,
    fires_on={"core_change_facts": [{**_ASSERTION, "removed_assertions": '["0123456789"]'}]},
    silent_on={
        "core_change_facts": [
            {**_ASSERTION, "removed_assertions": '["0123456789"]'},
            {**_ASSERTION, "subject": "test_b", "step_index": 2, "added_assertions": '["0123456789"]'},
            {**_ASSERTION, "subject": "test_c", "step_index": 3, "removed_assertions": '["1123456789"]'},
            {**_ASSERTION, "subject": "test_c", "step_index": 4, "added_assertions": '["2123456789"]'},
        ]
    },
)
