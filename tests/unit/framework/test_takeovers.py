"""The record of takeovers is a plain file: whatever else lies there is refused, and nothing waits for it."""

from __future__ import annotations

import os

import pytest

from governance_pipeline.errors import StorageError
from governance_pipeline.framework.takeovers import FILE, _append, takeovers_in
from governance_pipeline.strict.files import FileRefused

KINDS = {"fifo": os.mkfifo, "folder": os.mkdir, "link": lambda path: path.symlink_to("/dev/zero")}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_plain_file_is_neither_read_nor_written(tmp_path, kind):
    KINDS[kind](tmp_path / FILE)
    with pytest.raises(FileRefused):
        takeovers_in(tmp_path)
    with pytest.raises(StorageError, match="could not be recorded"):
        _append(tmp_path, {"lock": "sales"})


def test_a_folder_without_a_record_has_no_takeovers(tmp_path):
    assert takeovers_in(tmp_path) == []
