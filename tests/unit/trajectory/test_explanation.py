"""The explanation tells the numbers of the tables in words, and where each stands."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from governance_pipeline.trajectory import explanation
from governance_pipeline.trajectory.documents import features_documents
from governance_pipeline.trajectory.explanation import explain_document
from governance_pipeline.trajectory.wording import number

SCHEMA = json.loads((Path(explanation.__file__).parent / "schemas" / "features-explain-v1.json").read_text("utf-8"))


def explained(tables) -> dict:
    document = explain_document(tables, "r-1")
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def words(step: dict) -> dict[str, str]:
    return {term["term"]: term["words"] for term in step["terms"]}


def test_terms_counted_from_files_name_the_files(one_round, file):
    document = explained(one_round([{"step": 1, "files": [file("src/api/a", 30), file("docs/b", 6, 4)]}]))
    assert words(document["steps"][0]) == {
        "F": "2 files modified: docs/b, src/api/a",
        "L": "40 lines added or deleted: docs/b 10, src/api/a 30",
        "M": "2 modules touched: docs, src",
        "P": "1 public boundary touched: 1 of 2 files: src/api/a",
        "D": "0.5: 1 of 2 files outside the scope: docs/b",
        "H": "0.562335 nats of entropy over modules: docs 10 of 40 lines, src 30 of 40 lines",
        "S": "F + L + M + P + D + H = 2 + 40 + 2 + 1 + 0.5 + 0.562335 = 46.0623",
        "E": "0: 0 of 1 required criteria proven; not proven: C1 (no evidence)",
        "J": "(0 + 1e-06) / (46.0623 + 1e-06) = 2.17097e-08",
    }
    assert document["steps"][0]["source"] == {
        "origin": "native", "path": "changes.jsonl", "line": 1, "run_id": None, "run_step": None, "lines": 1,
    }  # fmt: skip


def test_own_numbers_are_said_to_be_the_events_and_what_the_files_give_only_where_it_contradicts(one_round, file):
    step = explained(one_round([{"step": 1, "F": 1, "L": 9, "H": 1e-7, "files": [file("src/a", 5)]}]))["steps"][0]
    assert words(step)["F"] == "1 file modified, as the event says"
    assert words(step)["L"] == "9 lines added or deleted, as the event says; its files give 5"
    assert words(step)["H"] == "1e-07 nats of entropy over modules, as the event says"
    assert step["mismatches"] == [{"field": "L", "declared": 9, "computed": 5}]
    assert [term["taken_from"] for term in step["terms"][:4]] == ["event", "event", "files", "files"]


def test_an_unknown_term_says_why_and_so_do_those_made_of_it(one_round, file):
    step = explained(one_round([{"step": 1, "files": [file("src/a", None), file("b/c")]}], None))["steps"][0]
    assert words(step)["L"] == "unknown: the lines added or deleted of a file are unknown (churn_unknown)"
    assert words(step)["D"] == "unknown: the round has no contract (no_contract)"
    assert words(step)["S"] == "unknown: L, P, D, H unknown"
    assert words(step)["J"] == "unknown: E and S unknown"
    assert {term["taken_from"] for term in step["terms"] if term["value"] is None} == {None, "F L M P D H", "E S"}


def test_evidence_names_the_record_that_decided_each_criterion(one_round, contract):
    records = [{"step": s, "criterion_id": "C1", "state": state} for s, state in ((1, "proven"), (2, "refuted"))]
    document = explained(one_round([{"step": n, "F": 0} for n in (1, 2)], contract, evidence__jsonl=records))
    first, second = (words(step)["E"] for step in document["steps"])
    assert first == "1: 1 of 1 required criteria proven: C1 (proven at step 1, evidence.jsonl line 1)"
    assert second.endswith("not proven: C1 (refuted at step 2, evidence.jsonl line 2)")
    assert document["round"][1]["words"] == second


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([{"step": n, "F": 0, "L": n} for n in (1, 2)], "sum of S over 2 steps: 1 + 2 = 3"),
        ([{"step": 2, "F": 0}], "unknown: a step is missing (step_gap); S is known for 1 of 1 steps"),
        ([], "unknown: the round has no step (no_steps); S is known for 0 of 0 steps"),
    ],
)
def test_aus_is_shown_as_its_sum_or_with_what_forbids_it(one_round, changes, expected):
    assert explained(one_round(changes))["round"][0]["words"] == expected


def test_a_contested_step_is_shown_with_its_first_line_and_the_number_of_lines(one_round, file):
    lines = [{"step": 1, "files": [file("a")]}, {"step": 1, "files": [file("b")]}]
    step = explained(one_round(lines))["steps"][0]
    assert (step["source"]["line"], step["source"]["lines"]) == (1, 2)
    assert "none of them is chosen" in words(step)["F"]


def test_values_are_those_of_the_features_document(one_round, file):
    tables = one_round([{"step": 1, "files": [file("src/a"), file("x/b", 3)]}, {"step": 2, "F": 0, "H": 0.25}])
    (features,) = features_documents(tables)
    for step, shown in zip(features["steps"], explained(tables)["steps"], strict=True):
        assert {term["term"]: term["value"] for term in shown["terms"]} == {name: step[name] for name in "FLMPDHSEJ"}


def test_hostile_names_are_escaped_and_cut_and_many_names_are_counted(one_round, file):
    names = [f"src/\x1b[31m{n}\u202e" + "x" * 200 for n in range(9)]
    shown = words(explained(one_round([{"step": 1, "files": [file(name) for name in names]}]))["steps"][0])["F"]
    assert shown.isprintable()
    assert "\\x1b[31m0\\u202e" in shown
    assert shown.endswith("… and 3 more")


@pytest.mark.parametrize(
    ("value", "text"), [(1e-6, "1e-06"), (3.0, "3"), (2**63, "9223372036854775808"), (1 / 3, "0.333333")]
)
def test_numbers_are_written_for_readers(value, text):
    assert number(value) == text
