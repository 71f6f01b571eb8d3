"""The public names of a Rust file: what is `pub`, and not `pub(crate)` or `pub(super)`, in modules that are `pub` too.

What belongs here: functions, inherent methods, types, traits with their methods, exported macros and what `pub use`
gives on. What does not: methods of `impl Trait for Type`, which are the trait's, and whether the module a file holds is
public itself, which its parent says: the round contract names the files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.callable_shape import Parameter, Shape
from governance_pipeline.ingest.change_facts.interface import Entry, Interface
from governance_pipeline.ingest.change_facts.syntax_trees import child_of, line_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_TYPES: Final = {"struct_item": "struct", "enum_item": "enum", "union_item": "union", "trait_item": "trait"}
_VALUES: Final = frozenset({"const_item", "static_item", "type_item"})
_FUNCTIONS: Final = frozenset({"function_item", "function_signature_item"})
_MACROS: Final = frozenset({"macro_invocation", "expression_statement"})
_DEMANDS: Final = {"async": "await", "unsafe": "unsafe"}
_EXPORTED: Final = "macro_export"


def rust_interface(root: Node) -> Interface:
    """List the public names of a file; a member of a module as `module.name`."""
    found = Interface()
    _put_items(root, "", found)
    return found


def _hidden_types(body: Node) -> frozenset[str]:
    """Types of a body that are not public: what they can do nobody outside sees."""
    return frozenset(
        text_of(node.child_by_field_name("name"))
        for node in body.children
        if node.type in _TYPES and not _is_public(node)
    )


def _put_items(body: Node, prefix: str, found: Interface) -> None:
    attributes = ""
    hidden = _hidden_types(body)
    for node in body.children:
        if node.type == "attribute_item":
            attributes += text_of(node)
            continue
        if node.type != "impl_item":
            _put_item(node, prefix, attributes, found)
        elif _base_name(node) not in hidden:
            _put_impl(node, prefix, found)
        if "comment" not in node.type:
            attributes = ""


def _put_item(node: Node, prefix: str, attributes: str, found: Interface) -> None:
    name = f"{prefix}{text_of(node.child_by_field_name('name'))}"
    if node.type in _MACROS:
        for word in _identifiers(node):  # what a macro makes of its tokens is not known: the names may be there
            found.put(f"{prefix}{word}", Entry(line_of(node), is_bound=True))
    elif node.type == "macro_definition" and _EXPORTED in attributes:
        found.put(f"{name}!", Entry(line_of(node), word="macro"))
    elif _is_public(node):
        _put_public(node, name, prefix, found)


def _put_public(node: Node, name: str, prefix: str, found: Interface) -> None:
    body = node.child_by_field_name("body")
    if node.type == "use_declaration":
        _put_uses(node, prefix, found)
    elif node.type == "mod_item":
        found.put(name, Entry(line_of(node), word="mod", is_bound=body is None))
        if body is not None:
            _put_items(body, f"{name}.", found)
    elif node.type in _FUNCTIONS:
        found.put(name, Entry(line_of(node), [_shape(node)]))
    elif node.type in _VALUES:
        found.put(name, Entry(line_of(node), is_bound=True))
    elif node.type in _TYPES:
        inherits = child_of(node, "trait_bounds") is not None
        found.put(name, Entry(line_of(node), word=_TYPES[node.type], may_inherit=inherits))
        if node.type == "trait_item" and body is not None:
            _put_methods(body, name, found, every=True)


def _put_impl(node: Node, prefix: str, found: Interface) -> None:
    """Add the methods of an `impl`; those of a trait are there for whoever uses the trait, and are not compared."""
    body, owner = node.child_by_field_name("body"), f"{prefix}{_base_name(node)}"
    if body is not None and node.child_by_field_name("trait") is None:
        _put_methods(body, owner, found, every=False)
    elif body is not None:
        for one in body.children:
            if one.type in _FUNCTIONS:
                name = f"{owner}.{text_of(one.child_by_field_name('name'))}"
                found.put(name, Entry(line_of(one), is_bound=True))


def _put_methods(body: Node, owner: str, found: Interface, *, every: bool) -> None:
    """Add the methods of a body; of a trait every one is as public as the trait."""
    for node in body.children:
        if node.type in _FUNCTIONS and (every or _is_public(node)):
            name = f"{owner}.{text_of(node.child_by_field_name('name'))}"
            found.put(name, Entry(line_of(node), [_shape(node)]))
        elif node.type in _MACROS:
            for word in _identifiers(node):
                found.put(f"{owner}.{word}", Entry(line_of(node), is_bound=True))


def _put_uses(node: Node, prefix: str, found: Interface) -> None:
    stack = [node.child_by_field_name("argument")]
    while stack:
        one = stack.pop()
        if one is None:
            continue
        if one.type == "use_wildcard":
            found.is_open = True
        elif one.type == "scoped_use_list":
            stack.append(one.child_by_field_name("list"))
        elif one.type == "use_list":
            stack += one.children
        elif one.is_named and "comment" not in one.type:
            given = one.child_by_field_name("alias") or one.child_by_field_name("name") or one
            found.put(f"{prefix}{text_of(given)}", Entry(line_of(node), is_bound=True))


def _identifiers(node: Node) -> Iterator[str]:
    stack = [node]
    while stack:
        one = stack.pop()
        if one.type in ("identifier", "type_identifier"):
            yield text_of(one)
        stack += one.children


def _is_public(node: Node) -> bool:
    return text_of(child_of(node, "visibility_modifier")) == "pub"


def _base_name(node: Node) -> str:
    """Name of the type an `impl` is for: `S` of `impl<T> a::S<T>`."""
    kind = node.child_by_field_name("type")
    return text_of(kind).partition("<")[0].rpartition("::")[2].strip()


def _shape(node: Node) -> Shape:
    words = text_of(child_of(node, "function_modifiers")).split()
    demands = {demand for word, demand in _DEMANDS.items() if word in words}
    parameters = []
    given = node.child_by_field_name("parameters")
    for one in given.children if given is not None else ():
        pattern = one.child_by_field_name("pattern")
        if one.type == "self_parameter" or (pattern is not None and pattern.type == "self"):
            demands |= _receiver(text_of(one))
        elif one.type == "parameter":
            kind = " ".join(text_of(one.child_by_field_name("type")).split())
            parameters.append(Parameter(text_of(pattern), kind))
    return Shape(tuple(parameters), demands=frozenset(demands))


def _receiver(text: str) -> set[str]:
    """What a receiver demands of who calls: an instance, one that may be changed, one that is given away."""
    demands = {"instance"}
    text = text.partition(":")[2].strip() or text
    if not text.startswith("&"):
        return demands | {"mutable", "owned"}
    return demands | ({"mutable"} if " mut " in f" {text.replace('&', ' ')} " else set())
