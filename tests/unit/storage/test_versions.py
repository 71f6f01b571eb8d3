"""The pointer names whole files only, and a reader is never handed other bytes than it asked for."""

from __future__ import annotations

import hashlib
import os

import pytest

from governance_pipeline.errors import StorageError
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.storage.versions import Versions

ONE, TWO = b"one", b"two"


def _digest(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def versions(tmp_path):
    return Versions(tmp_path / "v")


@pytest.fixture
def put(versions, tmp_path):
    writer = AtomicWriter(tmp_path)
    return lambda data: versions.put(data, _digest(data), writer)


def test_nothing_stored_is_none_and_no_error(versions):
    assert versions.digest() is None
    assert versions.read_in_force() is None
    assert not versions.holds(_digest(ONE))


def test_the_last_put_is_in_force_and_the_one_before_can_still_be_read(versions, put):
    put(ONE)
    put(TWO)
    assert versions.read_in_force() == (versions.path(_digest(TWO)), TWO)
    assert versions.read(_digest(ONE)) == ONE


def test_bytes_with_another_digest_are_an_error_that_names_both(versions, put):
    put(ONE)
    versions.path(_digest(ONE)).write_bytes(TWO)
    with pytest.raises(
        StorageError, match=f"digest {_digest(ONE)}, its bytes have {_digest(TWO)}. Make the table again"
    ):
        versions.read_in_force()
    put(ONE)
    assert versions.read_in_force() is not None


@pytest.mark.parametrize("text", [b"", b"\n", b"abc\n", b"../../../etc/passwd", b"A" * 64, b"a" * 65, b"\xff" * 64])
def test_a_pointer_without_a_digest_is_refused(versions, put, text):
    put(ONE)
    (versions.folder / "current").write_bytes(text)
    with pytest.raises(StorageError, match="current holds no digest; remove it and make the table again"):
        versions.read_in_force()


@pytest.mark.parametrize("name", ["current", "file"])
def test_a_link_in_place_of_pointer_or_file_is_not_followed(versions, put, tmp_path, name):
    put(ONE)
    path = versions.folder / name if name == "current" else versions.path(_digest(ONE))
    (tmp_path / "elsewhere").write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="something it did not write: symlink"):
        versions.read_in_force()


def test_a_pointer_to_a_missing_file_is_an_error_until_the_table_is_made_again(versions, put):
    put(ONE)
    versions.path(_digest(ONE)).unlink()
    with pytest.raises(StorageError, match="is in force but not there; make the table again"):
        versions.read_in_force()
    put(ONE)
    assert versions.read_in_force() is not None


def test_a_reader_that_meets_a_sweep_reads_the_version_that_took_its_place(versions, put, monkeypatch):
    put(ONE)
    digest, calls = versions.digest, iter(range(9))

    def replaced_meanwhile():
        found = digest()
        if next(calls) == 0:
            monkeypatch.setattr(versions, "digest", digest)
            put(TWO)
            versions.path(_digest(ONE)).unlink()
        return found

    monkeypatch.setattr(versions, "digest", replaced_meanwhile)
    assert versions.read_in_force() == (versions.path(_digest(TWO)), TWO)


def test_only_old_versions_that_nobody_names_are_removed(versions, put):
    for data in (ONE, TWO, b"three", b"four"):
        put(data)
    for data in (ONE, TWO, b"four"):
        os.utime(versions.path(_digest(data)), (1000, 1000))
    (versions.folder / "notes.parquet").write_bytes(b"not ours")
    (versions.folder / ".tmp-1-1").write_bytes(b"half")
    assert versions.remove_older(2000, pinned=[_digest(TWO)]) == [versions.path(_digest(ONE))]
    left = {path.name for path in versions.folder.iterdir()}
    assert left == {"current", "notes.parquet", *(f"{_digest(d)}.parquet" for d in (TWO, b"three", b"four"))}


def test_putting_the_version_in_force_again_writes_nothing(versions, put):
    put(ONE)
    before = {path: path.stat() for path in versions.folder.iterdir()}
    put(ONE)
    assert {path: path.stat().st_ino for path in versions.folder.iterdir()} == {p: s.st_ino for p, s in before.items()}
