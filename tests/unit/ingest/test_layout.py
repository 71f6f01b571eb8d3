"""Every entry of a folder is found under a literal name, and nothing is opened or followed."""

from __future__ import annotations

import os
import socket

import pytest

from governance_pipeline.errors import UnreadableError
from governance_pipeline.ingest.layout import scan


def _found(folder):
    return {file.path: file.reason for file in scan(folder)}


def test_a_link_to_a_file_is_listed_with_its_reason_and_not_followed(tmp_path):
    (tmp_path / "real").write_text("secret")
    (tmp_path / "round").mkdir()
    (tmp_path / "round" / "link").symlink_to(tmp_path / "real")
    assert _found(tmp_path / "round") == {"link": "symlink"}


def test_a_link_to_a_folder_is_one_entry_and_not_entered(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "inside").write_text("x")
    (tmp_path / "round").mkdir()
    (tmp_path / "round" / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    assert _found(tmp_path / "round") == {"link": "symlink"}


def test_a_dangling_link_is_listed(tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    assert _found(tmp_path) == {"link": "symlink"}


def test_a_fifo_and_a_socket_are_listed_without_hanging(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # the name of a socket has at most 108 bytes
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("sock")
    assert _found(tmp_path) == {"pipe": "fifo", "sock": "socket"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every folder")
def test_a_folder_that_cannot_be_listed_is_one_entry(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o000)
    assert _found(tmp_path) == {"closed": "unreadable"}


@pytest.mark.parametrize("make", [lambda p: p.symlink_to("."), lambda p: p.write_text(""), lambda p: None])
def test_what_is_no_folder_is_refused(tmp_path, make):
    make(tmp_path / "round")
    with pytest.raises(UnreadableError, match="is not a folder"):
        scan(tmp_path / "round")


def test_names_are_literal_hidden_files_included(tmp_path):
    names = ["[ab].jsonl", "*", "~", "$HOME", ".hidden", "a b", "https:", "-rf", "line\nbreak", "\u202e.txt"]
    for name in names:
        (tmp_path / name).write_text("x")
    assert {file.path for file in scan(tmp_path)} == set(names)


def test_a_name_that_is_not_utf8_is_shown_by_its_bytes_and_kept_apart(tmp_path):
    raw = os.fsencode(tmp_path) + b"/a\xff"
    with open(raw, "wb") as stream:  # noqa: PTH123 - bytes name
        stream.write(b"1")
    (tmp_path / "a\\xff").write_text("22")
    found = scan(tmp_path)
    assert [file.size for file in found] == [2, 1]
    assert found[0].path == "a\\xff"
    assert found[1].path.startswith("a\\xff~")
    assert found[1].path.encode()  # it can be stored as text


def test_order_is_that_of_the_bytes_of_the_path_whatever_the_folder_says(tmp_path):
    for name in ["b", "a/z", "a.b", "A", "a/b/c", "\u00e9", "z"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert [file.path for file in scan(tmp_path)] == ["A", "a.b", "a/b/c", "a/z", "b", "z", "\u00e9"]


def test_sizes_are_in_bytes(tmp_path):
    (tmp_path / "f").write_bytes(b"12345")
    assert scan(tmp_path)[0].size == 5
