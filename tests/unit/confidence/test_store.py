"""Stored events: recorded only if accepted, never changed, and a saved state gives what the whole history gives."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.confidence import checkpoints, store_file
from governance_pipeline.confidence.recording import EventRefused
from governance_pipeline.confidence.state import State
from governance_pipeline.confidence.state_text import read_state, state_text
from governance_pipeline.confidence.store import EventStore
from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.settings import SETTINGS


@pytest.fixture
def store(tmp_path, monkeypatch):
    """An empty store that saves its state every few events."""
    monkeypatch.setattr(checkpoints, "SPACING", 3)
    store = EventStore.create(tmp_path / "confidence")
    store.register({"pools": ["claude-code/opus-4-6/high"]})
    store.register({"subjects": [{"role": "agent", "subject_id": "ada"}, {"role": "user", "subject_id": "kim"}]})
    return store


def _states(store):
    return state_text(store.standing().folded.state), state_text(store.whole().folded.state)


def test_a_place_without_events_says_what_to_do(tmp_path):
    with pytest.raises(StorageError, match="govern confidence init"):
        EventStore(tmp_path).standing()
    (tmp_path / "confidence.sqlite").write_bytes(b"")
    with pytest.raises(StorageError, match="holds no confidence events"):
        EventStore(tmp_path).standing()


@pytest.mark.parametrize("kept", [100, 4096, 9000])
def test_a_truncated_store_says_how_to_get_it_back_and_of_writing_only_when_writing(store, event, kept):
    store.append(event(1))
    store.path.write_bytes(store.path.read_bytes()[:kept])
    with pytest.raises(StorageError, match="govern confidence derive") as reading:
        store.standing()
    with pytest.raises(StorageError, match=r"nothing was recorded.*backup") as writing:
        store.append(event(2))
    assert "nothing was recorded" not in str(reading.value)
    assert "Free space" not in f"{reading.value}{writing.value}"


def test_a_store_another_process_holds_is_not_called_damaged(store, event, monkeypatch):
    monkeypatch.setattr(store_file, "SETTINGS", replace(SETTINGS, lock_wait_s=0.01))
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match=r"nothing was recorded by this call\. Free space"):
            store.append(event(1))


def test_a_store_is_never_made_over_another(store):
    with pytest.raises(UsageError, match="never overwritten"):
        EventStore.create(store.path.parent)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"subject_id": "eve"}, "unknown_subject"),
        ({"runtime": "codex/gpt-6/none"}, "unknown_pool"),
        ({"event_type": "exceptional", "points": 5}, "streak_below_3"),
        ({"domain": "LAW"}, "invalid_field"),
    ],
)
def test_an_event_the_rules_refuse_is_not_recorded_and_says_why(store, event, change, reason):
    with pytest.raises(EventRefused, match=reason):
        store.append(event(1, **change))
    assert list(store.lines())[2:] == []


def test_the_same_event_again_is_no_news_and_another_under_its_id_is_refused(store, event):
    assert store.append(event(1)).is_new
    assert not store.append(event(1)).is_new
    with pytest.raises(EventRefused, match="conflicting_event_id"):
        store.append(event(1, domain="OPS"))


def test_a_sealed_day_takes_nothing_more_whatever_its_instant(store, event):
    store.append(event(5))
    seal = store.append(event(6, "seal", domain=None))
    assert [one.events for one in seal.seals] == [2]
    for number in (1, 9):
        with pytest.raises(EventRefused, match="day_sealed"):
            store.append(event(number))


def test_a_seal_after_a_saved_state_digests_the_events_before_it(store, event):
    for number in range(1, 8):
        store.append(event(number, note="line" * number))
    sealed = store.append(event(9, "seal", domain=None))
    assert [one.digest for one in sealed.seals] == [one.digest for one in store.whole().folded.seals]


def test_a_late_event_is_folded_where_it_belongs_and_voids_what_was_saved_after_it(store, event):
    for number in range(10, 18):
        store.append(event(number))
    late = store.append(event(1, "error", severity="severe"))
    assert late.rows[0].score == 45_000
    saved, whole = _states(store)
    assert saved == whole


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.integers(1, 40), st.sampled_from(["correct", "error", "bonus"])), unique_by=lambda one: one[0]
    )
)
def test_any_order_of_arrival_gives_the_state_of_the_whole_history(tmp_path_factory, event, drawn):
    store = EventStore.create(tmp_path_factory.mktemp("any"))
    store.register({"pools": ["claude-code/opus-4-6/high"], "subjects": [{"role": "agent", "subject_id": "ada"}]})
    more = {"correct": {}, "error": {"severity": "mild", "pattern_code": "HALLUCINATION"}, "bonus": {"points": 1}}
    for number, kind in drawn:
        with suppress(EventRefused):  # a fourth bonus of the day
            store.append(event(number, kind, **more[kind]))
    saved, whole = _states(store)
    assert saved == whole
    assert state_text(read_state(saved)) == saved


@pytest.mark.parametrize("column", ["state", "sha256", "events"])
def test_a_saved_state_that_was_touched_is_not_believed(store, event, column):
    for number in range(1, 8):
        store.append(event(number))
    expected = state_text(store.whole().folded.state)
    with closing(sqlite3.connect(store.path)) as database, database:
        value = {"state": "'{}'", "sha256": f"'{'0' * 64}'", "events": "99"}[column]
        database.execute(f"UPDATE checkpoints SET {column} = {value}")
    assert _states(store) == (expected, expected)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE lines SET line = x'78'",
        "DELETE FROM lines WHERE seq = 3",
        "INSERT OR REPLACE INTO lines SELECT 4, event_id, ts, session_id, is_seal, x'78', sha256 FROM lines WHERE seq = 3",
    ],
)
def test_no_recorded_line_is_changed_or_removed(store, event, sql):
    store.append(event(1))
    with closing(sqlite3.connect(store.path)) as database, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        database.execute(sql)


def test_a_line_changed_behind_the_triggers_is_found(store, event):
    store.append(event(1))
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute("DROP TRIGGER lines_no_update")
        database.execute(
            "UPDATE lines SET line = CAST(replace(CAST(line AS TEXT), 'TECH', 'ORCH') AS BLOB) WHERE seq = 3"
        )
    with pytest.raises(StorageError, match="not what was recorded"):
        store.whole()


@pytest.mark.parametrize("seq", [2, 3])
@pytest.mark.parametrize("half", ["substr(line, 1, 20)", "zeroblob(9)", "zeroblob(0)"])
def test_a_line_cut_behind_the_triggers_is_a_fault_of_the_store(store, event, seq, half):
    store.append(event(1))
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute("DROP TRIGGER lines_no_update")
        database.execute(f"UPDATE lines SET line = CAST({half} AS BLOB) WHERE seq = {seq}")
    with pytest.raises(StorageError, match=r"a stored .* is not what was recorded.*restore the file"):
        store.whole()


def test_a_saved_state_whose_pages_are_gone_is_passed_over(store, event):
    store.append_all([event(number, note="n" * 3000) for number in range(1, 8)])
    whole = store.path.read_bytes()
    for kept in range(len(whole) - 4096 * 3, len(whole), 512):
        store.path.write_bytes(whole[:kept])
        with suppress(StorageError):  # and nothing but this
            store.standing()


def test_a_saved_state_that_reads_as_nothing_does_not_keep_the_next_from_being_saved():
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE lines (ts, event_id)")
        database.execute("CREATE TABLE checkpoints (ts, event_id, events, state, sha256, PRIMARY KEY (ts, event_id))")
        database.execute("INSERT INTO checkpoints VALUES (1, 'e1', NULL, NULL, NULL)")
        database.executemany("INSERT INTO lines VALUES (?, ?)", [(1, "e1"), (2, "e2")])
        checkpoints.save(database, State(), (2, "e2"))
        assert checkpoints.newest(database).order == (2, "e2")


def test_a_registry_entry_that_contradicts_is_refused_and_one_known_is_no_news(store):
    assert not store.register({"pools": ["claude-code/opus-4-6/high"]})
    with pytest.raises(UsageError, match="already registered otherwise"):
        store.register({"subjects": [{"role": "agent", "subject_id": "ada", "weights": {"OPS": 3}}]})
    with pytest.raises(UsageError, match="whom no registry line registers"):
        store.register({"teams": [{"team_id": "t", "agent_id": "ada", "user_id": "nobody"}]})


def test_the_recorded_lines_replay_to_the_same_scores(store, event, tmp_path):
    from governance_pipeline.confidence.fold import fold
    from governance_pipeline.confidence.reading import read_lines

    for number in range(1, 6):
        store.append(event(number))
    file = tmp_path / "events.jsonl"
    file.write_bytes(b"\n".join(store.lines()))
    read = read_lines(file)
    assert state_text(fold(read.events, read.registry).state) == _states(store)[0]


def _mixed(event):
    """Events in order, some of which the rules refuse: of no valid form, a fourth bonus, of a sealed day."""
    mixed = [event(n, "bonus", points=1, event_id=f"m{n:02}") for n in range(1, 6)]
    mixed += [event(n, ts=f"2026-03-03T09:{n:02}:00Z", day="2026-03-03") for n in range(6, 30)]
    mixed.append(event(30, domain="LAW", ts="2026-03-03T09:30:00Z"))
    mixed.append(event(31, "seal", domain=None, ts="2026-03-03T09:31:00Z", day="2026-03-03"))
    mixed += [event(n, ts=f"2026-03-03T09:{n:02}:00Z", day="2026-03-03") for n in range(32, 35)]
    return mixed


def test_many_events_at_once_do_what_each_does_alone(store, event, tmp_path):
    alone = EventStore.create(tmp_path / "alone")
    alone.register({"pools": ["claude-code/opus-4-6/high"]})
    alone.register({"subjects": [{"role": "agent", "subject_id": "ada"}, {"role": "user", "subject_id": "kim"}]})
    one_by_one = [outcome for each in _mixed(event) for outcome in alone.take([each])]
    together = store.take(_mixed(event))
    assert together == one_by_one
    assert [getattr(one, "reason", None) for one in together].count("day_sealed") == 3
    assert _states(store) == _states(alone)
    assert store.take(_mixed(event))[0].is_new is False


def test_events_that_come_late_are_taken_where_they_belong(store, event):
    store.take(_mixed(event))
    late = [event(1, event_id="late", ts="2026-03-02T08:00:00Z"), event(2, event_id="later", ts="2026-03-02T08:30:00Z")]
    assert [one.is_new for one in store.take(late)] == [True, True]
    saved, whole = _states(store)
    assert saved == whole


def test_the_saved_states_of_a_long_history_stand_at_doubled_distances(store, event):
    store.take([event(n, ts=f"2026-03-02T{9 + n // 60:02}:{n % 60:02}:00Z", event_id=f"e{n:03}") for n in range(200)])
    with closing(sqlite3.connect(store.path)) as database:
        saved = [number for (number,) in database.execute("SELECT events FROM checkpoints ORDER BY events")]
    assert saved == [200 - distance for distance in (192, 96, 48, 24, 12, 6, 3)] + [200]
    for number in range(200, 230):
        store.append(event(number, ts=f"2026-03-03T10:{number - 200:02}:00Z", day="2026-03-03", event_id=f"e{number}"))
    with closing(sqlite3.connect(store.path)) as database:
        assert database.execute("SELECT count(*) FROM checkpoints").fetchone()[0] < 17
    store.append(event(1, "error", severity="severe", event_id="late", ts="2026-03-02T09:50:30Z"))
    saved, whole = _states(store)
    assert saved == whole
