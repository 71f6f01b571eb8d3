"""An export is read whole or refused; authors are pseudonyms unless they are to be kept."""

from __future__ import annotations

import pytest

from governance_pipeline.errors import UnreadableError
from governance_pipeline.ingest.history.commits import to_line
from governance_pipeline.ingest.history.exports import export_bytes, read_export


@pytest.fixture
def export(tmp_path):
    def _export(data):
        path = tmp_path / "history.jsonl"
        path.write_bytes(data)
        return path

    return _export


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(UnreadableError, match=r"missing\.jsonl"):
        read_export(tmp_path / "missing.jsonl")


def test_a_line_that_cannot_be_used_refuses_the_file_with_all_of_them(export, commit):
    data = to_line(commit(1)) + b"{\n" + to_line(commit(2)) + b'{"schema": "govern/git-log/v1"}\n'
    with pytest.raises(UnreadableError, match=r"line 2: malformed_json; line 4: bad_sha"):
        read_export(export(data))


def test_a_commit_that_stands_there_twice_refuses_the_file(export, commit):
    with pytest.raises(UnreadableError, match="stands there twice"):
        read_export(export(to_line(commit(1)) * 2))


def test_of_many_faults_the_first_are_named_and_the_rest_counted(export):
    with pytest.raises(UnreadableError, match="and 90 more"):
        read_export(export(b"{\n" * 100))


def test_blank_lines_are_no_commits_and_order_is_kept(export, commit):
    found = read_export(export(to_line(commit(2)) + b"\n" + to_line(commit(1))))
    assert found == [commit(2), commit(1)]


def test_an_author_is_the_same_pseudonym_everywhere(commit):
    data = export_bytes([commit(1), commit(2), commit(3, author="ben@example.org")], keep_authors=False)
    lines = data.decode().splitlines()
    assert "example.org" not in data.decode()
    assert [line.split('"author": ')[1][:12] for line in lines[:2]] == [lines[0].split('"author": ')[1][:12]] * 2
    assert lines[2].split('"author": ')[1][:12] != lines[0].split('"author": ')[1][:12]
    assert b"bob" not in export_bytes([commit(1, coauthors=("bob@example.org",))], keep_authors=False)
    assert b"ana@example.org" in export_bytes([commit(1)], keep_authors=True)
