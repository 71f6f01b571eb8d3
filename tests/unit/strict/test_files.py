"""Claims about opening, hashing and copying files somebody else wrote."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from governance_pipeline.errors import UnreadableError
from governance_pipeline.strict import files
from governance_pipeline.strict.files import FileRefused, copy_and_digest, digest_file, open_regular, open_size


def refusal(path: Path, **options: bool) -> str:
    with pytest.raises(FileRefused) as caught:
        open_regular(path, **options)
    assert caught.value.code in str(caught.value)
    return caught.value.code


def written(path: Path, data: bytes = b"data\n") -> Path:
    path.write_bytes(data)
    return path


def test_links_are_not_followed_even_to_a_regular_file(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(written(tmp_path / "file"))
    assert refusal(link) == "symlink"
    link.unlink()
    link.symlink_to(tmp_path / "nowhere")
    assert refusal(link) == "symlink"


def test_a_fifo_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert refusal(tmp_path / "fifo") == "not_regular_file"


def test_folders_devices_and_sockets_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert refusal(tmp_path / "socket") == "not_regular_file"
    assert refusal(tmp_path) == "not_regular_file"
    assert refusal(Path("/dev/null")) == "not_regular_file"


@pytest.mark.parametrize(("kind", "code"), [("fifo", "not_regular_file"), ("link", "symlink"), ("twice", "hard_link")])
def test_a_name_swapped_after_the_first_look_is_refused_on_the_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, code: str
) -> None:
    honest = os.lstat(written(tmp_path / "honest"))
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "honest")
    os.link(written(tmp_path / "other"), tmp_path / "twice")
    opened: list[int] = []
    real_open = os.open

    def recording_open(*arguments: Any) -> int:
        opened.append(real_open(*arguments))
        return opened[-1]

    monkeypatch.setattr(files.os, "lstat", lambda _path: honest)
    monkeypatch.setattr(files.os, "open", recording_open)
    assert refusal(tmp_path / kind, single_link=True) == code
    for descriptor in opened:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


def test_a_second_hard_link_is_refused_only_when_asked(tmp_path: Path) -> None:
    os.link(written(tmp_path / "file"), tmp_path / "twin")
    assert refusal(tmp_path / "twin", single_link=True) == "hard_link"
    with open_regular(tmp_path / "twin") as stream:
        assert stream.read() == b"data\n"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("missing", "not_found"),
        ("file/below", "not_found"),
        ("nul\0name", "bad_name"),
        ("n" * 300, "bad_name"),
        ("https:/example.org/log.jsonl", "not_found"),
        ("~", "not_found"),
        ("*", "not_found"),
        ("$HOME", "not_found"),
    ],
)
def test_names_are_literal_and_impossible_ones_are_refused(tmp_path: Path, name: str, code: str) -> None:
    written(tmp_path / "file")
    assert refusal(tmp_path / name) == code


@pytest.mark.parametrize(
    "name", ["[ab].jsonl", "*", "a?.jsonl", "$HOME", "~", "trailing.", " ", "x' OR 1=1 --", "ä\u202e"]
)
def test_a_name_with_a_meaning_elsewhere_is_only_a_name(tmp_path: Path, name: str) -> None:
    for other in ("a.jsonl", "b.jsonl"):
        written(tmp_path / other, b"other")
    with open_regular(written(tmp_path / name, b"this one")) as stream:
        assert stream.read() == b"this one"


def test_a_refusal_shows_a_hostile_name_escaped_and_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError) as caught:
        open_regular(tmp_path / "\x1b[31m\u202egnp.exe\n")
    message = str(caught.value)
    assert "\\x1b[31m\\u202egnp.exe\\n" in message
    assert message.isprintable()
    assert "check the path" in message


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.EACCES, "permission_denied"), (errno.EPERM, "permission_denied"), (errno.EIO, "io_error")],
)
def test_what_the_system_refuses_is_refused_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    def failing_open(*_: Any) -> int:
        raise OSError(number, os.strerror(number))

    written(tmp_path / "file")
    monkeypatch.setattr(files.os, "open", failing_open)
    assert refusal(tmp_path / "file") == code


def test_a_file_is_not_inherited_by_child_processes(tmp_path: Path) -> None:
    with open_regular(written(tmp_path / "file")) as stream:
        assert not os.get_inheritable(stream.fileno())


def copied(source: Path, target: Path, **options: bool) -> tuple[files.FileDigest, bytes]:
    with target.open("wb") as file:
        found = copy_and_digest(source, file.fileno(), **options)
    return found, target.read_bytes()


@pytest.mark.parametrize("data", [b"", b"x", b"line\n" * 500_000])
def test_a_copy_has_the_bytes_the_digest_was_made_from(tmp_path: Path, data: bytes) -> None:
    source = written(tmp_path / "source", data)
    found, stored = copied(source, tmp_path / "target")
    assert stored == data
    assert found == (hashlib.sha256(data).hexdigest(), len(data))
    assert digest_file(source) == found


def test_short_writes_are_carried_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_write = os.write
    monkeypatch.setattr(files.os, "write", lambda target, data: real_write(target, bytes(data[:7])))
    assert copied(written(tmp_path / "source", b"0123456789" * 10), tmp_path / "target")[1] == b"0123456789" * 10


def test_a_growing_file_is_copied_up_to_its_size_when_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(tmp_path / "source", b"first\n")

    def grow_after_looking(stream: Any) -> int:
        size = open_size(stream)
        with source.open("ab") as file:
            file.write(b"second\n")
        return size

    monkeypatch.setattr(files, "open_size", grow_after_looking)
    found, stored = copied(source, tmp_path / "target")
    assert stored == b"first\n"
    assert found == (hashlib.sha256(b"first\n").hexdigest(), 6)


def test_a_file_that_became_shorter_while_it_was_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "open_size", lambda stream: open_size(stream) + 1)
    with pytest.raises(FileRefused, match=r"changed_while_read: .* \(5 of 6 bytes\)"):
        digest_file(written(tmp_path / "source"))


def test_an_error_while_reading_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing_blocks(*_: Any) -> Any:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(files, "read_blocks", failing_blocks)
    with pytest.raises(FileRefused, match="io_error"):
        digest_file(written(tmp_path / "source"))


@pytest.mark.parametrize("size", [4, -1])
def test_what_cannot_be_read_after_it_was_opened_is_refused_wherever_it_is_read(size: int) -> None:
    memory = Path("/proc/self/mem")
    if not memory.exists():
        pytest.skip("needs a file that opens and cannot be read: /proc/self/mem of Linux")
    with open_regular(memory) as stream, pytest.raises(FileRefused, match="io_error"):
        stream.read(size)


def test_an_error_of_the_target_is_the_callers(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Bad file descriptor"):
        copy_and_digest(written(tmp_path / "source"), 10_000)


def test_linked_sources_are_not_copied(tmp_path: Path) -> None:
    os.link(written(tmp_path / "source"), tmp_path / "twin")
    with pytest.raises(FileRefused, match="hard_link"):
        copied(tmp_path / "source", tmp_path / "target", single_link=True)
