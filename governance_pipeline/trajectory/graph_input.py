"""A `govern/graph-input/v1` file, read strictly: everything in it is understood, or the whole of it is refused.

What belongs here: bytes -> graph, objective set and changes. What does not: computing anything of them. The schema
says most rules; ids that repeat, edges without their nodes and steps out of order are judged here. Graphs are large
and a schema validator is slow: lists that are plainly sound are recognized first, and the validator is asked about a
list only when something in it is not, to name it. Source: spec/trajectory.md §9.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from jsonschema import Draft202012Validator, TypeChecker
from jsonschema.validators import extend

from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.records import Refused, read_json_document
from governance_pipeline.trajectory.graph_steps import ChangedNode, GraphChange
from governance_pipeline.trajectory.symbols import SymbolChange
from governance_pipeline.trajectory.typed_graph import Edge, EdgeType, NodeKind, TypedGraph, typed_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from jsonschema.protocols import Validator

SCHEMA_FILE: Final = "graph-input-v1.json"

_KINDS: Final = {kind.value: kind for kind in NodeKind}
_TYPES: Final = {type_.value: type_ for type_ in EdgeType}
_NODE_KEYS: Final = {"id", "kind"}
_EDGE_KEYS: Final = {"from", "to", "type"}
_CHANGE_KEYS: Final = {"step", "nodes", "symbols"}
_CHANGED_NODE_KEYS: Final = {"id", "churn"}
_SYMBOL_KEYS: Final = {"id", "kind", "body", "signature"}
_MESSAGE_CHARACTERS: Final = 200


class GraphInput(NamedTuple):
    """What a file says: the graph, whether distance follows its edges, the objective set, and the changes by step."""

    graph: TypedGraph
    is_directed: bool
    objective_set: tuple[str, ...]
    changes: tuple[GraphChange, ...]


def read_graph_input(path: Path) -> GraphInput:
    """Read a `govern/graph-input/v1` file.

    Raises:
        UsageError: the file cannot be read, is no strict JSON, breaks the schema, repeats an id, has an edge between
            nodes it does not list, or steps that do not increase.
    """
    try:
        record = read_json_document(path)
    except (UnreadableError, OSError) as error:
        raise UsageError(f"{excerpt(str(path))} cannot be read: {error}") from None
    if isinstance(record, Refused):
        where = f"{excerpt(str(path))}, byte {record.stopped_at}"
        raise UsageError(f"{where}: no strict JSON document ({record.code}); repair it: {record.excerpt}")
    return graph_input(record.value)


def graph_input(document: Any) -> GraphInput:
    """Understand a document as `strict.json_text.parse_json` gives it; errors as `read_graph_input`."""
    fault = schema_fault(document)
    if fault is not None:
        raise UsageError(f"the graph input is refused: {fault}")
    objective = tuple(document.get("objective_set") or ())
    _refuse_repeated("$.nodes", (node["id"] for node in document["nodes"]))
    _refuse_repeated("$.objective_set", objective)
    _refuse_unordered([change["step"] for change in document["changes"]])
    changes = tuple(map(_change, document["changes"]))
    return GraphInput(_graph(document), bool(document.get("directed")), objective, changes)


def schema_fault(document: Any) -> str | None:
    """Say where a document first breaks the schema, and how; None when it keeps it."""
    asked = document
    if isinstance(document, dict):
        asked = {name: [] if _is_plainly_sound(name, value) else value for name, value in document.items()}
    error = next(iter(_validator().iter_errors(asked)), None)
    return None if error is None else f"{excerpt(error.json_path, 80)}: {excerpt(error.message, _MESSAGE_CHARACTERS)}"


def _is_plainly_sound(name: str, value: Any) -> bool:
    is_sound = {"nodes": _is_node, "edges": _is_edge, "changes": _is_change}.get(name)
    return is_sound is not None and _is_list(value, is_sound)


def _is_node(value: Any) -> bool:
    return type(value) is dict and value.keys() == _NODE_KEYS and _is_id(value["id"]) and _is_in(value["kind"], _KINDS)


def _is_edge(value: Any) -> bool:
    if type(value) is not dict or value.keys() != _EDGE_KEYS:
        return False
    return _is_id(value["from"]) and _is_id(value["to"]) and _is_in(value["type"], _TYPES)


def _is_change(value: Any) -> bool:
    if type(value) is not dict or not {"step", "nodes"} <= value.keys() <= _CHANGE_KEYS:
        return False
    symbols = value.get("symbols")
    is_known = symbols is None or _is_list(symbols, _is_symbol)
    return is_known and _is_whole(value["step"], 1) and _is_list(value["nodes"], _is_changed_node)


def _is_changed_node(value: Any) -> bool:
    if type(value) is not dict or not {"id"} <= value.keys() <= _CHANGED_NODE_KEYS:
        return False
    churn = value.get("churn")
    return _is_id(value["id"]) and (churn is None or _is_whole(churn, 0))


def _is_symbol(value: Any) -> bool:
    if type(value) is not dict or not _NODE_KEYS <= value.keys() <= _SYMBOL_KEYS:
        return False
    are_flags = all(value.get(flag) is None or type(value[flag]) is bool for flag in ("body", "signature"))
    return are_flags and _is_id(value["id"]) and _is_id(value["kind"])


def _is_list(value: Any, is_sound: Callable[[Any], bool]) -> bool:
    return type(value) is list and all(map(is_sound, value))


def _is_whole(value: Any, least: int) -> bool:
    return type(value) is int and value >= least


def _is_id(value: Any) -> bool:
    return type(value) is str and value != ""


def _is_in(value: Any, known: Iterable[str]) -> bool:
    return type(value) is str and value in known


def _graph(document: dict[str, Any]) -> TypedGraph:
    kind_of = {node["id"]: _KINDS[node["kind"]] for node in document["nodes"]}
    for at, edge in enumerate(document["edges"]):
        for end in ("from", "to"):
            if edge[end] not in kind_of:
                where = f"$.edges[{at}].{end}"
                raise UsageError(f"{where}: no node is {excerpt(edge[end], 80)!r}; list it in `nodes` or drop the edge")
    return typed_graph(kind_of, (Edge(edge["from"], edge["to"], _TYPES[edge["type"]]) for edge in document["edges"]))


def _change(change: dict[str, Any]) -> GraphChange:
    listed = change.get("symbols")
    return GraphChange(
        step=change["step"],
        nodes=tuple(ChangedNode(node["id"], node.get("churn")) for node in change["nodes"]),
        symbols=None if listed is None else tuple(map(_symbol, listed)),
    )


def _symbol(symbol: dict[str, Any]) -> SymbolChange:
    return SymbolChange(symbol["id"], symbol["kind"], symbol.get("body"), symbol.get("signature"))


def _refuse_repeated(where: str, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for id_ in ids:
        if id_ in seen:
            raise UsageError(f"{where}: {excerpt(id_, 80)!r} is listed twice; keep one")
        seen.add(id_)


def _refuse_unordered(steps: list[int]) -> None:
    for at, (before, step) in enumerate(pairwise(steps), start=1):
        if step <= before:
            raise UsageError(f"$.changes[{at}].step: {step} follows {before}; each step once, in increasing order")


def _is_text(_checker: TypeChecker, value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, Lexeme)


def _is_integer(_checker: TypeChecker, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@cache
def _validator() -> Validator:
    """The shipped schema, without two leniencies: 2.0 is no integer, and a number kept as text is no text."""
    file = resources.files("governance_pipeline.trajectory") / "schemas" / SCHEMA_FILE
    checker = Draft202012Validator.TYPE_CHECKER.redefine_many({"string": _is_text, "integer": _is_integer})
    strict = extend(Draft202012Validator, type_checker=checker)  # type: ignore[no-untyped-call]  # jsonschema types all but this
    validator: Validator = strict(json.loads(file.read_text("utf-8")))
    return validator
