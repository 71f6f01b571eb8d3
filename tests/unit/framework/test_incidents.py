"""Incidents: ledger and log say the same, and whoever edits a row of the log by hand is noticed."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import resources

import pytest

from governance_pipeline.errors import FaultyFileError, UsageError
from governance_pipeline.framework.folder import INCIDENT_LOG
from governance_pipeline.framework.incident_log import IncidentRow, read_rows
from governance_pipeline.framework.incidents import LOCK, State, add_incident, adopt_rows, keep_log_in_step, standings
from governance_pipeline.framework.locks import Locks
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.ledger.ledger import Ledger

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ROW = IncidentRow("2026-11-30", "two reports of done were false", "the worker graded itself", "a validator confirms")


@pytest.fixture(params=["en", "es"])
def kept(folder, request):
    """Give a folder with an incident log of a shipped template, and a ledger."""
    template = resources.files("governance_pipeline.framework") / "templates" / request.param / "incident_log.md"
    path = folder.path(INCIDENT_LOG)
    path.parent.mkdir(parents=True)
    path.write_bytes(template.read_bytes())
    return folder, Ledger.create(folder.root / "ledger.sqlite")


def rows(folder):
    return [logged.row for logged in read_rows(folder.path(INCIDENT_LOG).read_text(), INCIDENT_LOG)]


def states(kept):
    return [standing.state for standing in standings(*kept)]


def edit(folder, old, new):
    path = folder.path(INCIDENT_LOG)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    "changes",
    [{"date": "yesterday"}, {"date": "2026-02-30"}, {"incident": " "}, {"root_cause": ""}, {"resolution": "x" * 2001}],
)
def test_an_incident_without_day_or_words_is_refused_and_nothing_is_recorded(kept, changes):
    with pytest.raises(UsageError):
        add_incident(*kept, ROW._replace(**changes), "ana", NOON)
    assert kept[1].size() == 0
    assert rows(kept[0]) == []


def test_the_same_incident_is_recorded_once(kept):
    add_incident(*kept, ROW, "ana", NOON)
    with pytest.raises(FrameworkRefused, match=r"INCIDENT_RECORDED_BEFORE.*event 1"):
        add_incident(*kept, ROW, "ana", NOON)


def test_a_log_that_can_take_no_row_is_refused_before_anything_is_recorded(kept):
    kept[0].path(INCIDENT_LOG).write_text("# nothing here\n")
    with pytest.raises(FaultyFileError, match="no_table"):
        add_incident(*kept, ROW, "ana", NOON)
    assert kept[1].size() == 0


def test_an_incident_stands_in_ledger_and_log(kept):
    before = kept[0].path(INCIDENT_LOG).read_text()
    add_incident(*kept, ROW, "ana", NOON)
    assert rows(kept[0]) == [ROW]
    assert kept[0].path(INCIDENT_LOG).read_text().startswith(before)
    assert states(kept) == [State.IN_STEP]


def test_text_that_would_break_the_table_is_kept_in_step_too(kept):
    add_incident(*kept, ROW._replace(incident="a | b\n| c \\| \x1b[31m"), "ana", NOON)
    assert states(kept) == [State.IN_STEP]


def test_a_row_edited_by_hand_is_found_and_not_overwritten(kept):
    add_incident(*kept, ROW, "ana", NOON)
    edit(kept[0], "the worker graded itself", "nobody's fault")
    [standing] = standings(*kept)
    assert (standing.state, standing.logged.root_cause) == (State.EDITED, "nobody's fault")
    assert standing.incident.row == ROW
    assert keep_log_in_step(*kept) == 0
    assert len(rows(kept[0])) == 1


def test_a_row_deleted_by_hand_comes_back(kept):
    add_incident(*kept, ROW, "ana", NOON)
    path = kept[0].path(INCIDENT_LOG)
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if "graded" not in line))
    assert states(kept) == [State.NOT_IN_LOG]
    assert keep_log_in_step(*kept) == 1
    assert states(kept) == [State.IN_STEP]


def test_a_row_written_by_hand_is_found_and_taken_over_when_somebody_says_so(kept):
    add_incident(*kept, ROW, "ana", NOON)
    path = kept[0].path(INCIDENT_LOG)
    path.write_text(path.read_text() + "| 2026-11-29 | a full disk | no alarm | an alarm |\n")
    assert states(kept) == [State.IN_STEP, State.NOT_IN_LEDGER]
    assert [incident.row.incident for incident in adopt_rows(*kept, "ana", NOON)] == ["a full disk"]
    assert states(kept) == [State.IN_STEP, State.IN_STEP]


def test_an_edited_row_that_is_taken_over_brings_back_the_one_it_stood_for(kept):
    add_incident(*kept, ROW, "ana", NOON)
    edit(kept[0], "a validator confirms", "we look away")
    adopt_rows(*kept, "ben", NOON)
    assert keep_log_in_step(*kept) == 1
    assert states(kept) == [State.IN_STEP, State.IN_STEP]


def test_incidents_of_another_project_in_the_same_ledger_are_not_of_this_one(kept, tmp_path):
    from governance_pipeline.framework.folder import STATE, GovernedFolder

    other = tmp_path / "other"
    for name in (STATE, INCIDENT_LOG):
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_bytes(kept[0].path(name).read_bytes())
    add_incident(*kept, ROW, "ana", NOON)
    assert standings(GovernedFolder(other), kept[1]) == []
    add_incident(GovernedFolder(other), kept[1], ROW, "ana", NOON)
    assert states(kept) == [State.IN_STEP]


def test_a_lock_left_by_a_writer_that_died_is_taken_over_in_the_ledger(kept):
    folder, ledger = kept
    locks = Locks(folder, ledger=ledger)
    locks.claim(LOCK, 2**31 - 1, "a writer that died")
    add_incident(folder, ledger, ROW, "ana", NOON)
    (told,) = ledger.events(types={"LOCK_TAKEN_OVER"})
    assert (told.body["lock"], told.body["dead_owner"]["command"]) == (LOCK, "a writer that died")
    assert not (locks.folder / "takeovers.jsonl").exists()
