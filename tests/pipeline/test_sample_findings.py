"""What the pipeline finds in data/sample is what the generator planted: no more, no less, none skipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from governance_pipeline.auditing import audit_plan
from governance_pipeline.ingest.planning import plan_import
from governance_pipeline.pipeline import TABLES
from governance_pipeline.verdict.detectors import DETECTORS

if TYPE_CHECKING:
    import pandas as pd

ROOT = Path(__file__).parents[2]
EXPECTED = json.loads((ROOT / "data" / "sample" / "expected.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    """Run the whole pipeline once over the sample, in memory."""
    plan = plan_import([ROOT / "data" / "sample" / "rounds"])
    return audit_plan(plan, tmp_path_factory.mktemp("audit"), keep=False, on_round=lambda: None)


def _label(fault: dict) -> str:
    return f"{fault['round_id']}-{fault['fault']}-{fault['table']}-{fault.get('id', '')}"


def _is_today(fault: dict) -> bool:
    return fault["where"].get("code") not in EXPECTED["codes_later"]


@pytest.mark.parametrize("fault", [f for f in EXPECTED["faults"] if _is_today(f)], ids=_label)
def test_a_planted_fault_is_found_where_it_was_planted(tables, fault):
    rows = tables[fault["table"]]
    rows = rows[rows["round_id"] == fault["round_id"]]
    for column, value in fault["where"].items():
        cells = rows[column]
        rows = rows[cells.isna() if value is None else (cells.notna() & (cells == value).fillna(value=False))]
    assert len(rows) == fault["count"], fault["why"]


def test_a_code_of_later_work_has_no_detector_yet():
    """When it gets one, it leaves the list, and its faults are compared like all others."""
    shipped = {detector.code for detector in DETECTORS}
    assert set(EXPECTED["codes_later"]) & shipped == set()
    assert set(EXPECTED["tables_today"]) <= set(TABLES)


@pytest.mark.parametrize("round_id", EXPECTED["cross_checks"])
def test_declared_aggregates_have_the_promised_statuses(tables, round_id):
    checks = tables["audit_cross_checks"]
    checks = checks[(checks["round_id"] == round_id) & ~checks["check_id"].str.startswith("changes_")]
    promised = {status: n for status, n in EXPECTED["cross_checks"][round_id].items() if n is not None}
    assert {status: int((checks["status"] == status).sum()) for status in promised} == promised


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
    of_rounds = {name: frame for name, frame in tables.items() if "round_id" in frame}
    clean = {name: frame[frame["round_id"].isin(EXPECTED["clean_rounds"])] for name, frame in of_rounds.items()}
    assert set(clean["audit_cross_checks"]["status"]) == {"match"}
    assert clean["raw_quarantine"].empty
    assert set(clean["core_rounds"]["contract_state"]) == {"valid"}
    assert len(clean["core_rounds"]) == len(EXPECTED["clean_rounds"])


def test_nothing_disappears_in_the_sample(tables):
    files = tables["raw_log_files"]
    fates = files[["accepted", "quarantined", "blank", "duplicates"]].sum(axis=1)
    assert (files["lines_in"] == fates).all()
