"""Approvals and verdicts that public logs of OpenHands, SWE-agent and mini-SWE-agent record: few, and none invented."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.round import read_files
from governance_pipeline.storage.content import ContentStore

REAL = Path(__file__).parents[2].parent / "shared" / "data" / "real"

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="no real logs beside the checkout (../shared/data/real)")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("swe_agent", {}),
        (
            "openhands",
            {
                ("mode", None, "NeverConfirm"): 1,
                ("review", "model", "success: true"): 2,
                ("review", "rule", "correct: true"): 63,
                ("review", "rule", "correct: false"): 17,
            },
        ),
    ],
)
def test_a_folder_records_these_approvals_and_no_others(tmp_path, name, expected):
    tables = read_files(scan(REAL / name), "r-1", ContentStore(tmp_path))
    found = Counter((row["kind"], row["by"], row["result"]) for row in tables.rows("core_approvals"))
    assert found == expected
