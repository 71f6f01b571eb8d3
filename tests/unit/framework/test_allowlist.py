"""The allow-list: rows that cannot be checked make the file useless, expired ones allow nothing and are named."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from governance_pipeline.errors import FaultyFileError
from governance_pipeline.framework.allowlist import Standing, allowlist_of
from governance_pipeline.framework.allowlist_tables import HEADINGS, STANDING, TEMPORARY

NIGHT = datetime(2026, 12, 1, 2, tzinfo=UTC)


def _table(columns, rows, lang="en"):
    names = HEADINGS[lang][columns]
    lines = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)


def _text(standing=(), temporary=(), lang="en"):
    return f"# list\n\nprose\n\n{_table(STANDING, standing, lang)}\n\nmore | prose\n\n{_table(TEMPORARY, temporary, lang)}\n"


def _faults(text):
    with pytest.raises(FaultyFileError) as caught:
        allowlist_of(text)
    return [(fault.code, fault.line) for fault in caught.value.faults]


def _extension(start="2026-11-30", end="2026-12-01", scope="night"):
    return ("worker", "run_batch", scope, start, end, "an unattended night")


@pytest.mark.parametrize(
    "row",
    [
        ("", "run_tests", "*", "why"),
        ("worker", "Run Tests!", "*", "why"),
        ("worker", "run_tests", "", "why"),
        ("worker", "run_tests", "*", ""),
    ],
)
def test_a_row_that_cannot_be_checked_makes_the_whole_list_unusable(row):
    assert _faults(_text(standing=[row])) == [("unusable_row", 7)]


@pytest.mark.parametrize("end", ["", "when the run is done", "2026-13-40", "tomorrow", "`../outside.json`", "`/etc/x`"])
def test_an_extension_without_an_end_a_program_can_check_is_refused(end):
    assert _faults(_text(temporary=[_extension(end=end)])) == [("unusable_row", 12)]


def test_an_extension_that_ends_before_it_starts_is_refused():
    assert _faults(_text(temporary=[_extension(start="2026-12-02", end="2026-12-01")])) == [("unusable_row", 12)]


@pytest.mark.parametrize("times", [{"start": "9999-12-31"}, {"end": "9999-12-31"}, {"start": "0000-01-01"}])
def test_a_day_at_the_edge_of_the_calendar_is_a_fault_of_its_row_and_no_crash(times):
    assert _faults(_text(temporary=[_extension(**times)])) == [("unusable_row", 12)]


@pytest.mark.parametrize("name", ["n" * 300, "a\0b", "link.json"], ids=["too long", "NUL", "dangling link"])
def test_a_closing_path_nobody_can_look_at_closes_the_extension(tmp_path, name):
    (tmp_path / "link.json").symlink_to("nowhere")
    (row,) = allowlist_of(_text(temporary=[_extension(start="2026-12-01", end=f"`{name}`")])).rows
    assert row.standing(NIGHT, tmp_path) is Standing.CLOSED


def test_a_missing_table_is_a_fault_and_so_is_a_second_one():
    assert _faults(_table(STANDING, [])) == [("no_table", None)]
    assert _faults(_text() + "\n" + _table(STANDING, [])) == [("table_twice", 13)]


def test_every_fault_is_named_with_its_line():
    text = _text(standing=[("worker", "x", "*"), ("", "y", "*", "why")], temporary=[_extension(end="later")])
    assert _faults(text) == [("wrong_cells", 7), ("unusable_row", 8), ("unusable_row", 14)]


def test_a_table_inside_a_fence_is_an_example_and_allows_nothing():
    text = _text() + "\n```\n" + _table(STANDING, [("worker", "drop", "*", "why")]) + "\n```\n"
    assert allowlist_of(text).rows == ()


@pytest.mark.parametrize("lang", HEADINGS)
def test_both_languages_give_the_same_rows(lang):
    rows = allowlist_of(_text([("worker", "run_tests", "`src/**`", "they are \\| safe")], [_extension()], lang)).rows
    assert [(r.agent, r.action, r.scope, r.why, r.is_temporary) for r in rows] == [
        ("worker", "run_tests", "src/**", "they are | safe", False),
        ("worker", "run_batch", "night", "an unattended night", True),
    ]


@pytest.mark.parametrize(
    ("start", "end", "at", "standing"),
    [
        ("2026-11-30", "2026-12-01", NIGHT, Standing.ACTIVE),  # a day counts until it is over
        ("2026-11-30", "2026-11-30", NIGHT, Standing.EXPIRED),
        ("2026-12-01T01:00:00Z", "2026-12-01T02:00:00Z", NIGHT, Standing.EXPIRED),
        ("2026-12-01T01:00:00Z", "2026-12-01T02:00:01Z", NIGHT, Standing.ACTIVE),
        ("2026-12-02", "2026-12-03", NIGHT, Standing.NOT_STARTED),
    ],
)
def test_an_extension_counts_inside_its_window_only(tmp_path, start, end, at, standing):
    (row,) = allowlist_of(_text(temporary=[_extension(start, end)])).rows
    assert row.standing(at, tmp_path) is standing


@pytest.mark.parametrize("end", ["until `03_state/checkpoints/NIGHT_COMPLETED.json` exists", "2026-12-31 or `03_state/checkpoints/NIGHT_COMPLETED.json`"])  # fmt: skip
def test_a_closing_condition_is_met_when_its_file_exists(tmp_path, end):
    allowed = allowlist_of(_text(temporary=[_extension(end=end)]))
    assert [row.agent for row in allowed.active(NIGHT, tmp_path)] == ["worker"]
    marker = tmp_path / "03_state" / "checkpoints" / "NIGHT_COMPLETED.json"
    marker.parent.mkdir(parents=True)
    marker.write_text("{}")
    assert allowed.active(NIGHT, tmp_path) == []
    assert [standing for _, standing in allowed.inactive(NIGHT, tmp_path)] == [Standing.CLOSED]


def test_a_scope_is_exact_unless_it_says_below_or_everything():
    exact, below, everything = allowlist_of(
        _text([("a", "edit", "src/x.py", "w"), ("a", "edit", "docs/**", "w"), ("*", "read_file", "*", "w")])
    ).rows
    assert exact.covers("a", "edit", "src/x.py")
    assert not exact.covers("a", "edit", "src/x.pyc")
    assert not exact.covers("a", "edit", None)
    assert not exact.covers("b", "edit", "src/x.py")
    assert below.covers("a", "edit", "docs/deep/page.md")
    assert not below.covers("a", "edit", "docs")
    assert not below.covers("a", "edit", "docs-old/page.md")
    assert not below.covers("a", "edit", "docs/../src/x.py")
    assert everything.covers("anybody", "read_file", None)
    assert not everything.covers("anybody", "edit", None)
