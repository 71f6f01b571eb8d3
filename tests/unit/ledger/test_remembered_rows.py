"""What was verified before is not asked again, and nothing that was changed since is taken for it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from governance_pipeline.ledger import remembered_rows, verification
from governance_pipeline.ledger.event import NewEvent
from governance_pipeline.ledger.remembered_rows import rows_path, verified
from governance_pipeline.trust.config import GateConfig

if TYPE_CHECKING:
    from pathlib import Path

    from governance_pipeline.ledger.ledger import Ledger

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
CODE = "c" * 64


@pytest.fixture
def config(tmp_path: Path) -> GateConfig:
    paths = {name: tmp_path / name for name in ("root", "ledger", "policy")}
    return GateConfig(**paths, root_fingerprint="f", source=tmp_path / "gate.toml")


@pytest.fixture(autouse=True)
def each_row_counts(monkeypatch):
    monkeypatch.setattr(remembered_rows, "WORTH_REMEMBERING", 1)


@pytest.fixture
def asked(monkeypatch) -> list[int]:
    """Numbers of the rows whose form was asked."""
    seen: list[int] = []
    true = verification._row_faults

    def counted(expected, *rest):
        seen.append(expected)
        return true(expected, *rest)

    monkeypatch.setattr(verification, "_row_faults", counted)
    return seen


def _append(ledger: Ledger, count: int) -> None:
    ledger.append_all([NewEvent("NOTE", "ana", {"n": number}, NOON) for number in range(count)])


def test_only_what_came_since_is_asked_for_its_form(ledger, config, asked):
    _append(ledger, 5)
    assert verified(ledger, config, CODE) == []
    _append(ledger, 2)
    asked.clear()
    assert verified(ledger, config, CODE) == []
    assert asked == [6, 7]


@pytest.mark.parametrize(
    ("change", "first"),
    [
        ("UPDATE events SET actor = 'eve' WHERE seq = 2", 2),
        ("UPDATE events SET type = 'OTHER' WHERE seq = 2", 2),
        ("UPDATE events SET ts = '2026-11-30T12:00:01.000000Z' WHERE seq = 3", 3),
        ("UPDATE events SET unique_key = 'mine' WHERE seq = 4", 4),
        ("UPDATE events SET body = '{}' WHERE seq = 1", 1),
        ("UPDATE events SET chain = zeroblob(32) WHERE seq = 5", 5),
        ("UPDATE events SET bytes = x'7b7d' WHERE seq = 3", 3),
        ("DELETE FROM events WHERE seq = 2", 2),
        ("DELETE FROM events WHERE seq > 3", 4),
    ],
)
def test_a_change_of_what_was_verified_is_found_at_the_first_event_it_touches(ledger, config, forge, change, first):
    _append(ledger, 5)
    assert verified(ledger, config, CODE) == []
    forge(change)
    found = verified(ledger, config, CODE)
    assert found == ledger.verify()
    assert found[0].seq == first


@pytest.mark.parametrize(
    "said",
    [b"", b"{}", b"[]", b"null", b"\xff", b'{"size": "5", "rows_sha256": "a", "code_sha256": "c"}', b"x" * 2000],
)
def test_a_memory_that_says_nothing_makes_every_row_be_asked(ledger, config, asked, said):
    _append(ledger, 3)
    rows_path(config).write_bytes(said)
    assert verified(ledger, config, CODE) == []
    assert asked == [1, 2, 3]


@pytest.mark.parametrize("changed", [{"size": 2}, {"size": 4}, {"size": 99}, {"rows_sha256": "0" * 64}])
def test_a_memory_of_other_rows_makes_every_row_be_asked(ledger, config, asked, changed):
    _append(ledger, 3)
    assert verified(ledger, config, CODE) == []
    said = json.loads(rows_path(config).read_text())
    rows_path(config).write_text(json.dumps({**said, **changed}))
    asked.clear()
    assert verified(ledger, config, CODE) == []
    assert asked[-3:] == [1, 2, 3]


def test_what_another_program_or_another_user_has_verified_is_asked_again(ledger, config, asked):
    _append(ledger, 3)
    assert verified(ledger, config, CODE) == []
    asked.clear()
    assert verified(ledger, config, "d" * 64) == []
    assert asked == [1, 2, 3]
    rows_path(config).chmod(0o666)
    asked.clear()
    assert verified(ledger, config, "d" * 64) == []
    assert asked == [1, 2, 3]


def test_not_even_a_forged_memory_hides_an_event_behind_another_type(ledger, config, forge):
    _append(ledger, 3)
    forge("UPDATE events SET type = 'OTHER' WHERE seq = 2")
    with pytest.MonkeyPatch.context() as patch:  # whoever can write the file computes what is remembered of these rows
        patch.setattr(verification, "_row_faults", lambda *_: iter(()))
        assert verified(ledger, config, CODE) == []
    assert [(fault.seq, fault.code) for fault in verified(ledger, config, CODE)] == [(2, "columns_differ")]


def test_what_is_not_sound_is_never_remembered(ledger, config, forge):
    _append(ledger, 3)
    forge("UPDATE events SET actor = 'eve' WHERE seq = 2")
    assert verified(ledger, config, CODE)
    assert not rows_path(config).exists()


def test_a_folder_nobody_can_write_only_costs_time(ledger, config, monkeypatch):
    _append(ledger, 3)
    config = config._replace(source=config.source.parent / "gone" / "gate.toml")
    assert verified(ledger, config, CODE) == []
