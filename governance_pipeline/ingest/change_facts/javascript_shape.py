"""What calls a JavaScript or TypeScript function takes.

What belongs here: reading one function's parameters. What does not: what is exported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.callable_shape import Parameter, Shape
from governance_pipeline.ingest.change_facts.syntax_trees import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "function", "generator_function"})
_GIVEN: Final = frozenset({"required_parameter", "optional_parameter"})
_REST: Final = "rest_pattern"
_THIS: Final = "this"
_ARGUMENTS: Final = "arguments"


def javascript_shape(function: Node, *, is_typed: bool) -> Shape:
    """Read the parameters; without types each may be left out, and a body that reads `arguments` takes the rest."""
    alone = function.child_by_field_name("parameter")
    if alone is not None:
        return Shape((Parameter(text_of(alone), is_optional=not is_typed),))
    given = function.child_by_field_name("parameters")
    parameters: list[Parameter] = []
    takes_rest = _reads_arguments(function.child_by_field_name("body"))
    for one in given.children if given is not None else ():
        pattern = one.child_by_field_name("pattern")
        if one.type not in _GIVEN or pattern is None or pattern.type == _THIS:
            continue
        if pattern.type == _REST:
            takes_rest = True
            continue
        is_optional = not is_typed or one.type == "optional_parameter" or one.child_by_field_name("value") is not None
        name = text_of(pattern) if pattern.type == "identifier" else ""
        kind = text_of(one.child_by_field_name("type")).lstrip(":").strip()
        parameters.append(Parameter(name, " ".join(kind.split()), is_optional))
    return Shape(tuple(parameters), takes_rest)


def _reads_arguments(body: Node | None) -> bool:
    stack = [body] if body is not None else []
    while stack:
        node = stack.pop()
        if node.type == "identifier" and text_of(node) == _ARGUMENTS:
            return True
        stack += node.children
    return False
