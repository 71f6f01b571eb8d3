"""Which lines and edits are one event, and which event a step has."""

from __future__ import annotations

import pytest

from governance_pipeline.trajectory.event_rows import Origin
from governance_pipeline.trajectory.events import Declared, quarantined_lines, read_events

AUDIT = {"timestamp": "2026-01-01T00:00:00Z", "agent_id": "a", "run_id": "run-1", "input_hash": "", "tool_called": "t",
         "output_result": "", "output_hash": "", "token_cost": 0, "self_reported_status": "ok",
         "independently_verified": False, "verification_method": None}  # fmt: skip


def edit(uuid: str, path: str, at: str, *, session: str = "s-1", error: bool = False) -> list[dict]:
    """Two lines of a Claude Code session: a Write call and its result."""
    call = {"type": "tool_use", "id": uuid, "name": "Write", "input": {"file_path": path, "content": "a\nb\n"}}
    outcome = {
        "type": "tool_result",
        "tool_use_id": uuid,
        "content": "File created successfully at: x",
        "is_error": error,
    }
    shared = {"sessionId": session, "timestamp": at, "version": "2.0.0"}
    message = {"id": f"m-{uuid}", "role": "assistant", "model": "m", "content": [call], "usage": {}}
    return [
        {**shared, "type": "assistant", "uuid": f"a-{uuid}", "message": message},
        {**shared, "type": "user", "uuid": f"u-{uuid}", "message": {"role": "user", "content": [outcome]},
         "toolUseResult": {"type": "create", "filePath": path, "content": "a\nb\n", "structuredPatch": []}},
    ]  # fmt: skip


def session(*edits: list[dict]) -> list[dict]:
    return [line for pair in edits for line in pair]


def test_byte_identical_lines_are_one_event_and_their_lines_are_counted(one_round, file):
    line = {"step": 1, "files": [file("a")]}
    events = read_events(one_round([line, line, {"step": 2, "F": 0}]))
    assert [(s.number, s.event, s.lines) for s in events.steps] == [(1, 0, 2), (2, 1, 1)]
    assert list(events.listed["event"]) == [0]


def test_a_step_that_different_lines_give_has_no_event(one_round, file):
    lines = [{"step": 1, "files": [file("a")]}, {"step": 1, "files": [file("a", 2)]}]
    events = read_events(one_round(lines))
    assert [(s.number, s.event, s.events, s.lines) for s in events.steps] == [(1, None, [0, 1], 2)]
    assert list(events.listed["added_count"]) == [1, 2]


def test_files_belong_to_the_line_that_lists_them_whatever_run_it_names(one_round, file):
    lines = [{"step": 2, "run_id": "x", "files": [file("b"), file("c")]}, {"step": 1, "files": [file("a")]}]
    events = read_events(one_round(lines))
    assert [(e.step, e.run_id, e.line) for e in events.events] == [(1, None, 2), (2, "x", 1)]
    assert list(zip(events.listed["event"], events.listed["file_path"], strict=True)) == [(0, "a"), (1, "b"), (1, "c")]


def test_numbers_are_kept_as_declared_and_absent_ones_stay_absent(one_round):
    events = read_events(one_round([{"step": 1, "F": 2, "H": 0.5}, {"step": 2, "files": []}]))
    assert [e.declared for e in events.events] == [Declared(F=2, H="0.5"), Declared()]
    assert [e.has_files for e in events.events] == [False, True]


def test_edits_in_logs_are_steps_from_1_in_the_order_of_run_and_step(one_round):
    lines = session(edit("t1", "src/b.py", "2026-01-01T00:00:02Z"), edit("t2", "src/a.py", "2026-01-01T00:00:01Z"))
    events = read_events(one_round(None, **{"logs/s-1__jsonl": lines}))
    found = [(e.step, e.origin, e.run_step, e.line, e.has_files, e.at.second) for e in events.events]
    assert found == [(1, Origin.LOG, 1, 1, True, 2), (2, Origin.LOG, 2, 3, True, 1)]


def test_an_edit_that_failed_is_no_step(one_round):
    lines = session(edit("t1", "src/b.py", "2026-01-01T00:00:02Z", error=True))
    assert read_events(one_round(None, **{"logs/s-1__jsonl": lines})).steps == []


@pytest.mark.parametrize(
    "native", [[], [{"step": 9}], [{"step": 1, "F": 0}]], ids=["empty", "quarantined", "one event"]
)
def test_a_round_with_a_changes_file_takes_no_step_from_its_logs_even_when_the_file_is_empty(one_round, native):
    lines = session(edit("t1", "src/b.py", "2026-01-01T00:00:02Z"))
    events = read_events(one_round(native, **{"logs/s-1__jsonl": lines}))
    assert [event.origin for event in events.events] == [Origin.NATIVE] * sum("F" in line for line in native)
    assert len(events.listed) == 0


def test_rounds_keep_their_steps_apart(tables, file):
    changes = [{"step": 1, "files": [file("a")]}]
    events = read_events(tables({"r-2": {"changes.jsonl": changes}, "r-1": {"changes.jsonl": changes}}))
    assert [(s.round_id, s.number, s.event) for s in events.steps] == [("r-1", 1, 0), ("r-2", 1, 1)]
    assert list(events.listed["event"]) == [0, 1]


def test_only_quarantined_lines_of_the_file_asked_for_are_counted(one_round):
    found = one_round([{"step": 0}, {"step": 1, "F": 0}], evidence__jsonl=[{"step": 1}], **{"logs/x__jsonl": b"{"})
    quarantine = found["raw_quarantine"]
    assert quarantined_lines(quarantine, "changes.jsonl") == {"r-1": 1}
    assert quarantined_lines(quarantine, "evidence.jsonl") == {"r-1": 1}
    assert quarantined_lines(quarantine, "round.toml") == {}


def test_runs_whose_ids_differ_only_behind_a_nul_keep_their_steps(one_round):
    ids = ["s", "s\0t", "s\0"]
    lines = [edit(f"t{n}", "a.py", f"2026-01-01T00:00:0{n}Z", session=name) for n, name in enumerate(ids)]
    events = read_events(one_round(None, **{"logs/s-1__jsonl": session(*lines)}))
    assert [(e.step, e.run_id, e.line) for e in events.events] == [(1, "s", 1), (2, "s\0", 5), (3, "s\0t", 3)]
