"""Importing a file an agent could have written: no word about oneself is taken, nothing is lost, nothing comes twice."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from governance_pipeline.confidence.importing import (
    import_file,
    imported_files,
    is_self_report,
    record_import,
    refuse_agent,
)
from governance_pipeline.confidence.store import EventStore
from governance_pipeline.errors import UsageError
from governance_pipeline.ledger.ledger import Ledger

NOW = datetime(2026, 3, 3, tzinfo=UTC)


@pytest.fixture
def store(tmp_path):
    """An empty store with the agent `ada` and the user `kim`."""
    store = EventStore.create(tmp_path / "confidence")
    store.register({"pools": ["claude-code/opus-4-6/high"]})
    store.register({"subjects": [{"role": "agent", "subject_id": "ada"}, {"role": "user", "subject_id": "kim"}]})
    return store


@pytest.fixture
def write(tmp_path):
    """Write lines to a file."""

    def _write(*lines):
        path = tmp_path / "confidence.jsonl"
        path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        return path

    return _write


@pytest.mark.parametrize("number", ["9" * 5000, "1e400", "-1e999999999", "60.00000000000000001", "1e-400", "0.1e-30"])
@pytest.mark.parametrize("name", ["user_score", "note", "points", "event_id", "subject_id"])
def test_a_number_no_float_holds_is_one_invalid_line_and_loses_no_other(store, write, event, number, name):
    line = json.dumps(event(1, event_type="error", severity="mild", **{name: "N"})).replace('"N"', number)
    path = write(line, event(2, event_type="error", severity="mild"))
    found = import_file(store, path, "kim")
    assert (found.recorded, [(one.line, one.reason) for one in found.left_out]) == (1, [(1, "invalid_field")])


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"event_type": "pro_pattern", "pattern_code": "ANTICIPATE", "domain": "JUDGMENT"},
        {"event_type": "bonus", "points": 3},
        {"event_type": "error", "severity": "mild", "self_score": 80},
        {"event_type": "seal", "self_score": {"TECH": 90}},
        {"evidence": "x", "self_score": 90},
    ],
)
def test_a_gain_or_judgement_only_the_agent_stands_for_is_a_self_report(event, change):
    assert is_self_report(event(1, **change), "kim")


def test_what_a_user_or_a_record_stands_for_is_none_and_faults_are_taken(event, by_user):
    assert not is_self_report(event(1, user_score=60, self_score=80), "kim")
    assert not is_self_report(event(1, evidence="finding-1"), "kim")
    assert not is_self_report(event(1, "error", severity="mild"), "kim")
    assert not is_self_report(by_user(1), "lee")


def test_nobody_imports_gains_of_their_own(by_user):
    assert is_self_report(by_user(1), "kim")
    assert not is_self_report(by_user(1, "error", severity="mild"), "kim")


def test_every_line_is_recorded_or_left_out_with_a_reason(store, write, event, by_user):
    path = write(
        "not json", "[1]", {"schema": "else"}, "", {"schema": "govern/confidence-registry/v1", "pools": ["a/b/c"]},
        event(1), event(2, evidence="f-1"), event(3, subject_id="eve", evidence="f-2"), by_user(4),
    )  # fmt: skip
    done = import_file(store, path, "lee")
    assert (done.recorded, done.known, done.registered) == (2, 0, 0)
    assert [(one.line, one.reason) for one in done.left_out] == [
        (1, "malformed_line"), (2, "malformed_line"), (3, "unknown_schema"), (5, "registry_line"),
        (6, "self_report"), (8, "unknown_subject"),
    ]  # fmt: skip
    again = import_file(store, path, "lee")
    assert (again.recorded, again.known) == (0, 2)


def test_registry_lines_are_taken_only_when_asked_for(store, write):
    path = write({"schema": "govern/confidence-registry/v1", "pools": ["a/b/c"]})
    import_file(store, path, "lee")
    assert "a/b/c" not in store.standing().registry.pools
    assert import_file(store, path, "lee", with_registry=True).registered == 1
    assert "a/b/c" in store.standing().registry.pools


def test_numbers_with_decimals_are_recorded_as_they_mean(store, write, event):
    path = write(event(1, user_score=60.25, self_score=80.5))
    assert import_file(store, path, "lee").recorded == 1


def test_the_ledger_holds_each_imported_file_once(tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    body = {"file_sha256": "a" * 64, "round_id": None}
    assert record_import(ledger, body, "lee", NOW)
    assert not record_import(ledger, body, "lee", NOW)
    assert imported_files(ledger) == {"a" * 64}


def test_an_agent_imports_nothing():
    with pytest.raises(UsageError, match="registered agent"):
        refuse_agent("ada", {"ada"})
    refuse_agent("kim", {"ada"})
