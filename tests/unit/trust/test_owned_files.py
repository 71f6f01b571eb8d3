"""What a verifier believes lies where only its owner writes."""

from __future__ import annotations

import os

import pytest

from governance_pipeline.errors import UsageError
from governance_pipeline.trust.owned_files import folder_fault, owned_bytes, private_bytes


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "folder" / "file"
    path.parent.mkdir(mode=0o700)
    path.write_bytes(b"12345")
    path.chmod(0o600)
    return path


def test_a_file_of_its_owner_is_read_to_one_byte_more_than_it_may_have(file):
    assert owned_bytes(file, "policy", 5) == b"12345"
    assert owned_bytes(file, "policy", 3) == b"1234"
    file.chmod(0o644)
    assert owned_bytes(file, "policy", 5) == b"12345"


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_others_can_write_is_refused(file, mode):
    file.chmod(mode)
    with pytest.raises(UsageError, match=rf"policy: .* written by others \(mode {mode:o}\); run chmod 600"):
        owned_bytes(file, "policy", 5)


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o703])
def test_a_file_others_can_exchange_is_refused(file, mode):
    file.parent.chmod(mode)
    with pytest.raises(UsageError, match="run chmod 700"):
        owned_bytes(file, "policy", 5)
    assert private_bytes(file, "key", 5) == b"12345"
    file.parent.chmod(0o1777)
    assert owned_bytes(file, "policy", 5) == b"12345"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666, 0o601])
def test_a_secret_others_can_open_is_refused(file, mode):
    file.chmod(mode)
    with pytest.raises(UsageError, match="opened by others"):
        private_bytes(file, "key", 5)


@pytest.mark.parametrize("read", [owned_bytes, private_bytes])
def test_a_file_of_somebody_else_is_refused(file, monkeypatch, read):
    if os.getuid() == 0:
        os.chown(file, 12345, -1)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(UsageError, match="another user"):
        read(file, "key", 5)


def test_what_is_no_file_is_refused_without_waiting(file, tmp_path):
    os.mkfifo(tmp_path / "fifo", 0o600)
    (tmp_path / "link").symlink_to(file)
    for name, code in (("fifo", "not_regular_file"), ("link", "symlink"), ("none", "not_found")):
        with pytest.raises(UsageError, match=code):
            owned_bytes(tmp_path / name, "policy", 5)


def test_a_folder_that_is_not_there_is_nobodys_fault(tmp_path):
    assert folder_fault(tmp_path / "none") is None
