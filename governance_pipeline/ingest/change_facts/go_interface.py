"""The exported names of a Go file: what begins with an upper-case letter (Go specification, Exported identifiers).

What belongs here: functions, types, methods of exported types and of exported interfaces. What does not: the package:
a name may stand in any of its files, which is for the detector to know. `package main` exports nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.callable_shape import Parameter, Shape
from governance_pipeline.ingest.change_facts.interface import Entry, Interface
from governance_pipeline.ingest.change_facts.syntax_trees import child_of, line_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_TYPES: Final = ("type_spec", "type_alias")
_MAIN: Final = "main"


def go_interface(root: Node) -> Interface:
    """List the exported names of a file."""
    found = Interface()
    clause = child_of(root, "package_clause")
    if clause is not None and text_of(child_of(clause, "package_identifier")) == _MAIN:
        return found
    for node in root.children:
        name = text_of(node.child_by_field_name("name"))
        if node.type == "function_declaration" and _is_exported(name):
            found.put(name, Entry(line_of(node), [_shape(node)]))
        elif node.type == "method_declaration" and _is_exported(name):
            owner = _base_name(node.child_by_field_name("receiver"))
            if _is_exported(owner):
                found.put(f"{owner}.{name}", Entry(line_of(node), [_shape(node)]))
        elif node.type == "type_declaration":
            _put_types(node, found)
        elif node.type in ("var_declaration", "const_declaration"):
            for value in _values(node):
                found.put(value, Entry(line_of(node), is_bound=True))
    return found


def _put_types(node: Node, found: Interface) -> None:
    for spec in node.children:
        name, kind = text_of(spec.child_by_field_name("name")), spec.child_by_field_name("type")
        if spec.type not in _TYPES or kind is None or not _is_exported(name):
            continue
        embeds = spec.type == "type_alias" or kind.type not in ("struct_type", "interface_type") or _embeds(kind)
        found.put(name, Entry(line_of(spec), word="type", may_inherit=embeds))
        for method in kind.children if kind.type == "interface_type" else ():
            member = text_of(method.child_by_field_name("name"))
            if method.type == "method_elem" and _is_exported(member):
                found.put(f"{name}.{member}", Entry(line_of(method), [_shape(method)]))


def _embeds(kind: Node) -> bool:
    """Tell whether a struct or interface has the methods of another type."""
    if kind.type == "interface_type":
        return child_of(kind, "type_elem") is not None
    fields = child_of(kind, "field_declaration_list")
    declared = fields.children if fields is not None else []
    return any(one.type == "field_declaration" and one.child_by_field_name("name") is None for one in declared)


def _values(node: Node) -> Iterator[str]:
    stack = list(node.children)
    while stack:
        spec = stack.pop()
        if spec.type in ("var_spec", "const_spec"):
            yield from (text_of(name) for name in spec.children_by_field_name("name"))
        elif spec.type == "var_spec_list":
            stack += spec.children


def _is_exported(name: str) -> bool:
    return name[:1].isupper()


def _base_name(receiver: Node | None) -> str:
    """Name of the type of a receiver: `S` of `(s *S[T])`."""
    stack = list(receiver.children) if receiver is not None else []
    while stack:
        node = stack.pop(0)
        if node.type == "type_identifier":
            return text_of(node)
        stack = [child for child in node.children if child.is_named and child.type != "identifier"] + stack
    return ""


def _shape(node: Node) -> Shape:
    given = node.child_by_field_name("parameters")
    parameters: list[Parameter] = []
    takes_rest = False
    for one in given.children if given is not None else ():
        takes_rest |= one.type == "variadic_parameter_declaration"
        if one.type == "parameter_declaration":
            kind = " ".join(text_of(one.child_by_field_name("type")).split())
            names = [text_of(name) for name in one.children_by_field_name("name")]
            parameters += [Parameter(name, kind) for name in names or [""]]
    return Shape(tuple(parameters), takes_rest, _results(node.child_by_field_name("result")))


def _results(result: Node | None) -> int:
    if result is None:
        return 0
    if result.type != "parameter_list":
        return 1
    declared = [one for one in result.children if one.type == "parameter_declaration"]
    return sum(max(1, len(one.children_by_field_name("name"))) for one in declared)
