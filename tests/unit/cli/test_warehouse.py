"""Claims about `govern warehouse`: read only, exact, escaped, and every fault with its exit code."""

from __future__ import annotations

import json
from importlib import resources

import duckdb
import jsonschema
import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.contracts.registry import REGISTRY, frame_of
from governance_pipeline.storage.lake import Lake

HOSTILE = "logs/\x1b[2J\u202e<script>.jsonl"
COUNTS = {"lines_in": 1, "accepted": 0, "quarantined": 1, "blank": 0, "duplicates": 0, "bytes": 5}


@pytest.fixture
def lake(tmp_path) -> Lake:
    """Return a lake with one stored table of one row."""
    made = Lake(tmp_path / "lake")
    row = {"round_id": "r-1", "path": HOSTILE, "record_unit": "file", "reason_code": "unsupported_format", **COUNTS}
    made.put("raw_log_files", "r-1", frame_of("raw_log_files", [row]))
    return made


@pytest.fixture
def govern(capsys, lake):
    """Run `govern warehouse …` over that lake; gives exit code, stdout and stderr."""

    def _govern(*arguments):
        code = run(["warehouse", *arguments, "--lake", str(lake.root)])
        return code, *capsys.readouterr()

    return _govern


def schema(name):
    return json.loads(
        (resources.files("governance_pipeline.report") / "schemas" / f"{name}-v1.json").read_text("utf-8")
    )


REFUSED = [
    "delete from raw_log_files", "create table x as select 1", "select 1; select 2", "", "selec 1", "select * from nothing",
    "select * from read_csv('/etc/passwd')", "copy raw_log_files to 'x.csv'", "attach 'x.db'", "install httpfs",
    "select * from 'http://127.0.0.1:1/x.parquet'", "set enable_external_access = true",
]  # fmt: skip


@pytest.mark.parametrize("sql", REFUSED)
def test_anything_but_one_select_over_the_lake_is_exit_2(govern, sql):
    code, out, err = govern("query", sql)
    assert (code, out) == (2, "")
    assert err.startswith("govern: ")
    assert "Traceback" not in err


def test_a_lake_that_is_not_there_is_exit_2(capsys, tmp_path):
    for command in (["rebuild"], ["query", "select 1"]):
        assert run(["warehouse", *command, "--lake", str(tmp_path / "none")]) == 2
        assert capsys.readouterr().out == ""


def test_a_damaged_table_is_exit_3_and_names_the_file(govern, lake):
    stored = lake.path("raw_log_files", "r-1")
    stored.chmod(0o600)
    stored.write_bytes(b"PAR1 not a table")
    code, out, err = govern("query", "select * from raw_log_files")
    assert (code, out) == (3, "")
    assert stored.name in err


def test_text_of_a_log_is_shown_escaped(govern):
    code, out, err = govern("query", "select path from raw_log_files")
    assert (code, err) == (0, "")
    assert out.splitlines() == ["path", "logs/\\x1b[2J\\u202e<script>.jsonl"]


def test_the_json_answer_is_one_document_that_keeps_its_schema_and_the_text_as_it_is(govern):
    code, out, err = govern("query", "select path, bytes, format, 0.10::decimal(4, 2) from raw_log_files", "--json")
    document = json.loads(out)
    jsonschema.validate(document, schema("warehouse-query"))
    assert (code, err) == (0, "")
    assert document["rows"] == [[HOSTILE, 5, None, 0.1]]
    assert "\x1b" not in out
    assert out.isascii()


def test_an_error_that_quotes_hostile_sql_is_escaped(govern):
    _, _, err = govern("query", 'select "\x1b[2J\u202e" from raw_log_files')
    assert all(character == "\n" or character.isprintable() for character in err)


def test_rebuild_prints_the_path_of_a_database_with_a_view_per_table(govern, lake):
    code, out, err = govern("rebuild")
    assert (code, err) == (0, "")
    with duckdb.connect(out.strip(), read_only=True) as database:
        views = {name for (name,) in database.sql("select view_name from duckdb_views() where not internal").fetchall()}
        assert set(REGISTRY) <= views
        assert database.sql("select count(*) from raw_log_files").fetchall() == [(1,)]
    code, out, _ = govern("rebuild", "--json")
    jsonschema.validate(json.loads(out), schema("warehouse-rebuild"))
    assert (code, json.loads(out)["views"]) == (0, list(REGISTRY))
