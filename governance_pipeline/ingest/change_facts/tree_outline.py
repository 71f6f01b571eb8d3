"""The tests of a JavaScript, TypeScript, Go, Java or Rust file, from its tree-sitter syntax tree.

What belongs here: what a test is in each of these languages; names and patterns come from the table (frameworks).
What does not: Python, which has an exact parser of its own. A tree with errors gives no outline: what stands around an
error may be anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.outline import WHOLE_FILE, Outline, TestCase, put
from governance_pipeline.ingest.change_facts.syntax_trees import line_of, root_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node

    from governance_pipeline.ingest.change_facts.frameworks import Language

_CALLEE: Final = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
_FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "function", "generator_function"})
_NAMED_FUNCTIONS: Final = frozenset({"function_declaration", "variable_declarator"})
_SEPARATOR: Final = " > "


def tree_outline(content: bytes, language: Language, path: str) -> Outline | None:
    """List the tests of a file; None when it has a syntax error, or one the grammar does not know."""
    root = root_of(content, language.name, path)
    if root is None:
        return None
    outline: Outline = {}
    for case in _READERS[language.name](root, language):
        put(outline, case)
    return outline


def _javascript(root: Node, language: Language) -> Iterator[TestCase]:
    words = language.words
    tests = words["tests"] | words["disabled_tests"] | words["focused"]
    suites = words["suites"] | words["disabled_suites"]
    stack: list[tuple[Node, str]] = [(root, "")]
    while stack:
        node, prefix = stack.pop()
        inside = prefix
        name_node = node.child_by_field_name("name") if node.type in _NAMED_FUNCTIONS else None
        if name_node is not None and (node.type == "function_declaration" or _is_function(node)):
            yield TestCase(text_of(name_node), line_of(node), is_helper=True)
        elif node.type == "call_expression":
            match = _CALLEE.match(text_of(node.child_by_field_name("function")))
            name, *modifiers = match[0].split(".") if match else [""]
            if name in tests | suites:
                title, body = _title_and_body(node)
                if title is not None and (body is not None or "todo" in modifiers):
                    full = f"{prefix}{title}"
                    marker = _javascript_marker(name, modifiers, language)
                    is_suite = name in suites or "describe" in modifiers or name == "fdescribe"
                    yield _case(full, node, body, language, marker, is_suite=is_suite)
                    inside = f"{full}{_SEPARATOR}"
        stack += [(child, inside) for child in reversed(node.children)]


def _is_function(declarator: Node) -> bool:
    value = declarator.child_by_field_name("value")
    return value is not None and value.type in _FUNCTIONS


def _javascript_marker(name: str, modifiers: list[str], language: Language) -> str | None:
    words = language.words
    off = words["disabled_tests"] | words["disabled_suites"] | words["focused"]
    if name in off or words["disabling_modifiers"].union(words["focusing_modifiers"]).intersection(modifiers):
        return ".".join([name, *modifiers])
    return None


def _title_and_body(call: Node) -> tuple[str | None, Node | None]:
    given = call.child_by_field_name("arguments")
    arguments = [child for child in given.children if child.is_named] if given else []
    if not arguments or arguments[0].type not in ("string", "template_string"):
        return None, None
    body = next((argument for argument in arguments[1:] if argument.type in _FUNCTIONS), None)
    return text_of(arguments[0])[1:-1], body


def _go(root: Node, language: Language) -> Iterator[TestCase]:
    patterns = language.patterns
    top = [text_of(node) for node in root.children if node.type == "comment"]
    yield TestCase(
        WHOLE_FILE, 1, next((line for line in top if patterns["disabled_file"].match(line)), None), is_suite=True
    )
    for node in root.children:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if node.type not in ("function_declaration", "method_declaration") or name is None or body is None:
            continue
        if not patterns["test_name"].match(text_of(name)):
            yield TestCase(text_of(name), line_of(node), is_helper=True)
        else:
            calls = [text_of(one).strip() for one in _statements_of(body)]
            marker = next((text for text in calls if patterns["disabled_call"].match(text)), None)
            yield _case(text_of(name), node, body, language, marker)


def _java(root: Node, language: Language) -> Iterator[TestCase]:
    stack: list[tuple[Node, str]] = [(root, "")]
    while stack:
        node, prefix = stack.pop()
        inside = prefix
        name = node.child_by_field_name("name")
        if node.type in ("class_declaration", "method_declaration") and name is not None:
            annotations = _annotations(node)
            marker = next((f"@{text}" for text in annotations if _is_off(text, language)), None)
            full = f"{prefix}{text_of(name)}"
            if node.type == "class_declaration":
                yield TestCase(full, line_of(node), marker, is_suite=True)
                inside = f"{full}."
            elif any(_annotation_name(text) in language.words["test_annotations"] for text in annotations):
                yield _case(full, node, node.child_by_field_name("body"), language, marker)
            else:
                yield TestCase(full, line_of(node), is_helper=True)
        stack += [(child, inside) for child in reversed(node.children)]


def _annotations(node: Node) -> list[str]:
    modifiers = next((child for child in node.children if child.type == "modifiers"), None)
    found = modifiers.children if modifiers is not None else []
    return [text_of(one).removeprefix("@") for one in found if one.type in ("annotation", "marker_annotation")]


def _annotation_name(text: str) -> str:
    return text.partition("(")[0].strip().rpartition(".")[2]


def _is_off(text: str, language: Language) -> bool:
    return _annotation_name(text) in language.words["disabling"] or bool(
        language.patterns["disabling_arguments"].match(text.replace("\n", " "))
    )


def _rust(root: Node, language: Language) -> Iterator[TestCase]:
    patterns = language.patterns
    stack: list[tuple[Node, str, list[str]]] = [(root, "", [])]
    while stack:
        node, prefix, attributes = stack.pop()
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        inside = prefix
        if node.type == "mod_item" and name is not None:
            inside = f"{prefix}{text_of(name)}::"
        elif node.type == "function_item" and name is not None:
            if any(patterns["test_attribute"].match(text) for text in attributes):
                marker = next((text for text in attributes if patterns["disabling"].match(text)), None)
                yield _case(f"{prefix}{text_of(name)}", node, body, language, marker)
            else:
                yield TestCase(f"{prefix}{text_of(name)}", line_of(node), is_helper=True)
            continue
        waiting: list[str] = []
        children = []
        for child in node.children:
            if child.type == "attribute_item":
                waiting.append(text_of(child))
            elif "comment" not in child.type:
                children.append((child, inside, waiting))
                waiting = []
        stack += reversed(children)


_READERS: Final[dict[str, Callable[[Node, Language], Iterator[TestCase]]]] = {
    "javascript": _javascript,
    "go": _go,
    "java": _java,
    "rust": _rust,
}


def _case(
    name: str, node: Node, body: Node | None, language: Language, marker: str | None, *, is_suite: bool = False
) -> TestCase:
    case = TestCase(name, line_of(node), marker, is_suite=is_suite)
    if body is not None and not is_suite:
        case.assertions = _assertions(body, language)
        case.statements = {" ".join(text_of(one).split()) for one in _statements_of(body)}
    return case


def _assertions(body: Node, language: Language) -> list[str]:
    """Texts of the outermost statements that assert, in their order."""
    wanted, pattern = language.words["statements"], language.patterns["assertion"]
    found: list[str] = []
    stack = [body]
    while stack:
        node = stack.pop()
        if node.type in wanted and node is not body:
            text = text_of(node).strip()
            if pattern.match(text):
                found.append(text)
                continue
        stack += reversed(node.children)
    return found


def _statements_of(body: Node) -> list[Node]:
    """Statements of a body at its outermost level."""
    inner = body.child_by_field_name("body") or body
    lists = [child for child in inner.children if child.type == "statement_list"]
    return [child for child in (lists[0] if lists else inner).children if child.is_named]
