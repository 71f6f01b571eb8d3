"""Whatever bytes a log holds, it becomes rows or quarantine: no crash, no hang, no lost line, no broken contract."""

from __future__ import annotations

import importlib.util
import io
import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rich.console import Console

import governance_pipeline.report
from governance_pipeline.auditing import audit_plan
from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.native.kinds import BY_PLACE
from governance_pipeline.ingest.planning import plan_import
from governance_pipeline.report.audit_document import audit_document
from governance_pipeline.report.audit_summary import verdict
from governance_pipeline.report.html import audit_html
from governance_pipeline.report.json_text import json_text
from governance_pipeline.report.terminal import audit_page
from governance_pipeline.report.texts import words

FEW, MANY, BLOCK = 10, 410, 100
NAMES = [log_format.NAME for log_format in FORMATS]
PLACES = [
    *BY_PLACE,
    "round.toml",
    "logs/x",
    "logs/x.jsonl",
    "logs/x.eval",
    "logs/metadata.json",
    "logs/a/base_state.json",
]
SCHEMA = Path(governance_pipeline.report.__file__).parent / "schemas" / "audit-v1.json"


def load(name):
    """Import a module that lies beside this test."""
    spec = importlib.util.spec_from_file_location(f"{name}_of_ingest", Path(__file__).parent / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fuzzing, mutants = load("fuzzing"), load("mutants")


@pytest.fixture
def bench(tmp_path):
    return fuzzing.Bench(tmp_path / "bench")


def some(name, numbers):
    """Give mutants of a format by a name that says how to make each again."""
    return {f"{name}-{number}": mutants.mutant(mutants.seeds(name), number) for number in numbers}


@pytest.mark.parametrize("name", NAMES)
def test_every_format_has_sound_rounds_to_start_from(bench, name):
    """A new format needs a file in `seeds/`: a list of rounds, each {file name: text}, in that format."""
    for files in mutants.seeds(name):
        rows = bench.read(files, "r-1").frame("raw_log_files")
        assert name in set(rows["format"].dropna())


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(PLACES), st.binary(max_size=200), min_size=1, max_size=4))
@example({"logs/x": b"\xef\xbb\xbf"})
@example({"logs/x": b"[" * 100_000})
@example({"logs/x": b'{"a":' * 100_000})
@example({"logs/x": b"\n" * 3})
def test_any_bytes_are_accounted_for(bench, files):
    tables = bench.read(files, "r-1")
    assert fuzzing.lost_in(tables, files) == ""


def test_a_mutant_of_any_format_is_read_or_quarantined(bench):
    rounds = {}
    for name in NAMES:
        rounds |= some(name, range(FEW))
    assert bench.faults(rounds) == {}


@pytest.mark.long
@pytest.mark.parametrize("start", range(FEW, MANY, BLOCK))
@pytest.mark.parametrize("name", NAMES)
def test_many_mutants_of_any_format_are_read_or_quarantined(bench, name, start):
    assert bench.faults(some(name, range(start, start + BLOCK))) == {}


def audited(folder, root):
    """Audit a folder as `govern audit` does, with everything it can show; gives the document and what failed."""
    failures = []
    tables = audit_plan(
        plan_import([folder]), root, keep=False, on_round=lambda: None,
        on_failure=lambda round_id, error: failures.append((round_id, fuzzing.said(error))),
    )  # fmt: skip
    document = json.loads(json_text(audit_document(tables, tables["core_declared"].iloc[:0])))
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))
    outcome = verdict(document, "warn")
    Console(file=io.StringIO(), width=160).print(audit_page(document, words("en"), outcome))
    audit_html(document, words("en"), outcome, "en")
    return document, failures


def written(folder, rounds):
    for round_id, files in rounds.items():
        for path, data in files.items():
            target = folder / round_id / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    return sum(len(files) for files in rounds.values())


@pytest.mark.parametrize(
    "start", [1000, *(pytest.param(start, marks=pytest.mark.long) for start in range(1002, 1060, 2))]
)
def test_a_heap_of_mutants_is_cut_into_rounds_audited_and_shown(tmp_path, start):
    rounds = {}
    for name in NAMES:
        rounds |= some(name, range(start, start + 2))
    files = written(tmp_path / "heap", rounds)
    with fuzzing.no_hang(300):
        document, failures = audited(tmp_path / "heap", tmp_path / "root")
    assert failures == []
    assert len(document["files"]) == files


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "member"), [("swe_agent", "trajectory"), ("mini_swe_agent", "messages"), ("atif", "steps")]
)
def test_a_document_of_a_hundred_thousand_steps_is_read_whole(bench, name, member):
    sound = next(
        document
        for files in mutants.seeds(name)
        for document in (json.loads(data) for data in files.values() if data[:1] == b"{" and b"\n{" not in data)
        if isinstance(document.get(member), list) and document[member]
    )
    sound[member] = sound[member][-1:] * 100_000
    assert bench.faults({name: {"logs/x.json": json.dumps(sound).encode()}}) == {}
