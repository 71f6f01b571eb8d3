"""Evidence is a few lines of the stored copy: hashed again, bounded, masked and harmless."""

from __future__ import annotations

import pytest

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.gate.inbox.evidence import LINE_CHARACTERS, evidence_lines
from governance_pipeline.storage.content import ContentStore


def _kept(tmp_path, data):
    source = tmp_path / "log.jsonl"
    source.write_bytes(data)
    lake = tmp_path / "lake"
    lake.mkdir(exist_ok=True)
    return lake, ContentStore(lake).keep(source).sha256


def test_the_line_that_is_meant_stands_between_its_neighbours(tmp_path):
    lake, sha256 = _kept(tmp_path, b"".join(b"line %d\n" % n for n in range(1, 21)))
    found = evidence_lines(lake, sha256, 10)
    assert [line.number for line in found] == list(range(7, 14))
    assert [line.text for line in found if line.is_meant] == ["line 10"]


@pytest.mark.parametrize("data", [b"only", b"only\n"])
def test_the_first_line_needs_no_neighbours(tmp_path, data):
    lake, sha256 = _kept(tmp_path, data)
    assert [(line.number, line.text) for line in evidence_lines(lake, sha256, 1)] == [(1, "only")]
    with pytest.raises(UsageError, match="no line 2"):
        evidence_lines(lake, sha256, 2)


def test_hostile_characters_and_credentials_are_not_shown(tmp_path):
    secret = b"AKIA" + b"IOSFODNN7EXAMPLE"
    lake, sha256 = _kept(tmp_path, b"\x1b[2J\xff " + "\u202e".encode() + secret + b"\n")
    (line,) = evidence_lines(lake, sha256, 1)
    assert "\x1b" not in line.text
    assert "\u202e" not in line.text
    assert secret.decode() not in line.text


def test_a_line_of_megabytes_is_cut(tmp_path):
    lake, sha256 = _kept(tmp_path, b"a" * (3 * 1024 * 1024) + b"\nnext\n")
    long, following = evidence_lines(lake, sha256, 1)
    assert (len(long.text), following.text) == (LINE_CHARACTERS, "next")


@pytest.mark.parametrize("sha256", ["", "../../etc/passwd", "0" * 64, "A" * 64])
def test_nothing_but_a_stored_copy_is_read(tmp_path, sha256):
    with pytest.raises(StorageError):
        evidence_lines(tmp_path, sha256, 1)


def test_a_damaged_copy_is_not_shown(tmp_path):
    lake, sha256 = _kept(tmp_path, b"a log\n")
    path = ContentStore(lake).path(sha256)
    path.chmod(0o600)
    path.write_bytes(b"another\n")
    with pytest.raises(StorageError, match="damaged"):
        evidence_lines(lake, sha256, 1)
