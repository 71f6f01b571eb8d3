"""Source files are copied as they are, once, and never touched."""

from __future__ import annotations

import hashlib
import os
import stat

import pytest

from governance_pipeline.errors import StorageError, UnreadableError
from governance_pipeline.storage import content
from governance_pipeline.storage.content import ContentStore, Kept


@pytest.fixture
def store(tmp_path):
    return ContentStore(tmp_path / "lake")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "[ab]* log.jsonl"
    path.write_bytes(b"line\n" * 10)
    return path


def _during_copy(monkeypatch, change):
    """Run `change` between the copy of a source and the hash that follows it."""
    digest, calls = content._digest_beginning, iter(range(99))

    def watched(*args):
        result = digest(*args)
        if next(calls) == 0:
            change()
        return result

    monkeypatch.setattr(content, "_digest_beginning", watched)


def test_a_file_that_changes_while_it_is_copied_is_refused_and_nothing_is_kept(store, source, tmp_path, monkeypatch):
    _during_copy(monkeypatch, lambda: source.write_bytes(b"LINE\n" * 10))
    with pytest.raises(UnreadableError, match="changed while it was copied"):
        store.keep(source)
    assert [path for path in (tmp_path / "lake" / "files").rglob("*") if path.is_file()] == []


def test_a_live_log_may_grow_while_it_is_copied(store, source, monkeypatch):
    before = source.read_bytes()
    _during_copy(monkeypatch, lambda: source.write_bytes(before + b"more\n"))
    kept = store.keep(source)
    assert store.path(kept.sha256).read_bytes() == before


def test_a_file_that_shrinks_is_refused(store, source, monkeypatch):
    _during_copy(monkeypatch, lambda: source.write_bytes(b"line\n"))
    with pytest.raises(UnreadableError):
        store.keep(source)


@pytest.mark.parametrize("make", [lambda p: p.symlink_to("/etc/hostname"), lambda p: p.mkdir(), os.mkfifo])
def test_only_regular_files_are_kept(store, tmp_path, make):
    path = tmp_path / "source"
    make(path)
    with pytest.raises(UnreadableError):
        store.keep(path)


def test_a_copy_is_named_by_its_digest_read_only_and_the_source_stays(store, source, tmp_path):
    sha256 = hashlib.sha256(source.read_bytes()).hexdigest()
    before = source.stat()
    assert store.keep(source) == Kept(sha256, 50)
    path = store.path(sha256)
    assert path == tmp_path / "lake" / "files" / sha256[:2] / sha256
    assert path.read_bytes() == source.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    assert (source.stat().st_ino, source.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_the_same_bytes_again_change_nothing(store, source, tmp_path):
    path = store.path(store.keep(source).sha256)
    before = path.stat()
    twin = tmp_path / "twin"
    twin.write_bytes(source.read_bytes())
    store.keep(twin)
    assert path.stat() == before or path.stat().st_ino == before.st_ino


def test_a_damaged_copy_is_found_and_replaced_by_the_next_import(store, source):
    sha256 = store.keep(source).sha256
    path = store.path(sha256)
    path.chmod(0o600)
    path.write_bytes(b"flipped")
    with pytest.raises(StorageError, match=r"is damaged: its bytes have digest [0-9a-f]{64}\. Import its source again"):
        store.verify(sha256)
    store.keep(source)
    assert store.verify(sha256) == path


def test_what_is_not_stored_and_what_is_no_digest_is_refused(store, source):
    with pytest.raises(StorageError, match="no file with digest"):
        store.path("a" * 64)
    for text in ("../../etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "\n", ""):
        with pytest.raises(StorageError, match="no SHA-256"):
            store.path(text)
    assert not store.has("a" * 64)
    assert store.has(store.keep(source).sha256)


def test_an_empty_file_is_a_file(store, tmp_path):
    (tmp_path / "empty").touch()
    kept = store.keep(tmp_path / "empty")
    assert kept.size == 0
    assert store.path(kept.sha256).read_bytes() == b""


def test_what_a_killed_import_left_behind_is_swept_by_the_next_into_that_folder(store, source):
    folder = store.path(store.keep(source).sha256).parent
    (folder / ".tmp-1-0").write_bytes(b"half")
    store.path(store.keep(source).sha256).unlink()
    store.keep(source)
    assert [path.name for path in folder.iterdir()] == [store.keep(source).sha256]
