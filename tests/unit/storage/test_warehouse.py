"""Users query the lake with SQL: exact, described, offline and read-only; rebuilding never disturbs a reader."""

from __future__ import annotations

import threading
import time
from decimal import Decimal
from functools import partial

import duckdb
import pandas as pd
import pytest

from governance_pipeline.contracts.registry import REGISTRY, descriptions_of, empty_frame
from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.storage import warehouse
from governance_pipeline.storage.lake import Lake
from governance_pipeline.storage.warehouse import query, rebuild, twins_of


def _open(path):
    return duckdb.connect(str(path), read_only=True)


def _written(lexemes, usage, lake):
    for line, text in enumerate(lexemes):
        lake.put("core_usage", f"r{line}", usage(f"r{line}", rows=1, cost_lexeme=text))
    rows = query(
        lake, "SELECT cost_lexeme_decimal AS exact, cost_lexeme_double AS near FROM core_usage ORDER BY round_id"
    )
    return [None if pd.isna(cell) else cell for cell in rows["exact"]], [
        None if pd.isna(cell) else cell for cell in rows["near"]
    ]


def test_an_empty_lake_has_every_view_with_the_columns_of_its_contract(lake):
    with _open(rebuild(lake)) as session:
        for table in REGISTRY:
            answer = session.execute(f'SELECT * FROM "{table}"')
            names = [column[0] for column in answer.description]
            assert [name for name in names if name not in twins_of(table)] == list(descriptions_of(table))
            assert answer.fetchall() == []
        assert session.execute("SELECT count(*) FROM duckdb_tables()").fetchone() == (0,)


def test_views_hold_all_rounds_and_carry_the_words_of_the_contract(lake, usage):
    for round_id in ("r1", "r2"):
        lake.put("core_usage", round_id, usage(round_id))
    with _open(rebuild(lake)) as session:
        total = session.execute("SELECT count(*), sum(input_tokens), sum(cost_usd) FROM core_usage").fetchone()
        assert total == (6, 6 * (2**53 + 1), Decimal("0.000000000000000006"))
        (comment,) = session.execute("SELECT comment FROM duckdb_views() WHERE view_name = 'core_usage'").fetchone()
        assert comment.startswith("One row per usage report of a log")
        comments = dict(
            session.execute(
                "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'core_usage'"
            ).fetchall()
        )
        assert comments["run_id"] == "Run."
        assert comments["cost_lexeme_decimal"] == "cost_lexeme as DECIMAL(38, 18); null where that is not exact."


def test_the_file_has_no_rows_of_its_own_and_leaves_no_log_behind(lake, usage):
    lake.put("core_usage", "r1", usage())
    (lake.root / "governance.duckdb.wal").write_bytes(b"of a replaced file")
    path = rebuild(lake)
    assert path == lake.root / "governance.duckdb"
    assert sorted(entry.name for entry in lake.root.glob("governance*")) == ["governance.duckdb"]
    assert list((lake.root / "building").iterdir()) == []


def test_a_reader_that_has_the_file_open_keeps_it_and_blocks_nobody(lake, usage):
    lake.put("core_usage", "r1", usage())
    with _open(rebuild(lake)) as session:
        lake.put("core_usage", "r2", usage("r2"))
        rebuild(lake)
        assert session.execute("SELECT count(*) FROM core_usage").fetchone() == (3,)
    with _open(rebuild(lake)) as session:
        assert session.execute("SELECT count(*) FROM core_usage").fetchone() == (6,)


def test_rebuilds_at_the_same_time_all_succeed(lake, usage):
    lake.put("core_usage", "r1", usage())
    failures = []

    def run():
        try:
            rebuild(Lake(lake.root))
        except Exception as error:  # noqa: BLE001 - a thread has nowhere else to put it
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with _open(lake.root / "governance.duckdb") as session:
        assert session.execute("SELECT count(*) FROM core_usage").fetchone() == (3,)


def test_what_a_killed_rebuild_left_behind_is_cleared(lake, usage):
    lake.put("core_usage", "r1", usage())
    (lake.root / "building" / "governance.duckdb.tmp").mkdir(parents=True)
    (lake.root / "building" / "governance.duckdb").write_bytes(b"half a database")
    with _open(rebuild(lake)) as session:
        assert session.execute("SELECT count(*) FROM core_usage").fetchone() == (3,)


def test_a_file_that_cannot_be_read_stops_the_rebuild_and_the_old_database_stays(lake, usage):
    lake.put("core_usage", "r1", usage())
    rebuild(lake)
    before = (lake.root / "governance.duckdb").read_bytes()
    lake.path("core_usage", "r1").write_bytes(b"")
    with pytest.raises(StorageError, match=r"is no readable Parquet file.*make core_usage again"):
        rebuild(lake)
    with pytest.raises(StorageError):
        query(lake, "SELECT * FROM core_usage")
    assert (lake.root / "governance.duckdb").read_bytes() == before


def test_a_decimal_twin_is_exact_or_null_and_never_rounded(lake, usage):
    exact, near = _written(
        ["1.50", "-0.1", "0.000000000000000001", "0.0000000000000000001", "12345678901234567890", "1e3", None],
        usage,
        lake,
    )
    assert exact == [
        Decimal("1.5"),
        Decimal("-0.1"),
        Decimal("0.000000000000000001"),
        None,
        Decimal(12345678901234567890),
        None,
        None,
    ]
    assert near == [1.5, -0.1, 1e-18, 1e-19, 12345678901234567890.0, 1000.0, None]


