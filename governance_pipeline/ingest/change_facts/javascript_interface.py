"""The public names of a JavaScript or TypeScript file: what it exports, as a module or through CommonJS.

What belongs here: exported functions, classes with their methods, and types. What does not: a script without exports,
which has none; private members (`private`, `#name`, and by convention `_name`). In JavaScript every parameter may be
left out, so a further one narrows nothing there; TypeScript says which are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.commonjs_exports import commonjs_exports
from governance_pipeline.ingest.change_facts.interface import Entry, Interface
from governance_pipeline.ingest.change_facts.javascript_shape import FUNCTIONS, javascript_shape
from governance_pipeline.ingest.change_facts.syntax_trees import child_of, line_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

DEFAULT: Final = "default"
_CLASSES: Final = frozenset({"class_declaration", "abstract_class_declaration", "class"})
_DECLARED: Final = frozenset({"function_declaration", "generator_function_declaration", "function_signature"})
_VARIABLES: Final = frozenset({"lexical_declaration", "variable_declaration"})
_WORDS: Final = {
    "interface_declaration": "interface", "type_alias_declaration": "type", "enum_declaration": "enum",
    "internal_module": "namespace", "module": "namespace",
}  # fmt: skip
_CALLED: Final = _DECLARED | FUNCTIONS | {"method_definition"}
_METHODS: Final = frozenset({"method_definition", "abstract_method_signature", "method_signature"})
_ACCESSORS: Final = frozenset({"get", "set"})


def javascript_interface(root: Node, *, is_typed: bool) -> Interface:
    """List the public names of a file; what is exported by default is `default`."""
    found, local = Interface(), _Local(root, is_typed=is_typed)
    for node in root.children:
        if node.type == "export_statement":
            _put_export(node, local, found)
    for name, value in commonjs_exports(root):
        if name is None:
            found.is_open = True
        else:
            local.put(name, value, found)
    return found


class _Local:
    """What a file declares at its top, under the names exports speak of."""

    def __init__(self, root: Node, *, is_typed: bool) -> None:
        self._is_typed = is_typed
        self._nodes: dict[str, list[Node]] = {}
        for node in root.children:
            for name, declared in declarations(node):
                self._nodes.setdefault(name, []).append(declared)

    def of(self, name: str) -> list[Node]:
        """What is declared under a name."""
        return self._nodes.get(name, [])

    def put(self, name: str, value: Node, found: Interface) -> None:
        """Add what stands under a name: a declaration, a function, or the name of one."""
        known = self._nodes.get(text_of(value), []) if value.type in _NAMES else [value]
        if not known:
            found.put(name, Entry(line_of(value), is_bound=True))
        for node in _shown(known):
            self._put_declared(name, node, found)

    def _put_declared(self, name: str, node: Node, found: Interface) -> None:
        value = node.child_by_field_name("value") if node.type == "variable_declarator" else node
        if value is not None and (value.type in _CALLED):
            found.put(name, Entry(line_of(node), [javascript_shape(value, is_typed=self._is_typed)]))
        elif value is not None and value.type in _CLASSES:
            self._put_class(name, value, found)
        elif node.type in _WORDS:
            found.put(name, Entry(line_of(node), word=_WORDS[node.type]))
        else:
            found.put(name, Entry(line_of(node), is_bound=True))

    def _put_class(self, name: str, node: Node, found: Interface) -> None:
        inherits = child_of(node, "class_heritage", "decorator") is not None
        found.put(name, Entry(line_of(node), word="class", may_inherit=inherits))
        body = node.child_by_field_name("body")
        members = [one for one in (body.children if body is not None else []) if _is_public(one)]
        for member in _shown(members):
            self._put_member(name, member, found)

    def _put_member(self, owner: str, member: Node, found: Interface) -> None:
        name = f"{owner}.{text_of(member.child_by_field_name('name'))}"
        value = member.child_by_field_name("value")
        if member.type in _METHODS:
            if _ACCESSORS & {child.type for child in member.children}:
                found.put(name, Entry(line_of(member), is_bound=True))
            else:
                found.put(name, Entry(line_of(member), [javascript_shape(member, is_typed=self._is_typed)]))
        elif value is not None and value.type in FUNCTIONS:
            found.put(name, Entry(line_of(member), [javascript_shape(value, is_typed=self._is_typed)]))
        elif member.child_by_field_name("name") is not None:
            found.put(name, Entry(line_of(member), is_bound=True))


_NAMES: Final = frozenset({"identifier", "shorthand_property_identifier", "type_identifier"})
_SIGNATURES: Final = frozenset({"function_signature", "method_signature"})


def _shown(nodes: list[Node]) -> Iterator[Node]:
    """Leave out the body of what has overload signatures: callers see only these."""
    signed = {text_of(one.child_by_field_name("name")) for one in nodes if one.type in _SIGNATURES}
    for one in nodes:
        if one.type in _SIGNATURES or text_of(one.child_by_field_name("name")) not in signed:
            yield one


def declarations(node: Node) -> Iterator[tuple[str, Node]]:
    """Give the names a statement declares, exported or not, each with its node."""
    if node.type in ("export_statement", "ambient_declaration"):
        for child in node.children:
            yield from declarations(child)
    elif node.type in _VARIABLES:
        for one in node.children:
            name = one.child_by_field_name("name") if one.type == "variable_declarator" else None
            if name is not None and name.type == "identifier":
                yield text_of(name), one
            elif name is not None:
                yield from ((text_of(part), part) for part in _bound(name))
    elif node.type == "expression_statement" and child_of(node, "internal_module") is not None:
        yield from declarations(node.children[0])
    elif node.type in _DECLARED or node.type in _CLASSES or node.type in _WORDS:
        yield text_of(node.child_by_field_name("name")), node


def _bound(pattern: Node) -> Iterator[Node]:
    stack = [pattern]
    while stack:
        one = stack.pop()
        if one.type in ("shorthand_property_identifier_pattern", "identifier"):
            yield one
        stack += one.children


def _put_export(node: Node, local: _Local, found: Interface) -> None:
    clause, space = child_of(node, "export_clause"), child_of(node, "namespace_export")
    declared = list(declarations(node))
    if any(child.type == "default" for child in node.children):
        target = node.child_by_field_name("value") or node.child_by_field_name("declaration")
        if target is not None:
            local.put(DEFAULT, target, found)
    elif space is not None:
        found.put(text_of(space.children[-1]), Entry(line_of(node), is_bound=True))
    elif clause is not None:
        _put_listed(clause, local, found, is_from=node.child_by_field_name("source") is not None)
    elif not declared:
        found.is_open = True  # `export *`, `export =`
    else:
        for name in {name for name, _ in declared} - found.names.keys():
            _put_named(name, node, local, found)


def _put_listed(clause: Node, local: _Local, found: Interface, *, is_from: bool) -> None:
    """Add the names of `export { a, b as c }`; those of another file are there, whatever they are."""
    for one in clause.children:
        own = one.child_by_field_name("name") if one.type == "export_specifier" else None
        if own is None:
            continue
        given = text_of(one.child_by_field_name("alias") or own).strip("\"'")
        if is_from:
            found.put(given, Entry(line_of(one), is_bound=True))
        else:
            local.put(given, own, found)


def _put_named(name: str, node: Node, local: _Local, found: Interface) -> None:
    """Add what is declared where it is exported, every overload of it at once."""
    for known in _shown(local.of(name)):
        local.put(name, known, found)
    if name not in found.names:
        found.put(name, Entry(line_of(node), is_bound=True))


def _is_public(member: Node) -> bool:
    name = member.child_by_field_name("name")
    if name is None or name.type == "private_property_identifier" or text_of(name).startswith("_"):
        return False
    return text_of(child_of(member, "accessibility_modifier")) != "private"
