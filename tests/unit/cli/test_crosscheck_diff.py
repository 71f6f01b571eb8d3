"""Claims about `govern crosscheck diff`: files it refuses, what it prints, and the exit codes."""

from __future__ import annotations

import json
import os
from importlib import resources

import duckdb
import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.strict.files import digest_file

SCHEMA = json.loads(
    (resources.files("governance_pipeline.crosscheck") / "schemas" / "dataset-diff-v1.json").read_text("utf-8")
)
OLD = "id,price,note\n1,10.00,a\n2,5.00,b\n3,1.00,\n"
NEW = "id,price,note\n3,1.00,x\n1,10.004,a\n4,9.00,d\n"


@pytest.fixture
def govern(capsys):
    """Return a function that runs the command and gives exit code, stdout and stderr."""

    def call(*arguments: object):
        code = run(["crosscheck", "diff", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def files(tmp_path):
    """Return two CSV files that differ in a price, a note, a row added and a row removed."""
    (tmp_path / "old.csv").write_text(OLD)
    (tmp_path / "new.csv").write_text(NEW)
    return tmp_path / "old.csv", tmp_path / "new.csv"


def document(govern, *arguments):
    code, out, _ = govern(*arguments, "--json")
    found = json.loads(out)
    jsonschema.validate(found, SCHEMA)
    return code, found


def test_every_kind_of_difference_is_in_page_and_document(govern, files):
    code, out, _ = govern(*files, "--key", "id")
    assert code == 1
    assert "0 rows identical, 2 divergent, 1 only in OLD, 1 only in NEW  (exit 1)" in out
    assert "null" in out
    code, found = document(govern, *files, "--key", "id")
    assert code == 1
    assert found["rows"] == {"identical": 0, "within_tolerance": 0, "divergent": 2, "only_old": 1, "only_new": 1}
    assert found["columns"][1]["examples"] == [{"key": ["3"], "old": None, "new": "x"}]
    assert (found["examples_only_old"], found["examples_only_new"]) == ([["2"]], [["4"]])
    assert found["old"]["sha256"] == digest_file(files[0]).sha256
    assert govern(*files, "--key", "id", "--fail-on", "never")[0] == 0
    assert document(govern, *files, "--key", "id", "--screen")[1]["method"] == "screened"


def test_a_tolerance_is_shown_with_its_reason_and_never_hides_how_many_rows_it_covers(govern, files):
    allowed = "price=0.005:rounded to cents: a=b"
    code, found = document(govern, *files, "--key", "id", "--tolerance", allowed)
    assert code == 1
    price = found["columns"][0]
    assert (price["divergent"], price["within_tolerance"], price["epsilon"]) == (0, 1, 0.005)
    assert price["epsilon_reason"] == "rounded to cents: a=b"
    assert "1 rows within 0.005 (rounded to cents: a=b)" in govern(*files, "--key", "id", "--tolerance", allowed)[1]


@pytest.mark.parametrize("text", ["price=0.005", "price=0.005: ", "price=x:why", "=", "price=-1:why", "none=1:why"])
def test_a_tolerance_without_reason_number_or_column_is_a_usage_error(govern, files, text):
    code, out, err = govern(*files, "--key", "id", "--tolerance", text)
    assert (code, out) == (2, "")
    assert err


def test_equal_tables_in_other_order_are_clean(govern, tmp_path, files):
    lines = OLD.splitlines()
    (tmp_path / "again.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    assert govern(files[0], tmp_path / "again.csv", "--key", "id")[0] == 0
    code, found = document(govern, files[0], tmp_path / "again.csv", "--key", "id")
    assert (code, found["is_same"]) == (0, True)


@pytest.mark.parametrize(
    ("key", "code", "reason"),
    [("rowid", 2, "key_is_position"), ("none", 2, "key_missing"), ("note", 3, "key_null"), ("k", 3, "key_duplicate")],
)
def test_a_key_that_cannot_be_used_is_refused_with_its_reason(govern, tmp_path, key, code, reason):
    (tmp_path / "t.csv").write_text("id,note,k\n1,a,s\n2,,s\n")
    found = document(govern, tmp_path / "t.csv", tmp_path / "t.csv", "--key", key)
    assert (found[0], found[1]["reason_code"], found[1]["is_same"]) == (code, reason, None)
    assert reason in govern(tmp_path / "t.csv", tmp_path / "t.csv", "--key", key)[1]


def test_a_key_of_several_columns_may_have_commas_in_their_names(govern, tmp_path):
    (tmp_path / "t.csv").write_text('"a,b",c,v\n1,1,x\n1,2,y\n')
    code, found = document(govern, tmp_path / "t.csv", tmp_path / "t.csv", "--key", '"a,b",c')
    assert (code, found["key"]) == (0, ["a,b", "c"])
    assert govern(tmp_path / "t.csv", tmp_path / "t.csv", "--key", '"a')[0] == 2
    assert govern(tmp_path / "t.csv", tmp_path / "t.csv", "--key", "")[0] == 2


@pytest.mark.parametrize(
    "text", ["", "\n", "id,v\n1\n", "id,v\n1,2,3\n", 'id,v\n1,"x\n', "id,id\n1,2\n", b"id,v\n1,\xff\n"]
)
def test_a_csv_that_is_not_sound_is_unreadable_and_no_row_is_dropped(govern, tmp_path, files, text):
    (tmp_path / "t.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    code, out, err = govern(tmp_path / "t.csv", files[1], "--key", "id")
    assert (code, out) == (3, "")
    assert "t.csv" in err


def test_only_regular_files_of_the_three_formats_are_read(govern, tmp_path, files):
    os.mkfifo(tmp_path / "fifo.csv")
    (tmp_path / "link.csv").symlink_to(files[0])
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no")
    (tmp_path / "bad.duckdb").write_bytes(b"no")
    for name in ("fifo.csv", "link.csv", "none.csv", "bad.parquet", "bad.duckdb"):
        assert govern(tmp_path / name, files[1], "--key", "id")[0] == 3, name
    (tmp_path / "t.json").write_text("{}")
    assert govern(tmp_path / "t.json", files[1], "--key", "id")[0] == 2
    assert govern(files[0], files[1], "--key", "id", "--old-table", "t")[0] == 2


def test_tables_of_duckdb_files_are_read_and_left_as_they_are(govern, tmp_path, files):
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE a AS SELECT 1 AS id, 2 AS v; CREATE TABLE b AS SELECT 1 AS id, 3 AS v")
    before = digest_file(path), path.stat().st_mtime_ns
    assert govern(path, path, "--key", "id")[0] == 2
    assert govern(path, path, "--key", "id", "--old-table", "a")[0] == 0
    code, found = document(govern, path, path, "--key", "id", "--old-table", "a", "--new-table", "b")
    assert (code, found["new"]["table"]) == (1, "b")
    assert (digest_file(path), path.stat().st_mtime_ns) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new.csv", "old.csv", "t.duckdb"]


def test_a_database_with_unwritten_changes_is_refused(govern, tmp_path):
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE a AS SELECT 1 AS id")
    (tmp_path / "t.duckdb.wal").write_bytes(b"x")
    code, _, err = govern(path, path, "--key", "id")
    assert code == 3
    assert "write-ahead log" in err


def test_text_of_a_table_never_steers_the_terminal(govern, tmp_path):
    hostile = "\x1b[31m[red]\u202e"
    for name, value in (("old", 1), ("new", 2)):
        cells = {"id": [hostile], hostile: [f"{hostile}{value}"]}
        pq.write_table(pa.table(cells), tmp_path / f"{name}.parquet")
    for arguments in ((), ("--json",)):
        code, out, err = govern(tmp_path / "old.parquet", tmp_path / "new.parquet", "--key", "id", *arguments)
        assert code == 1
        assert "\x1b" not in out + err
        assert "\u202e" not in out + err
    assert "[red]" in out


def test_csv_and_parquet_are_compared_by_value_with_the_change_of_type_shown(govern, tmp_path):
    pq.write_table(pa.table({"id": ["1", "2"], "v": [1.5, 2.0]}), tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("id,v\n1,1.50\n2,2\n")
    code, found = document(govern, tmp_path / "t.csv", tmp_path / "t.parquet", "--key", "id")
    assert (code, found["rows"]["identical"]) == (1, 2)
    assert (found["columns"][0]["old_type"], found["columns"][0]["new_type"]) == ("VARCHAR", "DOUBLE")
