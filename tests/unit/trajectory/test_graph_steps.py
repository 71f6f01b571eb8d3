"""The terms of a step: which reason applies when, what weighs how much, and that no order plays a part."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trajectory import graph_document as documents
from governance_pipeline.trajectory.graph_document import graph_document
from governance_pipeline.trajectory.graph_input import graph_input
from governance_pipeline.trajectory.graph_steps import ChangedNode, change_weights

SCHEMA = json.loads((Path(documents.__file__).parent / "schemas" / "graph-v1.json").read_text("utf-8"))
IDS = ["a", "b", "c", "d", "e"]
ID = st.sampled_from(IDS)
CHURN = st.one_of(st.none(), st.integers(0, 5))
NODES = st.lists(st.fixed_dictionaries({"id": st.sampled_from([*IDS, "new", "gone"]), "churn": CHURN}), max_size=5)
EDGES = st.lists(st.fixed_dictionaries({"from": ID, "to": ID, "type": st.sampled_from(["call", "data"])}), max_size=12)
OBJECTIVE = st.lists(st.sampled_from([*IDS, "lost"]), unique=True, max_size=3)


def document(nodes=(), edges=(), objective=None, *, directed=False, ids=("a", "b", "c"), **more):
    given_input = {
        "schema": "govern/graph-input/v1",
        "directed": directed,
        "objective_set": objective,
        "nodes": [{"id": id_, "kind": "file"} for id_ in ids],
        "edges": list(edges),
        "changes": [{"step": 1, "nodes": list(nodes), **more}],
    }
    return graph_document(graph_input(given_input))


def step(*arguments, **named):
    return document(*arguments, **named)["steps"][0]


AB = {"from": "a", "to": "b", "type": "call"}


@pytest.mark.parametrize(
    ("nodes", "objective", "reasons", "share"),
    [
        ([], None, {"D": "no_objective_set"}, None),
        ([], [], {"D": "no_objective_set"}, None),
        ([{"id": "a"}], ["lost"], {"D": "objective_not_in_graph"}, None),
        ([], ["lost"], {"D": "objective_not_in_graph"}, None),
        ([], ["b"], {}, 0),
        ([{"id": "a"}], ["b"], {}, 0),
        ([{"id": "c"}], ["b"], {"D": "unreachable"}, 1),
        ([{"id": "new"}], ["b"], {"D": "unreachable", "C": "not_in_graph"}, 1),
        ([{"id": "new", "churn": 1}, {"id": "a", "churn": 0}], ["b"], {"D": "unreachable", "C": "not_in_graph"}, 1),
        ([{"id": "new", "churn": 0}, {"id": "a", "churn": 0}], ["b"], {}, 0.5),
        ([{"id": "new"}], None, {"D": "no_objective_set", "C": "not_in_graph"}, None),
    ],
)
def test_each_unknown_term_has_its_reason(nodes, objective, reasons, share):
    found = step(nodes, [AB], objective, symbols=[])
    assert found["unknown"] == reasons
    assert found["unreachable_weight_share"] == share
    assert {term for term in "YDC" if found[term] is None} == set(reasons)


def test_a_step_without_changes_is_at_no_distance_and_of_no_centrality():
    found = step([], [AB], ["b"], symbols=[])
    assert (found["Y"], found["D"], found["C"], found["nodes"]) == (0, 0, 0, [])


def test_a_graph_without_nodes_leaves_everything_that_changed_outside():
    found = step([{"id": "a", "churn": 2}], ids=())
    assert found["not_in_graph"] == ["a"]
    assert found["nodes"] == [
        {"id": "a", "weight": 2, "distance": None, "pagerank": None, "percentile": None, "degree": None}
    ]


def test_distance_follows_edges_only_when_it_is_said_to():
    assert [step([{"id": "b"}], [AB], ["a"], directed=flag)["D"] for flag in (False, True)] == [1, None]


@pytest.mark.parametrize(
    ("nodes", "weights"),
    [
        ([("a", None)], {"a": 1}),
        ([("a", 2), ("a", 3)], {"a": 5}),
        ([("a", 2), ("a", None), ("a", 4)], {"a": 1}),
        ([("a", 0), ("b", 0)], {"a": 1, "b": 1}),
        ([("a", 0), ("b", None)], {"a": 0, "b": 1}),
        ([], {}),
    ],
)
def test_a_node_weighs_its_churn_one_when_that_is_unknown_and_all_weigh_one_when_they_add_up_to_nothing(nodes, weights):
    assert change_weights([ChangedNode(*node) for node in nodes]) == weights


@given(NODES, EDGES, OBJECTIVE, st.booleans(), st.randoms())
def test_no_order_of_nodes_edges_objectives_or_changes_plays_a_part(nodes, edges, objective, directed, random):
    first = document(nodes, edges, objective, directed=directed, ids=IDS)
    orders = [list(given_list) for given_list in (nodes, edges, objective, IDS)]
    for order in orders:
        random.shuffle(order)
    assert document(*orders[:3], directed=directed, ids=orders[3]) == first


@given(NODES, EDGES, OBJECTIVE, st.booleans())
def test_every_document_keeps_its_schema_and_gives_a_reason_for_exactly_what_is_unknown(
    nodes, edges, objective, directed
):
    found = document(nodes, edges, objective, directed=directed, ids=IDS)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    (only,) = found["steps"]
    assert set(only["unknown"]) == {term for term in "YDC" if only[term] is None}
    assert [node["id"] for node in only["nodes"]] == sorted({node["id"] for node in nodes})
    assert only["not_in_graph"] == sorted({node["id"] for node in nodes} - set(IDS))


def test_the_shipped_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
