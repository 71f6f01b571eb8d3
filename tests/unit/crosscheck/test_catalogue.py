"""Claims about the shipped catalogue: every entry can run, says how sure it is, and names what formats really emit."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from importlib import resources
from pathlib import Path

import pytest
import yaml

from governance_pipeline.crosscheck import catalogue as module
from governance_pipeline.crosscheck.catalogue import EVIDENCE, catalogue
from governance_pipeline.crosscheck.formula import ALL_ROWS
from governance_pipeline.errors import UsageError
from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.round import read_files
from governance_pipeline.storage.content import ContentStore

ROOT = Path(__file__).parents[3]
SAMPLE = ("atlas-0001", "atlas-0002", "atlas-0003", "atlas-0004", "billing-0007")
"""Rounds that between them hold every format of the sample."""
NOT_IN_SAMPLE = "all_attempts_"
"""Fields of a retrying SWE-agent, of which the sample has no log (tests/unit/ingest/formats/test_swe_agent.py)."""
FOLDER = resources.files("governance_pipeline.crosscheck") / "catalogue"
DOCUMENTS = [yaml.safe_load(file.read_text("utf-8")) for file in FOLDER.iterdir() if file.name.endswith(".yaml")]
ITEMS = [(document["format"], item) for document in DOCUMENTS for item in document["checks"]]
ENTRY_KEYS = {"id", "field", "recompute", "data_type", "unit", "epsilon_reason", "escalate_to", "evidence", "semantics"}
OPTIONAL_KEYS = {"components", "no_components", "no_components_reason", "explanations"}
READERS = {reader.NAME: reader for reader in FORMATS if "any field" not in reader.DECLARES}
ENTRY = {
    "id": "x", "field": "total", "recompute": "sum(parts.cost)", "data_type": "currency", "unit": "USD",
    "epsilon_reason": "a reason", "escalate_to": "owner", "evidence": "code", "semantics": "a sentence",
}  # fmt: skip


def document(**entry) -> str:
    """Return a catalogue file with one entry; a member that is None is left out."""
    item = {key: value for key, value in {**ENTRY, **entry}.items() if value is not None}
    return json.dumps({"schema": module.SCHEMA, "format": "x", "versions": "1", "checks": [item], "not_checkable": []})


@pytest.mark.parametrize(
    "fault",
    [
        {"evidence": "guessed"}, {"evidence": None}, {"semantics": " "}, {"epsilon_reason": ""}, {"escalate_to": None},
        {"no_component": "zero"}, {"no_components": "zero"}, {"no_components": "some"}, {"data_type": "money"},
        {"recompute": "coalesce(sum(parts.cost), 0)"}, {"recompute": "count(*)"}, {"recompute": "parts.cost"},
        {"recompute": "sum(declared.total)"},
    ],
    ids=str,
)  # fmt: skip
def test_an_entry_that_cannot_be_meant_is_refused_with_its_id(fault):
    with pytest.raises(UsageError, match=r"^catalogue x\.yaml: x: "):
        module.read_entries("x.yaml", document(**fault))


def test_a_file_of_another_schema_is_refused():
    with pytest.raises(UsageError, match="govern/check-catalogue/v2"):
        module.read_entries("x.yaml", document().replace("catalogue/v1", "catalogue/v2"))


def test_a_sound_entry_is_read():
    (entry,) = module.read_entries("x.yaml", document())
    assert (entry.format, entry.check.field, entry.evidence) == ("x", "total", "code")


def test_every_shipped_entry_is_read():
    assert len(catalogue().entries) == len(ITEMS)
    assert len({entry.check.id for entry in catalogue().entries}) == len(ITEMS), "an id names one check"


@pytest.mark.parametrize(("format_name", "item"), ITEMS, ids=[item["id"] for _, item in ITEMS])
def test_an_entry_has_the_members_of_the_schema_and_no_other(format_name, item):
    assert set(item) >= ENTRY_KEYS
    assert set(item) <= ENTRY_KEYS | OPTIONAL_KEYS
    assert item["evidence"] in EVIDENCE
    assert item["id"].startswith(f"{format_name}_"), "the id says whose it is"
    assert item["semantics"].strip()
    assert ("no_components_reason" in item) == (item.get("no_components") == "zero")


def test_the_allowed_evidence_tags_are_those_of_the_spec():
    assert EVIDENCE == ("documented", "code", "configuration", "inferred", "assumed", "to_be_confirmed")


def test_every_file_names_its_format_its_versions_and_what_it_cannot_check():
    for shipped in DOCUMENTS:
        assert set(shipped) == {"schema", "format", "versions", "checks", "not_checkable"}
        assert shipped["versions"].strip()
        assert all(item["reason"].strip() for item in shipped["not_checkable"])
    assert Counter(shipped["format"] for shipped in DOCUMENTS).most_common(1)[0][1] == 1


def test_a_field_is_checked_or_excused_never_both():
    known = catalogue()
    checked = {(entry.format, entry.check.field) for entry in known.entries}
    assert checked & set(known.not_checkable) == set()
    assert all(known.why_not(*pair) is None for pair in checked)


def test_an_excuse_for_every_field_covers_only_those_without_a_check():
    known = catalogue()
    assert known.why_not("native", "whatever") is not None
    assert known.why_not("native", "total_cost_usd") is None
    assert known.why_not("openhands", "whatever") is None, "a field nobody thought of is not excused"
    assert known.checks_for("native", "*") == []


@pytest.mark.parametrize("name", sorted(READERS))
def test_what_a_format_declares_is_checked_or_excused_and_the_catalogue_names_nothing_else(name):
    known = catalogue()
    fields = {entry.check.field for entry in known.entries if entry.format == name}
    excused = {field for format_name, field in known.not_checkable if format_name == name}
    assert fields == set(READERS[name].RECOMPUTABLE)
    assert fields | excused == set(READERS[name].DECLARES)


def test_every_format_of_the_catalogue_is_read_by_ingest():
    assert {shipped["format"] for shipped in DOCUMENTS} - {"native"} <= set(READERS)


def test_every_recompute_names_columns_the_sample_rounds_really_have(tmp_path):
    emitted, declared, store = set(), set(), ContentStore(tmp_path)
    for name in SAMPLE:
        read = read_files(scan(ROOT / "data" / "sample" / "rounds" / name), name, store)
        parts, totals = read.frame("core_components"), read.frame("core_declared")
        emitted |= set(zip(parts["format"], parts["source"], parts["column"], strict=True))
        declared |= set(zip(totals["format"], totals["field"], strict=True))
    held = {part[0] for part in emitted}  # the formats the sample has logs of
    assert {"native", "claude_code", "swe_agent", "mini_swe_agent"} <= held
    entries = [e for e in catalogue().entries if e.format in held and not e.check.field.startswith(NOT_IN_SAMPLE)]
    named = {(e.format, c.source, c.name) for e in entries for c in e.check.formula.columns if c.name != ALL_ROWS}
    assert named - emitted == set()
    assert {(e.format, s) for e in entries for s in e.check.formula.sources} <= {part[:2] for part in emitted}
    fields = {(e.format, e.check.field) for e in entries if not e.check.field.endswith("_at_list_price")}
    assert fields - declared == set(), "the sample declares every such field; its model has no list price"


def test_the_catalogue_is_read_once_and_cannot_be_changed():
    assert catalogue() is catalogue()
    with pytest.raises(dataclasses.FrozenInstanceError):
        catalogue().entries = ()
    with pytest.raises(TypeError):
        catalogue().not_checkable["native", "x"] = "because"
