"""The strict reader of graph inputs: what it refuses, and that its fast way agrees with the schema."""

from __future__ import annotations

import copy
import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.errors import UsageError
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.trajectory import graph_input as reader
from governance_pipeline.trajectory.graph_input import graph_input, read_graph_input, schema_fault
from governance_pipeline.trajectory.typed_graph import EdgeType

SOUND = {
    "schema": "govern/graph-input/v1",
    "directed": False,
    "objective_set": ["a"],
    "nodes": [{"id": "a", "kind": "file"}, {"id": "b", "kind": "module"}],
    "edges": [{"from": "a", "to": "b", "type": "import"}],
    "changes": [
        {"step": 1, "nodes": [{"id": "a", "churn": 3}]},
        {"step": 2, "nodes": [], "symbols": [{"id": "f", "kind": "function", "body": True, "signature": None}]},
    ],
}

NOWHERE = object()


def changed(place: str, value) -> bytes:
    """Give the sound input with one place changed, or without it (NOWHERE)."""
    document = copy.deepcopy(SOUND)
    *way, last = [int(part) if part.isdigit() else part for part in place.split("/")]
    parent = document
    for part in way:
        parent = parent[part]
    if value is NOWHERE:
        del parent[last]
    else:
        parent[last] = value
    return json.dumps(document).encode()


FAULTS = [
    ("schema", NOWHERE), ("schema", "govern/graph-input/v2"), ("nodes", NOWHERE), ("nodes", None), ("edges", NOWHERE),
    ("edges", {}), ("changes", NOWHERE), ("changes", None), ("surplus", 1), ("directed", 1), ("directed", "false"),
    ("objective_set", "a"), ("objective_set", ["a", "a"]), ("objective_set", [1]), ("objective_set", [1.5]),
    ("nodes/0/id", NOWHERE), ("nodes/0/id", 1), ("nodes/0/id", 1.5), ("nodes/0/id", ""), ("nodes/0/id", "b"),
    ("nodes/0/kind", "folder"), ("nodes/0/kind", None), ("nodes/0/kind", ["file"]), ("nodes/0/weight", 1),
    ("nodes/0", "a"), ("edges/0/from", "c"), ("edges/0/to", "c"), ("edges/0/to", None), ("edges/0/type", "use"),
    ("edges/0/type", NOWHERE), ("edges/0/weight", 1), ("edges/0", []), ("changes/0/step", 0), ("changes/0/step", 2),
    ("changes/0/step", 1.0), ("changes/0/step", True), ("changes/0/step", "1"), ("changes/0/step", 2**64),
    ("changes/1/step", 1), ("changes/0/nodes", NOWHERE), ("changes/0/nodes", None), ("changes/0/more", 1),
    ("changes/0/nodes/0/churn", -1), ("changes/0/nodes/0/churn", 3.0), ("changes/0/nodes/0/churn", 0.5),
    ("changes/0/nodes/0/churn", True), ("changes/0/nodes/0/churn", "3"), ("changes/0/nodes/0/churn", 2**63),
    ("changes/0/nodes/0/lines", 1), ("changes/0/nodes/0/id", NOWHERE), ("changes/1/symbols", {}),
    ("changes/1/symbols/0/kind", NOWHERE), ("changes/1/symbols/0/kind", 1), ("changes/1/symbols/0/body", 1),
    ("changes/1/symbols/0/body", "true"), ("changes/1/symbols/0/line", 1),
]  # fmt: skip


@pytest.mark.parametrize(("place", "value"), FAULTS)
def test_an_input_with_one_fault_is_refused_and_the_message_names_the_place(place, value):
    with pytest.raises(UsageError) as refusal:
        graph_input(parse_json(changed(place, value)))
    assert "$" in str(refusal.value)


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b'{"schema": NaN}', b'{"a": 1, "a": 1}', b"\xff", b"1 2", b"7"])
def test_text_that_is_no_strict_document_is_refused(text, tmp_path):
    file = tmp_path / "input.json"
    file.write_bytes(text)
    with pytest.raises(UsageError):
        read_graph_input(file)


def test_a_file_that_is_not_there_is_a_usage_error_as_every_refused_input(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_graph_input(tmp_path / "none.json")


@pytest.mark.parametrize("place", ["directed", "objective_set", "changes/0/nodes/0/churn", "changes/1/symbols",
                                   "changes/1/symbols/0/body", "changes/1/symbols/0/signature"])  # fmt: skip
def test_an_optional_member_may_be_absent_or_null_and_means_the_same(place):
    absent, null = (graph_input(parse_json(changed(place, value))) for value in (NOWHERE, None))
    assert absent[1:] == null[1:]


def test_a_sound_input_is_read_whole():
    given_input = graph_input(parse_json(json.dumps(SOUND).encode()))
    assert (given_input.is_directed, given_input.objective_set) == (False, ("a",))
    assert given_input.graph.ids == ("a", "b")
    assert given_input.graph.edges_of_type[EdgeType.IMPORT] == 1
    assert [change.step for change in given_input.changes] == [1, 2]
    assert given_input.changes[0].symbols is None
    assert given_input.changes[1].symbols == (("f", "function", True, None),)


def test_hostile_ids_appear_escaped_in_a_message():
    with pytest.raises(UsageError) as refusal:
        graph_input(parse_json(changed("edges/0/to", "\x1b[2J\u202e")))
    assert str(refusal.value).isprintable()


WRONG = st.sampled_from([0, -1, 1, 1.5, 2**63, "", "a", None, True, [], {}])


def near(sound: dict) -> st.SearchStrategy:
    """Give items that are sound, or differ from it in a value, lack a member, or have one more."""
    changed_items = st.tuples(st.sampled_from([*sound, "x"]), WRONG).map(lambda pair: {**sound, pair[0]: pair[1]})
    lacking = st.sampled_from(list(sound)).map(lambda name: {key: sound[key] for key in sound if key != name})
    return st.one_of(st.just(sound), changed_items, lacking, WRONG)


NODE, EDGE = {"id": "a", "kind": "file"}, {"from": "a", "to": "b", "type": "call"}
SYMBOL = {"id": "f", "kind": "class", "body": True, "signature": None}
CHANGES = st.builds(
    lambda change, nodes, symbols: (
        {**change, "nodes": nodes, "symbols": symbols} if isinstance(change, dict) else change
    ),
    near({"step": 1}),
    st.lists(near({"id": "a", "churn": 0}), max_size=2) | WRONG,
    st.lists(near(SYMBOL), max_size=2) | WRONG,
)


@given(
    st.lists(near(NODE), max_size=2),
    st.lists(near(EDGE), max_size=2),
    st.lists(CHANGES | near({"step": 1, "nodes": []}), max_size=2),
)
def test_the_fast_way_accepts_exactly_what_the_schema_accepts(nodes, edges, changes):
    document = parse_json(json.dumps({**SOUND, "nodes": nodes, "edges": edges, "changes": changes}).encode())
    whole = reader._validator().is_valid(document)
    assert (schema_fault(document) is None) == whole


def test_the_shipped_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(reader._validator().schema)
