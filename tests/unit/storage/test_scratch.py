"""Claims about scratch copies: the same copies and checks as in a content store, without a lock and without a sync."""

from __future__ import annotations

import os

import pytest

from governance_pipeline.errors import UnreadableError
from governance_pipeline.storage import atomic, content
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.storage.scratch import ScratchStore


def test_a_source_that_changes_while_it_is_copied_is_refused_and_leaves_nothing(tmp_path, monkeypatch):
    source = tmp_path / "live.jsonl"
    source.write_bytes(b"one")
    real = content._digest_beginning

    def changing(path, size, use):
        source.write_bytes(b"two")
        return real(path, size, use)

    monkeypatch.setattr(content, "_digest_beginning", changing)
    with pytest.raises(UnreadableError, match="changed while it was copied"):
        ScratchStore(tmp_path / "scratch").keep(source)
    assert [path for path in (tmp_path / "scratch").rglob("*") if path.is_file()] == []


def test_a_link_is_refused(tmp_path):
    (tmp_path / "link").symlink_to("/etc/hostname")
    with pytest.raises(UnreadableError, match="symlink"):
        ScratchStore(tmp_path / "scratch").keep(tmp_path / "link")


def test_copies_lie_where_those_of_a_content_store_do_with_the_same_bytes_and_mode(tmp_path):
    source = tmp_path / "a.jsonl"
    source.write_bytes(b"{}\n")
    stores = [ScratchStore(tmp_path / "scratch"), ContentStore(tmp_path / "kept")]
    first, second = (store.keep(source) for store in stores)
    assert first == second
    paths = [store.verify(first.sha256) for store in stores]
    assert paths[0].relative_to(tmp_path / "scratch") == paths[1].relative_to(tmp_path / "kept")
    assert paths[0].stat().st_mode == paths[1].stat().st_mode


def test_nothing_is_synced_or_locked(tmp_path, monkeypatch):
    def refuse(*_):
        raise AssertionError("a throw-away copy waits for the disk")

    monkeypatch.setattr(os, "fsync", refuse)
    monkeypatch.setattr(atomic, "exclusive", refuse)
    (tmp_path / "a").write_bytes(b"a")
    ScratchStore(tmp_path / "scratch").keep(tmp_path / "a")
