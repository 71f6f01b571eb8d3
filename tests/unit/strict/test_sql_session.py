"""A session reaches only the folders it was given, loads nothing, and cannot be talked out of it."""

from __future__ import annotations

from contextlib import closing

import duckdb
import pytest

from governance_pipeline.strict.sql_session import identifier, literal, open_session


@pytest.mark.parametrize(
    "statement",
    [
        "SET enable_external_access = true",
        "SET allowed_directories = ['/']",
        "SET threads = 1",
        "RESET lock_configuration",
        "INSTALL httpfs",
        "LOAD sqlite_scanner",
        "ATTACH '{outside}/x.duckdb'",
        "COPY (SELECT 1) TO '{outside}/x.csv'",
        "SELECT * FROM read_text('{outside}/file')",
        "SELECT * FROM read_text('{inside}/../outside/file')",
        "SELECT * FROM read_text('{inside}/link/file')",
    ],
)
def test_a_session_cannot_leave_its_folders_or_change_its_configuration(tmp_path, statement):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "file").write_text("text")
    (inside / "link").symlink_to(outside)
    with closing(open_session(folders=[inside])) as session:
        assert session.execute(f"SELECT content FROM read_text('{inside}/file')").fetchall() == [("text",)]
        with pytest.raises(duckdb.Error):
            session.execute(statement.format(inside=inside, outside=outside))
    assert sorted(path.name for path in outside.iterdir()) == ["file"]


def test_a_session_without_folders_reads_no_file_at_all(tmp_path):
    (tmp_path / "file").write_text("text")
    with closing(open_session()) as session, pytest.raises(duckdb.PermissionException):
        session.execute(f"SELECT * FROM read_text('{tmp_path}/file')")


def test_a_folder_whose_name_begins_like_an_allowed_one_is_not_allowed(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "file").write_text("text")
    with closing(open_session(folders=[tmp_path / "in"])) as session, pytest.raises(duckdb.PermissionException):
        session.execute(f"SELECT * FROM read_text('{tmp_path}/inside/file')")


def test_a_table_name_is_never_looked_up_among_python_variables():
    frame = {"x": [1]}
    with closing(open_session()) as session, pytest.raises(duckdb.CatalogException):
        session.execute("SELECT * FROM frame")
    assert frame


def test_a_session_is_in_utc_and_leaves_nothing_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with closing(open_session()) as session:
        assert session.execute("SELECT '2026-01-01T00:00:00+02:00'::TIMESTAMPTZ::VARCHAR").fetchone() == (
            "2025-12-31 22:00:00+00",
        )
        assert session.execute("SELECT current_setting('temp_directory')").fetchone() == ("",)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["it's", "'; DROP TABLE t; --", "", "é\n", "\\", '"'])
def test_texts_and_names_survive_quoting(text):
    with closing(open_session()) as session:
        assert session.execute(f"SELECT {literal(text)} AS {identifier(text or 'x')}").fetchall() == [(text,)]
        assert session.description[0][0] == (text or "x")


def test_truth_values_and_numbers_are_written_as_such():
    assert [literal(value) for value in (True, False, 7, -0.5)] == ["true", "false", "7", "-0.5"]
