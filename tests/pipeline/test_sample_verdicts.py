"""Verdicts of the sample: clean rounds pass, and each planted fault leads where the policy says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from governance_pipeline.ingest.round import read_round
from governance_pipeline.pipeline import run_in_memory
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.verdict.document_schema import document_fault

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
EXPECTED = json.loads((SAMPLE / "expected.json").read_text("utf-8"))
FINAL_CLEAN = {"atlas-0010", "billing-0001", "parser-0002"}
STATUS = {
    "atlas-0003": "unknown", "atlas-0004": "unknown", "atlas-0005": "pass", "atlas-0006": "unknown",
    "atlas-0007": "unknown", "atlas-0008": "unknown", "atlas-0009": "warn", "atlas-0011": "unknown",
    "atlas-0012": "block", "billing-0003": "warn", "billing-0004": "block", "billing-0005": "block",
    "billing-0007": "warn", "billing-0008": "block", "billing-0009": "unknown", "billing-0010": "block",
    "parser-0004": "warn", "parser-0006": "unknown", "parser-0008": "unknown",
}  # fmt: skip
"""Status of each round with a fault that a detector of today sees, without a trust root."""


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Verdict documents of the sample by round, without a trust root: no signature can be decided."""
    store = ContentStore(tmp_path_factory.mktemp("store"))
    folders = [folder for folder in sorted((SAMPLE / "rounds").iterdir()) if folder.is_dir()]
    tables = run_in_memory([read_round(folder, folder.name, store) for folder in folders])
    return {row["round_id"]: json.loads(row["document"]) for row in tables["verdict_rounds"].to_dict("records")}


def test_clean_rounds_in_quick_mode_pass_without_a_finding(documents):
    quick = set(EXPECTED["clean_rounds"]) - FINAL_CLEAN
    assert {documents[name]["status"] for name in quick} == {"pass"}
    assert [documents[name]["new_findings"] + documents[name]["known_findings"] for name in quick] == [[]] * len(quick)


def test_without_a_trust_root_a_clean_final_round_lacks_only_a_decided_validator(documents):
    for name in FINAL_CLEAN:
        (finding,) = documents[name]["new_findings"] + documents[name]["known_findings"]
        assert finding["factors"]["kind"] == "validator-independence"
        assert (documents[name]["status"], finding["class"]) == ("block", "B")


@pytest.mark.parametrize("name", STATUS)
def test_a_planted_fault_leads_where_the_policy_says(documents, name):
    assert documents[name]["status"] == STATUS[name]


def test_every_document_keeps_its_schema_and_names_a_policy_and_its_inputs(documents):
    assert [document_fault("verdict-v1.json", document) for document in documents.values()] == [None] * len(documents)
    assert len({document["policy"]["digest"] for document in documents.values()}) == 1
    assert len({document["inputs_digest"] for document in documents.values()}) == len(documents)
