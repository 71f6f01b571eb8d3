"""Nothing is begun on a disk that has no room for it."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from governance_pipeline.errors import StorageError
from governance_pipeline.storage.free_space import RESERVE_BYTES, require_free_space


@pytest.mark.parametrize(("free", "needed"), [(0, 0), (RESERVE_BYTES - 1, 0), (RESERVE_BYTES + 9, 10)])
def test_too_little_room_is_refused_and_says_how_much_is_needed(tmp_path, monkeypatch, free, needed):
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=free, f_frsize=1))
    with pytest.raises(StorageError, match=str(RESERVE_BYTES + needed)):
        require_free_space(tmp_path, needed)


def test_enough_room_passes(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=RESERVE_BYTES + 10, f_frsize=1))
    require_free_space(tmp_path, 10)


def test_a_folder_nobody_can_ask_about_is_refused(tmp_path):
    with pytest.raises(StorageError, match="nobody can tell"):
        require_free_space(tmp_path / "gone", 0)
