"""GenAI spans over real public exports: every span read, every call once, every doubled number checked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks
from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.round import read_files
from governance_pipeline.storage.content import ContentStore

SHARED = Path(__file__).parents[2].parent / "shared"
REAL = SHARED / "data" / "real" / "otel_genai"

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="no real logs beside the checkout (../shared/data/real)")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return read_files(scan(REAL), "r-1", ContentStore(tmp_path_factory.mktemp("lake")))


def test_every_export_is_read_and_no_record_disappears(tables):
    for row in tables.rows("raw_log_files"):
        is_list = row["path"] == "manifest.csv"
        assert (row["format"], row["reason_code"]) == (
            (None, "unsupported_format") if is_list else ("otel_genai", None)
        )
        assert row["lines_in"] == row["accepted"] + row["quarantined"] + row["blank"] + row["duplicates"]
        assert is_list or row["quarantined"] == 0
    assert sum(row["lines_in"] for row in tables.rows("raw_log_files")) == 53


def test_each_call_is_counted_once(tables):
    usage = list(tables.rows("core_usage"))
    counted = Counter(row["path"].partition("_")[0].partition("-sdk")[0] for row in usage)
    assert counted == {"any-agent": 15, "vercel-ai": 5}
    assert sum(r["input_tokens"] for r in usage if r["path"] == "any-agent_AGNO_trace.json") == 395 + 483 + 518
    assert all((row["cost_usd"] is not None) == row["path"].startswith("any-agent") for row in usage)


def test_spans_of_visual_studio_carry_no_usage_and_have_their_agents(tables):
    runs = [row for row in tables.rows("core_runs") if row["path"].startswith("sample-")]
    assert [(row["agent_id"], row["opaque_step_count"]) for row in runs] == [("GitHub Copilot", n) for n in (2, 2, 0)]
    assert len({row["run_id"] for row in runs}) == 3


def test_every_number_written_twice_is_checked(tables):
    names = ("core_declared", "core_components", "raw_quarantine")
    checks = cross_checks(*(tables.frame(name) for name in names))
    assert Counter(zip(checks["status"], checks["reason_code"].fillna(""), strict=True)) == {
        ("match", ""): 10,
        ("unverifiable", "components_missing"): 9,
    }
