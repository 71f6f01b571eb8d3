"""Claims about the report: exact numbers, no clock, and no source is ever written."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.batch import Batch, SourcesUnreadableError
from governance_pipeline.crosscheck.check_set import load_check_set
from governance_pipeline.crosscheck.guardian import judge
from governance_pipeline.crosscheck.report import (
    FailOn,
    errors_document,
    exit_code,
    json_text,
    report_document,
    write_report,
)
from governance_pipeline.crosscheck.run import run_checks
from governance_pipeline.errors import Fault, UsageError
from governance_pipeline.strict.lexeme import Lexeme

CASES = Path(__file__).parent / "cases"
CHECKS = """\
schema: govern/checks/v1
sources:
  d: {path: d.jsonl, key: id, role: declared}
  p:
    key: id
    role: components
    path: p.csv
checks:
  - {id: b, field: n, declared: d.n, recompute: sum(p.x), data_type: integer, epsilon_reason: exact, escalate_to: owner}
  - {id: a, field: n, declared: d.n, recompute: sum(p.x), data_type: integer, epsilon_reason: exact, escalate_to: owner}
"""


def document_of(batch: Batch):
    return report_document(batch, judge(batch))


def batch_of(folder: Path, declared: str = '{"id":"A","n":3}\n', parts: str = "id,x\nA,3\n") -> Batch:
    (folder / "checks.yaml").write_text(CHECKS)
    (folder / "d.jsonl").write_text(declared)
    (folder / "p.csv").write_text(parts)
    return run_checks(load_check_set(folder / "checks.yaml"))


@pytest.mark.parametrize("name", ["d.jsonl", "p.csv", "link.json"])
def test_a_report_never_replaces_a_source(tmp_path, monkeypatch, name):
    batch = batch_of(tmp_path)
    if name == "link.json":
        (tmp_path / name).symlink_to("d.jsonl")
    before = (tmp_path / name).read_bytes()
    monkeypatch.setattr("governance_pipeline.crosscheck.report.REPORT_NAME", name)
    with pytest.raises(UsageError, match="no source is ever written"):
        write_report(batch, judge(batch), tmp_path)
    assert (tmp_path / name).read_bytes() == before


def test_a_folder_that_cannot_be_written_is_a_usage_error_and_leaves_nothing(tmp_path):
    batch = batch_of(tmp_path)
    (tmp_path / "taken").write_text("x")
    with pytest.raises(UsageError, match="choose another --out"):
        write_report(batch, judge(batch), tmp_path / "taken")
    (tmp_path / "out" / "report.json").mkdir(parents=True)
    with pytest.raises(UsageError, match="choose another --out"):
        write_report(batch, judge(batch), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["report.json"]


def test_a_written_report_is_the_text_of_the_document(tmp_path):
    batch = batch_of(tmp_path)
    path = write_report(batch, judge(batch), tmp_path / "a" / "b")
    assert path.read_text("utf-8") == json_text(document_of(batch))
    assert write_report(batch, judge(batch), tmp_path / "a" / "b") == path
    assert [p.name for p in path.parent.iterdir()] == ["report.json"]


def test_the_same_input_gives_the_same_bytes_wherever_it_lies(tmp_path):
    texts = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        texts.add(json_text(document_of(batch_of(tmp_path / name))))
    assert len(texts) == 1


def test_fields_records_and_sources_are_ordered_by_name(tmp_path):
    batch = batch_of(tmp_path, '{"id":"b","n":3}\n{"n":1}\n{"id":"B","n":3}\n', "id,x\nb,3\nB,3\n")
    document = document_of(batch)
    assert [field["check_id"] for field in document["fields"]] == ["a", "b"]
    assert [source["name"] for source in document["check_set"]["sources"]] == ["d", "p"]
    found = [(r["check_id"], r["subject_id"], r["declared_pointer"]["line"]) for r in document["records"]]
    assert found == [(c, s, n) for c in "ab" for s, n in (("B", 3), ("b", 1), (None, 2))]
    assert [e["record_id"] for e in document["escalations"]] == [
        r["record_id"] for r in document["records"] if r["subject_id"] is None
    ]


def test_every_source_that_cannot_be_read_is_named_with_the_line_of_its_path(tmp_path):
    (tmp_path / "checks.yaml").write_text(CHECKS)
    (tmp_path / "p.csv").write_text("")
    with pytest.raises(SourcesUnreadableError) as caught:
        run_checks(load_check_set(tmp_path / "checks.yaml"))
    assert [(fault.code, fault.line) for fault in caught.value.faults] == [
        ("source_unreadable", 3),
        ("source_unreadable", 7),
    ]


def test_errors_are_ordered_by_line():
    document = errors_document([Fault("b", 9, "later"), Fault("a", 2, "first")])
    assert [error["line"] for error in document["errors"]] == [2, 9]


@pytest.mark.parametrize(
    ("declared", "codes"),
    [
        ('{"id":"A","n":3}\n', (0, 0, 0)),
        ('{"id":"A","n":4}\n', (1, 1, 0)),
        ('{"id":"A","n":null}\n', (3, 1, 0)),
        ('{"id":"A","n":4}\n{"id":"B","n":1}\n', (1, 1, 0)),
        ("", (3, 1, 0)),
    ],
)
def test_the_exit_code_follows_the_findings(tmp_path, declared, codes):
    batch = batch_of(tmp_path, declared)
    every = (FailOn.MISMATCH, FailOn.UNVERIFIABLE, FailOn.NEVER)
    found = tuple(exit_code(batch, judge(batch), fail_on) for fail_on in every)
    assert found == codes


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")) | st.just(Lexeme("0.10")),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8")), part, max_size=4),
    max_leaves=15,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(st.characters(codec="utf-8")), JSON, max_size=5))
def test_json_text_is_json_with_every_number_as_its_lexeme(document):
    def plain(value):
        if isinstance(value, Lexeme):
            return Decimal(value)
        if isinstance(value, list):
            return [plain(item) for item in value]
        return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else value

    text = json_text(document)
    assert json.loads(text, parse_float=Decimal) == plain(document)
    assert text.endswith("}\n")
