"""Claims about runs of large sources: what is held does not grow with the checks, and a changed source is noticed."""

from __future__ import annotations

import dataclasses
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from governance_pipeline.crosscheck import large_run as module
from governance_pipeline.crosscheck.batch import SourcesUnreadableError
from governance_pipeline.crosscheck.check_set import load_check_set
from governance_pipeline.crosscheck.guardian import judge
from governance_pipeline.crosscheck.large_run import run_large
from governance_pipeline.crosscheck.set_plan import opened_set
from governance_pipeline.vocabulary import RecordStatus

if TYPE_CHECKING:
    from pathlib import Path

CHECKS = 3


@pytest.fixture
def check_set(tmp_path: Path):
    names = range(CHECKS)
    pq.write_table(pa.table({"id": ["a", "b"], **{f"t{at}": [at, 0] for at in names}}), tmp_path / "d.parquet")
    pq.write_table(pa.table({"id": ["a", "b"], **{f"v{at}": [at, 0] for at in names}}), tmp_path / "l.parquet")
    head = (
        "schema: govern/checks/v1\nsources:\n  d: {path: d.parquet, key: id, role: declared}\n"
        "  l: {path: l.parquet, key: id, role: components}\nchecks:\n"
    )
    checks = (
        f"  - {{id: c{at}, field: total, declared: d.t{at}, recompute: 'sum(l.v{at})', data_type: integer, "
        "epsilon_reason: exact, escalate_to: owner}\n"
        for at in names
    )
    (tmp_path / "checks.yaml").write_text(head + "".join(checks))
    return load_check_set(tmp_path / "checks.yaml")


@pytest.fixture
def spill(tmp_path: Path) -> Path:
    folder = tmp_path / "spill"
    folder.mkdir()
    return folder


def test_at_no_time_are_two_checks_open_whatever_their_number(check_set, spill, monkeypatch):
    held, most = [], []

    @contextmanager
    def counted(check, *arguments):
        with opened_set(check, *arguments) as found:
            held.append(check.id)
            most.append(len(held))
            yield found
            held.remove(check.id)

    monkeypatch.setattr(module, "opened_set", counted)
    batch = run_large(check_set, spill=spill)
    assert set(batch.records) == {f"c{at}" for at in range(CHECKS)}
    assert max(most) == 1
    assert held == []


@pytest.mark.parametrize("name", ["d.parquet", "l.parquet"])
def test_a_source_replaced_before_its_rows_are_read_blocks_the_batch(check_set, spill, monkeypatch, name):
    path = check_set.sources["d"].file.parent / name
    read = module._read

    def replaced(*arguments):
        read(*arguments)
        table = pq.read_table(path)
        path.unlink()
        pq.write_table(table.slice(0, 1), path)

    monkeypatch.setattr(module, "_read", replaced)
    judgement = judge(run_large(check_set, spill=spill))
    assert judgement.is_blocked
    assert not judgement.structural_tests["silent_overwrite_rejected"]


def test_a_source_that_sql_cannot_read_any_more_is_read_row_by_row(check_set, spill, monkeypatch):
    source = check_set.sources["l"].file
    read = module._read

    def replaced(*arguments):
        read(*arguments)
        pq.write_table(pa.table({"id": ["a", None], **{f"v{at}": [at, 0] for at in range(CHECKS)}}), source)

    monkeypatch.setattr(module, "_read", replaced)
    batch = run_large(check_set, spill=spill)
    assert batch.records["c1"].statuses() == {RecordStatus.UNVERIFIABLE: 2}
    assert batch.accounts["l"].quarantined == 1


def test_a_source_that_is_no_parquet_any_more_when_it_is_hashed_is_unreadable(check_set, spill, monkeypatch):
    file = check_set.sources["d"].file

    def looked_at(run, check):
        result = found(run, check)
        file.write_bytes(b"PAR1 no more")
        return result

    found = module._is_set
    monkeypatch.setattr(module, "_is_set", looked_at)
    check_set = dataclasses.replace(check_set, checks=check_set.checks[:1])
    with pytest.raises(SourcesUnreadableError, match="changed_while_read"):
        run_large(check_set, spill=spill)
