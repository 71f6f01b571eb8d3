"""Claims about public agent logs: edits found in them give a surface that is finite, or unknown with its reason."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from governance_pipeline.contracts.registry import validate
from governance_pipeline.ingest.planning import plan_import
from governance_pipeline.ingest.round import read_files
from governance_pipeline.pipeline import joined
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.round_features import round_features
from governance_pipeline.trajectory.step_surface import COLUMN_OF, step_surface

LOGS = Path(__file__).parents[3].parent / "shared" / "data" / "real"
FOLDERS = ["claude_code", "openhands", "swe_agent"]

pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason="the public logs are not beside this checkout")


@pytest.fixture(scope="module", params=FOLDERS)
def surface(request, tmp_path_factory):
    """Read one folder of logs; gives its tables and its step surface."""
    store = ContentStore(tmp_path_factory.mktemp("lake"))
    plan = plan_import([LOGS / request.param])
    read = [read_files([file.found() for file in planned.files], planned.round_id, store).frames for planned in plan]
    tables = {table: joined(table, [frames[table] for frames in read]) for table in read[0]}
    return tables, validate("features_step_surface", step_surface(tables))


def test_every_step_with_edits_has_a_row_with_finite_numbers_or_reasons(surface):
    tables, frame = surface
    rows = list(rows_of(frame))
    edits = tables["core_file_changes"][["round_id", "run_id", "step_index"]].drop_duplicates()
    assert len(rows) == len(edits) > 0
    for row in rows:
        known = {term: row[column] for term, column in COLUMN_OF.items() if row[column] is not None}
        assert all(math.isfinite(value) for value in known.values())
        assert set(json.loads(row["unknown"])) == set(COLUMN_OF) - set(known)
        assert row["files_count"] >= 1
        assert row["origin"] == "log"


def test_only_what_a_contract_would_say_and_unread_lines_are_unknown(surface):
    _, frame = surface
    reasons = {reason for text in frame["unknown"] for reason in json.loads(text).values()}
    assert reasons <= {"no_contract", "churn_unknown"}
    assert frame["churn_count"].notna().sum() >= len(frame) - 1


def test_steps_are_numbered_without_gaps_and_rounds_say_how_many_steps_are_opaque(surface):
    tables, frame = surface
    rounds = validate("features_round", round_features({**tables, "features_step_surface": frame}))
    assert set(rounds["step_gaps"]) == {"[]"}
    assert rounds["steps_count"].sum() == len(frame)
    assert rounds["opaque_steps_count"].sum() == tables["core_runs"]["opaque_step_count"].sum()
