"""The proofs over real public logs: every built-in check with records is killed by its mutants on those records."""

from __future__ import annotations

from pathlib import Path

import pytest

from governance_pipeline.crosscheck import builtin_proof
from governance_pipeline.crosscheck.builtin import cross_checks
from governance_pipeline.crosscheck.builtin_proof import checks_that_cannot_fail
from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.round import read_files
from governance_pipeline.storage.content import ContentStore

REAL = Path(__file__).parents[3].parent / "shared" / "data" / "real"
FOLDERS = sorted(path.name for path in REAL.iterdir() if path.is_dir()) if REAL.is_dir() else []

pytestmark = pytest.mark.skipif(not FOLDERS, reason="no real logs beside the checkout (../shared/data/real)")


@pytest.mark.parametrize("name", FOLDERS)
def test_every_check_with_real_records_can_fail_on_them(tmp_path, monkeypatch, name):
    tables = read_files(scan(REAL / name), "r-1", ContentStore(tmp_path))
    declared, parts = tables.frame("core_declared"), tables.frame("core_components")
    checks = cross_checks(declared, parts, tables.frame("raw_quarantine"))
    proved = []
    honest = builtin_proof.prove

    def counted(run, records, policy):
        proof = honest(run, records, policy)
        proved.append(proof)
        return proof

    monkeypatch.setattr(builtin_proof, "prove", counted)
    assert checks_that_cannot_fail(declared, parts, checks).empty
    verifiable = checks[checks["status"] != "unverifiable"]
    assert {proof.check_id for proof in proved} == set(verifiable["check_id"])
    for proof in proved:
        sampled = min(200, int((verifiable["check_id"] == proof.check_id).sum()))
        assert proof.records == sampled, "each sampled record was shifted"
    print(name, len(proved), sum(proof.records for proof in proved), len(verifiable))  # noqa: T201 - shown with -s
