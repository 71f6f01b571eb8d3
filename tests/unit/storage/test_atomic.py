"""A file appears whole or not at all, and a failed fsync is never taken for success."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from governance_pipeline.errors import StorageError
from governance_pipeline.storage import atomic
from governance_pipeline.storage.atomic import AtomicWriter, sweep_temporaries

CALLS = ("open", "write", "fchmod", "fsync", "close", "replace", "mkdir")


class Fault:
    """Makes the nth of the system calls the writer uses fail once, as a full or broken disk does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, nth: int, code: int) -> None:
        self.left, self.code, self.hit = nth, code, ""
        for name in CALLS:
            monkeypatch.setattr(atomic.os, name, self._counted(name, getattr(os, name)))

    def _counted(self, name, call):
        def counted(*args, **kwargs):
            if not self.hit:
                self.left -= 1
                if self.left == 0:
                    self.hit = name
                    if name == "close":
                        call(*args)
                    raise OSError(self.code, os.strerror(self.code))
            return call(*args, **kwargs)

        return counted


def _names(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
def test_whichever_system_call_fails_the_file_is_the_old_one_or_the_new_one_whole(tmp_path, code):
    hits = set()
    for nth in range(1, 100):
        root = tmp_path / str(nth)
        AtomicWriter(root).write(root / "kept" / "f", b"old")
        writer = AtomicWriter(root)
        with pytest.MonkeyPatch.context() as patch:
            fault = Fault(patch, nth, code)
            try:
                writer.write(root / "kept" / "f", b"new" * 1000)
                writer.write(root / "fresh" / "g", b"fresh")
            except StorageError as error:
                assert os.strerror(code) in str(error)  # noqa: PT017 - success is allowed after the last call
        assert (root / "kept" / "f").read_bytes() in (b"old", b"new" * 1000)
        assert _names(root / "kept") == ["f"]
        assert _names(root / "fresh") in ([], ["g"])
        if not fault.hit:
            break
        hits.add(fault.hit)
    assert hits == set(CALLS)


@pytest.mark.parametrize("nth", [1, 2])
def test_after_a_failed_fsync_nothing_more_is_written_by_that_writer(tmp_path, monkeypatch, nth):
    writer = AtomicWriter(tmp_path)
    writer.write(tmp_path / "f", b"old")
    calls = iter(range(1, 99))

    def fsync(_):
        if next(calls) == nth:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(atomic.os, "fsync", fsync)
    with pytest.raises(StorageError, match=r"could not be synced to disk: Input/output error"):
        writer.write(tmp_path / "f", b"new")
    assert (tmp_path / "f").read_bytes() == (b"old" if nth == 1 else b"new")
    with pytest.raises(StorageError, match=r"nothing more is written because fsync of .* failed"):
        writer.write(tmp_path / "g", b"x")
    assert _names(tmp_path) == ["f"]
    AtomicWriter(tmp_path).write(tmp_path / "g", b"x")


def test_a_short_write_is_continued_until_all_bytes_are_there(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(atomic.os, "write", lambda descriptor, data: write(descriptor, bytes(data[:3])))
    AtomicWriter(tmp_path).write(tmp_path / "f", b"0123456789")
    assert (tmp_path / "f").read_bytes() == b"0123456789"


def test_a_folder_that_is_a_link_is_refused_and_nothing_lands_behind_it(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    root = tmp_path / "lake"
    root.mkdir()
    (root / "table").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match=r"every part below .* must be a real folder"):
        AtomicWriter(root).write(root / "table" / "f", b"x")
    assert _names(tmp_path / "elsewhere") == []


def test_a_link_where_the_file_goes_is_replaced_and_its_target_untouched(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    (tmp_path / "f").symlink_to(victim)
    AtomicWriter(tmp_path).write(tmp_path / "f", b"x")
    assert victim.read_bytes() == b"mine"
    assert not (tmp_path / "f").is_symlink()


def test_an_exception_of_the_producer_passes_through_and_leaves_nothing(tmp_path):
    def produce(descriptor):
        os.write(descriptor, b"half")
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        AtomicWriter(tmp_path).fill(tmp_path / "f", produce)
    assert _names(tmp_path) == []


def test_files_and_folders_are_private_unless_asked_otherwise(tmp_path):
    writer = AtomicWriter(tmp_path)
    writer.write(tmp_path / "a" / "f", b"x")
    writer.write(tmp_path / "a" / "g", b"x", mode=atomic.READ_ONLY)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/f", "a/g")]
    assert modes == [0o700, 0o600, 0o400]


def test_only_temporary_files_are_swept(tmp_path):
    for name in (".tmp-1-0", ".tmp-99-7", "current", "x.tmp-1"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / ".tmp-folder").mkdir()
    assert sweep_temporaries(tmp_path) == 2
    assert _names(tmp_path) == [".tmp-folder", "current", "x.tmp-1"]
    assert sweep_temporaries(tmp_path / "absent") == 0


def test_a_file_made_elsewhere_is_taken_in_one_step(tmp_path):
    writer = AtomicWriter(tmp_path)
    made = tmp_path / "made"
    made.write_bytes(b"new")
    writer.take(made, tmp_path / "a" / "f")
    assert (tmp_path / "a" / "f").read_bytes() == b"new"
    with pytest.raises(StorageError, match="could not be written"):
        writer.take(made, tmp_path / "a" / "f")
