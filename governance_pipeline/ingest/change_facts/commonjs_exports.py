"""What a JavaScript file gives on through CommonJS: `module.exports = …`, `exports.name = …`.

What belongs here: finding the assignments at the top of a file. What does not: what the values are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.syntax_trees import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_WHOLE: Final = "module.exports"
_PLACES: Final = ("exports.", "module.exports.")
_DEFAULT: Final = "default"


def commonjs_exports(root: Node) -> Iterator[tuple[str | None, Node]]:
    """Give (name, value) of each; a name of None: more is given on than can be listed."""
    for statement in root.children:
        for assignment in statement.children if statement.type == "expression_statement" else ():
            if assignment.type != "assignment_expression":
                continue
            place, value = text_of(assignment.child_by_field_name("left")), _last_value(assignment)
            if place == _WHOLE and value.type == "object":
                yield from _members(value)
            elif place == _WHOLE:
                yield _DEFAULT, value
                if value.type == "call_expression":
                    yield None, value
            else:
                name = next((place.removeprefix(one) for one in _PLACES if place.startswith(one)), "")
                if name and "." not in name and "[" not in name:
                    yield name, value


def _last_value(assignment: Node) -> Node:
    """Give what is assigned in the end: `f` of `exports.a = exports.b = f`."""
    value = assignment.child_by_field_name("right") or assignment
    while value.type == "assignment_expression":
        value = value.child_by_field_name("right") or value.children[-1]
    return value


def _members(value: Node) -> Iterator[tuple[str | None, Node]]:
    for one in value.children:
        if one.type == "pair":
            yield text_of(one.child_by_field_name("key")).strip("\"'"), one.child_by_field_name("value") or one
        elif one.type == "method_definition":
            yield text_of(one.child_by_field_name("name")), one
        elif one.type == "shorthand_property_identifier":
            yield text_of(one), one
        elif one.type == "spread_element":
            yield None, one
