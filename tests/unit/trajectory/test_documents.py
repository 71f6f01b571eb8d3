"""The documents say what the tables say, in numbers JSON can carry."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jsonschema
import pytest

from governance_pipeline.trajectory import documents
from governance_pipeline.trajectory.documents import (
    features_documents,
    list_document,
    mismatch_numbers,
    shortest_number,
)

SCHEMAS = Path(documents.__file__).parent / "schemas"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "null"), (0.0, "0"), (-0.0, "0"), (2.0, "2"), (0.5, "0.5"), (1e-7, "1e-07"), (2.0**53, "9007199254740992.0"),
     (7, "7"), (2**63 - 1, "9223372036854775807")],
)  # fmt: skip
def test_a_number_is_written_shortest_and_never_as_minus_zero(value, text):
    assert json.dumps(shortest_number(value)) == text


def test_mismatches_become_numbers_counts_as_integers():
    found = mismatch_numbers(
        [{"field": "L", "declared": "2", "computed": "1"}, {"field": "H", "declared": "0.5", "computed": "0"}]
    )
    assert found == [{"field": "L", "declared": 2, "computed": 1}, {"field": "H", "declared": 0.5, "computed": 0}]
    assert all(isinstance(found[0][side], int) for side in ("declared", "computed"))


def test_one_document_per_round_ordered_by_id_with_its_own_steps(tables):
    rounds = {
        "r-b": {"changes.jsonl": [{"step": 2, "F": 0}, {"step": 1, "F": 0, "L": 3}]},
        "r-a": {"changes.jsonl": [{"step": 1, "F": 1}]},
    }
    found = features_documents(tables(rounds))
    assert [(d["round_id"], [step["step"] for step in d["steps"]]) for d in found] == [("r-a", [1]), ("r-b", [1, 2])]
    schema = json.loads((SCHEMAS / "features-list-v1.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(list_document(found))


def test_hostile_numbers_give_a_document_that_is_still_json(one_round):
    most = 2**63 - 1
    changes = [
        {"step": most, "F": most, "L": most, "M": most, "P": most, "H": 1.7e308},
        {"step": 1, "F": 0, "H": 1.7e308},
    ]
    (found,) = features_documents(one_round(changes))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["round"]["step_gaps"] == [[2, most - 1]]
    assert math.isfinite(found["steps"][0]["S"])


def test_no_round_gives_no_document(tables):
    whole = tables({"r-1": {}})
    assert features_documents({name: frame.iloc[:0] for name, frame in whole.items()}) == []
