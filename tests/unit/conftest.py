"""Shared by unit tests of several packages: a lake with rounds of cohorts, and passkeys in software."""

from __future__ import annotations

import importlib.util
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from governance_pipeline.contracts.registry import frame_of, validate
from governance_pipeline.storage.lake import Lake
from governance_pipeline.trajectory.cohort_tables import BASELINE_TABLE, CONFORMAL_TABLE, cohort_baselines, conformal
from governance_pipeline.trajectory.formulas import EPSILON, FEATURE_VERSION
from governance_pipeline.trajectory.formulas import metadata as formulas_metadata
from governance_pipeline.trajectory.stored_cohorts import cohort_digests, read_cohort_tables, store_cohorts

START = datetime(2026, 1, 1, tzinfo=UTC)


def put_round(lake: Lake, round_id: str, day: int | None, value: float | None, cohort: str | None = "c") -> None:
    """Store what cohorts read of a round: it ended so many days after the start and accumulated `value`."""
    core = {
        "round_id": round_id, "contract_state": "valid", "contract_sha256": "a" * 64, "runs_count": 0,
        "cohort": cohort, "ended_at": None if day is None else START + timedelta(days=day),
    }  # fmt: skip
    features = {
        "round_id": round_id, "origin": "native", "contract_state": "valid", "steps_count": 1, "step_gaps": "[]",
        "repeated_steps": "[]", "aus_known_steps_count": 1, "quarantined_changes_count": 0,
        "quarantined_evidence_count": 0, "opaque_steps_count": 0, "feature_version": FEATURE_VERSION,
        "epsilon": EPSILON, "aus_round": value, "largest_s": value,
    }  # fmt: skip
    lake.put("core_rounds", round_id, frame_of("core_rounds", [core]))
    lake.put("features_round", round_id, frame_of("features_round", [features]), formulas_metadata())


def refresh(lake: Lake) -> None:
    """Make the cohort tables of all rounds of a lake and store them."""
    digests = cohort_digests(lake)
    tables = read_cohort_tables(lake, digests)
    for table, make in {BASELINE_TABLE: cohort_baselines, CONFORMAL_TABLE: conformal}.items():
        store_cohorts(lake, table, validate(table, make(tables)), digests, formulas_metadata())


class CohortLake(Lake):
    """A lake whose rounds a test writes."""

    put_round = put_round
    refresh = refresh


@pytest.fixture
def cohort_lake(tmp_path) -> CohortLake:
    """Give an empty lake with `put_round` and `refresh`."""
    return CohortLake(tmp_path / "lake")


@pytest.fixture(scope="session")
def software_passkey():
    """Give the module of the authenticator in software."""
    name = "software_passkey"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]
