"""What the pipeline finds in data/sample is what the generator planted: no more, no less, none skipped."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from governance_pipeline.ingest.planning import plan_import
from governance_pipeline.pipeline import TABLES
from governance_pipeline.workspace import audit_plan

if TYPE_CHECKING:
    import pandas as pd

ROOT = Path(__file__).parents[2]
EXPECTED = json.loads((ROOT / "data" / "sample" / "expected.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    """Run the whole pipeline once over the sample, in memory."""
    plan = plan_import([ROOT / "data" / "sample" / "rounds"])
    return audit_plan(plan, tmp_path_factory.mktemp("audit"), keep=False, on_round=lambda: None)


@cache
def _today() -> frozenset[str]:
    return frozenset(TABLES)


def _label(fault: dict) -> str:
    return f"{fault['round_id']}-{fault['fault']}-{fault['table']}-{fault.get('id', '')}"


@pytest.mark.parametrize("fault", [f for f in EXPECTED["faults"] if f["table"] in TABLES], ids=_label)
def test_a_planted_fault_is_found_where_it_was_planted(tables, fault):
    rows = tables[fault["table"]]
    rows = rows[rows["round_id"] == fault["round_id"]]
    for column, value in fault["where"].items():
        cells = rows[column]
        rows = rows[cells.isna() if value is None else (cells.notna() & (cells == value).fillna(value=False))]
    assert len(rows) == fault["count"], fault["why"]


def test_every_fault_belongs_to_a_table_of_today_or_is_marked_as_later():
    unmarked = {f["table"] for f in EXPECTED["faults"]} - _today() - set(EXPECTED["tables_later"])
    assert unmarked == set()
    assert set(EXPECTED["tables_today"]) <= _today()
    assert set(EXPECTED["tables_later"]) & _today() == set(), "a table of today is still marked as later"


def test_nothing_but_the_planted_faults_is_found(tables):
    planted = {f["round_id"] for f in EXPECTED["faults"]}
    checks, hashes = tables["audit_cross_checks"], tables["audit_integrity"]
    broken = tables["raw_quarantine"]
    found = {
        *checks.loc[checks["status"] != "match", "round_id"],
        *hashes.loc[hashes["status"] != "match", "round_id"],
        *broken.loc[broken["reason_code"] != "unsupported_format", "round_id"],
    }
    assert found - planted == set()


def test_clean_rounds_are_clean(tables):
    clean = {name: frame[frame["round_id"].isin(EXPECTED["clean_rounds"])] for name, frame in tables.items()}
    assert set(clean["audit_cross_checks"]["status"]) == {"match"}
    assert clean["raw_quarantine"].empty
    assert set(clean["core_rounds"]["contract_state"]) == {"valid"}
    assert len(clean["core_rounds"]) == len(EXPECTED["clean_rounds"])


def test_nothing_disappears_in_the_sample(tables):
    files = tables["raw_log_files"]
    fates = files[["accepted", "quarantined", "blank", "duplicates"]].sum(axis=1)
    assert (files["lines_in"] == fates).all()
