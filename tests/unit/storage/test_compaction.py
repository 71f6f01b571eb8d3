"""A compacted file saves time and decides nothing: with it, without it or with a stale one, the rows are the same."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from governance_pipeline.contracts.core_usage import CoreUsage
from governance_pipeline.errors import StorageError
from governance_pipeline.storage.compaction import compact, compaction_fault, sources_of
from governance_pipeline.storage.versions import Versions
from governance_pipeline.storage.warehouse import query
from governance_pipeline.strict.files import digest_file

ROWS = "SELECT * EXCLUDE (cost_lexeme_decimal, cost_lexeme_double) FROM core_usage ORDER BY round_id, line"


@pytest.fixture
def building(lake):
    folder = lake.root / "building"
    with lake.writer.folder(folder):
        return folder


@pytest.fixture
def filled(lake, usage):
    for number in range(5):
        lake.put("core_usage", f"r{number}", usage(f"r{number}", rows=number))
    return lake


def test_few_files_are_left_alone(filled, building):
    assert not compact(filled, "core_usage", building, above=5)
    assert not compact(filled, "core_runs", building, above=0)
    assert len(sources_of(filled, "core_usage").files) == 5


def test_many_files_become_one_with_the_same_rows(filled, building):
    before = query(filled, ROWS)
    assert compact(filled, "core_usage", building, above=4)
    sources = sources_of(filled, "core_usage")
    assert (sources.files, sources.replaced) == ((), ())
    assert sources.compacted is not None
    pd.testing.assert_frame_equal(query(filled, ROWS), before)
    assert not compact(filled, "core_usage", building, above=4), "nothing is loose any more"
    assert list(building.iterdir()) == []


def test_a_compacted_file_that_shows_other_rows_is_named(filled, building, usage):
    assert compaction_fault(filled, "core_usage") is None
    compact(filled, "core_usage", building, above=4)
    assert compaction_fault(filled, "core_usage") is None
    filled.put("core_usage", "r1", usage("r1", rows=9))
    assert compaction_fault(filled, "core_usage") is None, "a round that was replaced since is not shown"
    honest = sources_of(filled, "core_usage").compacted
    rows = pq.read_table(honest)
    versions = Versions(honest.parent)
    for forged in (rows.slice(0, len(rows) - 1), pa.concat_tables([rows, rows.slice(len(rows) - 1)])):
        path = building / "forged.parquet"
        pq.write_table(forged.replace_schema_metadata(rows.schema.metadata), path)
        digest = digest_file(path).sha256
        filled.writer.take(path, versions.path(digest))
        versions.point(digest, filled.writer)
        assert "shows other rows of round" in compaction_fault(filled, "core_usage")
    versions.path(digest).write_bytes(b"PAR1")
    assert compaction_fault(filled, "core_usage") is None, "no view opens it"


def test_rounds_replaced_or_added_since_are_read_from_their_own_files(filled, building, usage):
    compact(filled, "core_usage", building, above=4)
    filled.put("core_usage", "r1", usage("r1", rows=9, run_id="again"))
    filled.put("core_usage", "r9", usage("r9", rows=1))
    sources = sources_of(filled, "core_usage")
    assert [path.parent.name for path in sources.files] == ["round=r1", "round=r9"]
    assert sources.replaced == ("r1",)
    counts = query(filled, "SELECT round_id, count(*) AS n FROM core_usage GROUP BY ALL ORDER BY ALL")
    assert dict(zip(counts["round_id"], counts["n"], strict=True)) == {"r1": 9, "r2": 2, "r3": 3, "r4": 4, "r9": 1}


def test_a_table_put_back_as_it_was_is_read_from_the_compacted_file_again(filled, building, usage):
    compact(filled, "core_usage", building, above=4)
    filled.put("core_usage", "r1", usage("r1", rows=9))
    filled.put("core_usage", "r1", usage("r1", rows=1))
    assert sources_of(filled, "core_usage").files == ()


@pytest.mark.parametrize("damage", ["gone", "emptied", "other version", "no pointer", "bad pointer"])
def test_a_compacted_file_that_cannot_serve_is_passed_over(filled, building, damage, monkeypatch, usage):
    before = query(filled, ROWS)
    compact(filled, "core_usage", building, above=4)
    path = sources_of(filled, "core_usage").compacted
    if damage == "gone":
        path.unlink()
    elif damage == "emptied":
        path.write_bytes(b"")
    elif damage == "no pointer":
        (path.parent / "current").unlink()
    elif damage == "bad pointer":
        (path.parent / "current").write_bytes(b"x")
    else:
        monkeypatch.setitem(CoreUsage.Config.metadata, "version", 2)
        for number in range(5):
            filled.put("core_usage", f"r{number}", usage(f"r{number}", rows=number))
    assert len(sources_of(filled, "core_usage").files) == 5
    pd.testing.assert_frame_equal(query(filled, ROWS), before)


def test_a_damaged_round_is_never_copied_into_a_compacted_file(filled, building):
    path = filled.path("core_usage", "r3")
    data = path.read_bytes()
    path.write_bytes(data[:60] + bytes([data[60] ^ 1]) + data[61:])
    with pytest.raises(StorageError, match="is damaged"):
        compact(filled, "core_usage", building, above=4)
    assert sources_of(filled, "core_usage").compacted is None


def test_a_round_made_under_another_version_is_named_with_what_to_do(filled, monkeypatch):
    monkeypatch.setitem(CoreUsage.Config.metadata, "version", 2)
    with pytest.raises(StorageError, match=r"core_usage version 1, this program reads core_usage version 2; make the"):
        sources_of(filled, "core_usage")


def test_compacting_twice_gives_the_same_file(filled, building, usage):
    compact(filled, "core_usage", building, above=4)
    first = sources_of(filled, "core_usage").compacted
    filled.put("core_usage", "r1", usage("r1", rows=9))
    compact(filled, "core_usage", building, above=0)
    filled.put("core_usage", "r1", usage("r1", rows=1))
    compact(filled, "core_usage", building, above=0)
    assert sources_of(filled, "core_usage").compacted == first