def test_what_is_no_finite_number_has_no_twin(lake, usage):
    exact, near = _written(["NaN", "Infinity", "1e999", " 12 ", "1_000", "0x10", "", "twelve", "1.5\n"], usage, lake)
    assert set(exact) == {None}
    assert set(near) == {None}


def test_a_query_gives_exact_decimals_nullable_integers_and_utc(lake, usage):
    lake.put("core_usage", "r1", usage(rows=2))
    rows = query(
        lake,
        'SELECT sum(cost_usd) AS cost, sum(input_tokens) AS tokens, max("at") AS last, max(output_tokens) AS none, '
        "any_value(run_id) AS run FROM core_usage WHERE line >= $line",
        {"line": 1},
    )
    assert rows["cost"].iloc[0] == Decimal("0.000000000000000002")
    assert int(rows["tokens"].iloc[0]) == 2 * (2**53 + 1)
    assert rows["last"].iloc[0] == pd.Timestamp("2026-11-30T23:59:59.123456Z")
    assert [str(dtype) for dtype in rows.dtypes[2:]] == ["datetime64[us, UTC]", "Int64", "string"]


def test_a_table_without_files_is_empty_and_typed(lake):
    pd.testing.assert_frame_equal(query(lake, "SELECT * FROM core_runs"), empty_frame("core_runs"))


def test_frames_can_stand_in_for_tables_and_join_them(lake, usage):
    lake.put("core_usage", "r1", usage())
    wanted = pd.DataFrame({"line": pd.array([2], dtype="Int64")})
    joined = query(lake, "SELECT line FROM core_usage JOIN wanted USING (line)", frames={"wanted": wanted})
    assert list(joined["line"]) == [2]
    instead = query(lake, "SELECT count(*) AS n FROM core_usage", frames={"core_usage": usage(rows=7)})
    assert list(instead["n"]) == [7]


def test_field_names_and_texts_from_logs_are_values_and_never_sql(lake, usage):
    hostile = "x'); DROP VIEW core_usage; --"
    lake.put("core_usage", "r1", usage(rows=1, model_id=hostile))
    assert list(query(lake, "SELECT model_id FROM core_usage WHERE model_id = ?", [hostile])["model_id"]) == [hostile]


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "SELECT 1; SELECT 2",
        "CREATE TABLE t AS SELECT 1",
        "COPY (SELECT 1) TO 'out.csv'",
        "ATTACH 'other.duckdb'",
        "SET threads = 1",
        "PRAGMA version",
        "INSTALL httpfs",
        "LOAD httpfs",
        "CALL pragma_version()",
        "EXPLAIN ANALYZE SELECT 1",
    ],
)
def test_anything_but_one_select_is_refused(lake, sql):
    with pytest.raises(UsageError, match="exactly one SELECT; the lake is read only"):
        query(lake, sql)


@pytest.mark.parametrize(
    "call",
    [
        "read_csv('/etc/passwd')",
        "read_text('/etc/hostname')",
        "read_blob('{root}/core_usage/../secret')",
        "read_blob('{root}/files/*')",
        "read_parquet('https://example.org/x.parquet')",
        "glob('/etc/*')",
        "sqlite_scan('{root}/core_usage/x.db', 't')",
    ],
)
def test_a_query_reaches_no_file_outside_its_tables(lake, usage, call):
    lake.put("core_usage", "r1", usage())
    (lake.root / "secret").write_text("secret")
    with pytest.raises(UsageError, match="DuckDB refuses the query"):
        query(lake, f"SELECT core_usage.run_id FROM core_usage, {call.format(root=lake.root)} AS other")


@pytest.mark.parametrize("sql", ["SELECT nothing FROM core_usage", "SELEC 1", "SELECT * FROM core_usages", "SELECT ?"])
def test_a_query_sql_refuses_is_a_usage_error(lake, sql):
    with pytest.raises(UsageError):
        query(lake, sql)


def test_a_root_with_quotes_and_glob_characters_is_taken_literally(tmp_path, usage):
    decoy = Lake(tmp_path / "la")
    lake = Lake(tmp_path / "l[ab]* it's")
    decoy.put("core_usage", "r1", usage(rows=9))
    lake.put("core_usage", "r1", usage(rows=2))
    assert list(query(lake, "SELECT count(*) AS n FROM core_usage")["n"]) == [2]
    with _open(rebuild(lake)) as session:
        assert session.execute("SELECT count(*) FROM core_usage").fetchone() == (2,)


def test_the_time_zone_of_the_machine_does_not_matter(lake, usage, monkeypatch):
    lake.put("core_usage", "r1", usage(rows=1))
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    time.tzset()
    try:
        rows = query(lake, """SELECT "at", date_trunc('day', "at")::VARCHAR AS day FROM core_usage""")
        read = lake.get("core_usage", "r1")["at"]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert [str(cell) for cell in (rows["at"].iloc[0], read.iloc[0])] == ["2026-11-30 23:59:59.123456+00:00"] * 2
    assert rows["day"].iloc[0] == "2026-11-30 00:00:00+00"


def test_more_files_than_the_threshold_are_compacted_by_a_rebuild(lake, usage, monkeypatch):
    for number in range(3):
        lake.put("core_usage", f"r{number}", usage(f"r{number}"))
    monkeypatch.setattr(warehouse, "compact", partial(warehouse.compact, above=2))
    with _open(rebuild(lake)) as session:
        assert session.execute("SELECT count(DISTINCT round_id), count(*) FROM core_usage").fetchone() == (3, 9)
    assert (lake.root / "core_usage" / "compacted" / "current").is_file()
