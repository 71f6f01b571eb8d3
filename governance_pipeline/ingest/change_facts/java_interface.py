"""The public names of a Java file: what is `public` or `protected` in types that are so too; all of an interface is.

What belongs here: classes, interfaces, enums, records and annotations, their methods and constructors, each overload
by itself, with the constructors and accessors a class or record has without writing them. What does not: fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.callable_shape import Parameter, Shape
from governance_pipeline.ingest.change_facts.interface import Entry, Interface
from governance_pipeline.ingest.change_facts.syntax_trees import child_of, line_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_TYPES: Final = {
    "class_declaration": "class", "interface_declaration": "interface", "enum_declaration": "enum",
    "record_declaration": "record", "annotation_type_declaration": "@interface",
}  # fmt: skip
_OPEN_TYPES: Final = frozenset({"interface_declaration", "annotation_type_declaration"})
_PUBLIC: Final = frozenset({"public", "protected"})
_BASES: Final = ("superclass", "super_interfaces", "extends_interfaces")
_KEEPING: Final = frozenset({"Deprecated", "FunctionalInterface", "SuppressWarnings", "Override", "SafeVarargs"})
"""Annotations that write no code; any other, on a type, may give it methods (Lombok, AutoValue)."""
_VOID: Final = "void_type"


def java_interface(root: Node) -> Interface:
    """List the public names of a file: `Outer.Inner`, `Outer.method`, a constructor as `Outer.Outer`."""
    found = Interface()
    for node in root.children:
        if node.type in _TYPES and "public" in _modifiers(node):
            _put_type(node, "", found)
    return found


def _put_type(node: Node, prefix: str, found: Interface) -> None:
    simple = text_of(node.child_by_field_name("name"))
    name = f"{prefix}{simple}"
    may_inherit = child_of(node, *_BASES) is not None or _is_written_by_others(node)
    found.put(name, Entry(line_of(node), word=_TYPES[node.type], may_inherit=may_inherit))
    if node.type == "record_declaration":
        _put_components(node, name, simple, found)
    has_constructor = False
    for member in _members(node.child_by_field_name("body")):
        has_constructor |= member.type == "constructor_declaration"
        is_public = node.type in _OPEN_TYPES or bool(_PUBLIC & _modifiers(member))
        if is_public and "private" not in _modifiers(member):
            _put_member(member, name, found, is_in_interface=node.type in _OPEN_TYPES)
    if node.type == "class_declaration" and not has_constructor and not may_inherit:
        found.put(f"{name}.{simple}", Entry(line_of(node), [Shape(())]))


def _put_member(member: Node, owner: str, found: Interface, *, is_in_interface: bool) -> None:
    name = f"{owner}.{text_of(member.child_by_field_name('name'))}"
    if member.type in _TYPES:
        _put_type(member, f"{owner}.", found)
    elif member.type == "constructor_declaration":
        found.put(name, Entry(line_of(member), [_shape(member, frozenset())]))
    elif member.type == "method_declaration":
        modifiers = _modifiers(member)
        demands = set() if "static" in modifiers else {"instance"}
        if "protected" in modifiers and not is_in_interface:
            demands.add("protected")
        found.put(name, Entry(line_of(member), [_shape(member, frozenset(demands))]))


def _put_components(node: Node, owner: str, simple: str, found: Interface) -> None:
    """Add the constructor and the accessors of a record."""
    shape = _shape(node, frozenset())
    found.put(f"{owner}.{simple}", Entry(line_of(node), [shape]))
    for one in shape.parameters:
        found.put(f"{owner}.{one.name}", Entry(line_of(node), [Shape((), demands=frozenset({"instance"}))]))


def _members(body: Node | None) -> Iterator[Node]:
    for child in body.children if body is not None else ():
        if child.type == "enum_body_declarations":
            yield from child.children
        else:
            yield child


def _modifiers(node: Node) -> frozenset[str]:
    given = child_of(node, "modifiers")
    return frozenset(child.type for child in given.children) if given is not None else frozenset()


def _is_written_by_others(node: Node) -> bool:
    given = child_of(node, "modifiers")
    marks = [one for one in given.children if "annotation" in one.type] if given is not None else []
    return any(text_of(one.child_by_field_name("name")).rpartition(".")[2] not in _KEEPING for one in marks)


def _shape(node: Node, demands: frozenset[str]) -> Shape:
    given = node.child_by_field_name("parameters")
    parameters: list[Parameter] = []
    takes_rest = False
    for one in given.children if given is not None else ():
        takes_rest |= one.type == "spread_parameter"
        if one.type == "formal_parameter":
            kind = " ".join(text_of(one.child_by_field_name("type")).split())
            parameters.append(Parameter(text_of(one.child_by_field_name("name")), kind))
    result = node.child_by_field_name("type")
    gives = None if node.type != "method_declaration" or result is None else int(result.type != _VOID)
    return Shape(tuple(parameters), takes_rest, gives, demands)
