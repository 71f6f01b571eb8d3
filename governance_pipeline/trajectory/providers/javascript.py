"""JavaScript and TypeScript: modules by path, by the `paths` of `tsconfig.json` and by the packages of the repository.

A relative import is tried as written, with each suffix, and as a folder with an index file; `./a.js` also means
`./a.ts`, as the TypeScript compiler has it. Anything else is an alias of the nearest `tsconfig.json` or
`jsconfig.json`, a package whose `package.json` is in the repository, or external.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.trajectory.providers.language import (
    EXTERNAL,
    UNKNOWN,
    Import,
    Language,
    Resolved,
    Sources,
    ancestors,
    folder_of,
    joined_path,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_COMMON: Final = """
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) @function
(method_definition name: (_) @name) @method
(call_expression function: [(identifier) (member_expression)] @call)
(new_expression constructor: [(identifier) (member_expression)] @call)
(import_statement source: (string)) @import
(export_statement source: (string)) @import
(call_expression function: [(import) (identifier)] arguments: (arguments . (string) .)) @import
"""
_JAVASCRIPT: Final = """
(class_declaration name: (identifier) @name) @class
(field_definition property: (property_identifier) @name value: [(arrow_function) (function_expression)]) @method
(class_heritage [(identifier) (member_expression)] @base)
(jsx_opening_element name: [(identifier) (member_expression)] @call)
(jsx_self_closing_element name: [(identifier) (member_expression)] @call)
"""
_TYPESCRIPT: Final = """
(class_declaration name: (type_identifier) @name) @class
(abstract_class_declaration name: (type_identifier) @name) @class
(interface_declaration name: (type_identifier) @name) @class
(enum_declaration name: (identifier) @name) @class
(function_signature name: (identifier) @name) @function
(public_field_definition name: (property_identifier) @name value: [(arrow_function) (function_expression)]) @method
(extends_clause value: [(identifier) (member_expression)] @base)
(implements_clause [(type_identifier) (nested_type_identifier)] @base)
(implements_clause (generic_type name: [(type_identifier) (nested_type_identifier)] @base))
(extends_type_clause type: [(type_identifier) (nested_type_identifier)] @base)
(extends_type_clause type: (generic_type name: [(type_identifier) (nested_type_identifier)] @base))
"""
_JSX: Final = """
(jsx_opening_element name: [(identifier) (member_expression)] @call)
(jsx_self_closing_element name: [(identifier) (member_expression)] @call)
"""
_SUFFIXES: Final = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_WRITTEN_AS: Final = {".js": (".ts", ".tsx", ".d.ts"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_CONFIGURATION: Final = ("tsconfig.json", "jsconfig.json", "package.json")
_COMMENT_OR_TEXT: Final = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA: Final = re.compile(r",(\s*[}\]])")


def _javascript() -> object:
    import tree_sitter_javascript

    return tree_sitter_javascript.language()


def _typescript() -> object:
    import tree_sitter_typescript

    return tree_sitter_typescript.language_typescript()


def _tsx() -> object:
    import tree_sitter_typescript

    return tree_sitter_typescript.language_tsx()


def _imports(node: Node) -> list[Import]:
    if node.type == "call_expression":
        return _called_import(node)
    source = _unquoted(text_of(node.child_by_field_name("source")))
    names: list[tuple[str, str]] = []
    local = None
    for child in node.children:
        if child.type == "import_clause":
            found, local = _clause(child)
            names += found
        elif child.type == "export_clause":
            names += [_specifier(one) for one in child.named_children if one.type == "export_specifier"]
        elif child.type == "*":
            names.append(("*", "*"))
    return [Import(source, tuple(names), local)]


def _called_import(node: Node) -> list[Import]:
    """`import("x")` and `require("x")`; `const a = require("x")` names the whole of it."""
    called = text_of(node.child_by_field_name("function"))
    arguments = node.child_by_field_name("arguments")
    if called not in ("import", "require") or arguments is None:
        return []
    around = node.parent
    name = around.child_by_field_name("name") if around is not None and around.type == "variable_declarator" else None
    local = text_of(name) if name is not None and name.type == "identifier" else None
    return [Import(_unquoted(text_of(arguments.named_children[0])), local=local)]


def _clause(clause: Node) -> tuple[list[tuple[str, str]], str | None]:
    names: list[tuple[str, str]] = []
    local = None
    for child in clause.named_children:
        if child.type == "identifier":
            names.append(("default", text_of(child)))
        elif child.type == "namespace_import":
            local = text_of(child.named_children[-1]) if child.named_children else None
        elif child.type == "named_imports":
            names += [_specifier(one) for one in child.named_children if one.type == "import_specifier"]
    return names, local


def _specifier(node: Node) -> tuple[str, str]:
    name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
    return text_of(name), text_of(alias or name)


def _unquoted(text: str) -> str:
    return text[1:-1]


class _Modules:
    """Module names of one repository."""

    def __init__(self, sources: Sources) -> None:
        self._paths = sources.paths
        self._aliases: dict[str, list[tuple[str, list[str]]]] = {}
        self._packages: dict[str, str] = {}
        for path, data in sorted(sources.configuration.items()):
            document = relaxed_json(data)
            folder = folder_of(path)
            if path.endswith("package.json"):
                if isinstance(document.get("name"), str):
                    self._packages.setdefault(document["name"], folder)
            elif path.endswith(("tsconfig.json", "jsconfig.json")):
                self._aliases.setdefault(folder, []).extend(_aliases(folder, document))

    def resolve(self, path: str, target: str) -> Resolved:
        if target.startswith(("./", "../")) or target in (".", ".."):
            base = joined_path(folder_of(path), target)
            found = None if base is None else self._file(base)
            return Resolved((found,)) if found else UNKNOWN
        is_aliased = False
        for pattern, places in self._aliases_of(path):
            star = _matched(pattern, target)
            if star is None:
                continue
            is_aliased = is_aliased or pattern != "*"
            found = next((file for place in places if (file := self._file(place.replace("*", star, 1)))), None)
            if found:
                return Resolved((found,))
        return UNKNOWN if is_aliased else self._package(target)

    def _aliases_of(self, path: str) -> list[tuple[str, list[str]]]:
        return next((self._aliases[folder] for folder in ancestors(folder_of(path)) if folder in self._aliases), [])

    def _package(self, target: str) -> Resolved:
        parts = target.split("/")
        name = "/".join(parts[: 2 if target.startswith("@") else 1])
        if name not in self._packages:
            return EXTERNAL
        rest = target.removeprefix(name).strip("/")
        places = [f"{self._packages[name]}/{middle}{rest}".strip("/") for middle in ("", "src/", "lib/")]
        found = next((file for place in places if (file := self._file(place))), None)
        return Resolved((found,)) if found else UNKNOWN

    def _file(self, base: str) -> str | None:
        if base in self._paths:
            return base
        spellings = [base + suffix for suffix in _SUFFIXES]
        for written, meant in _WRITTEN_AS.items():
            if base.endswith(written):
                spellings += [base.removesuffix(written) + suffix for suffix in meant]
        spellings += [f"{base}/index{suffix}".lstrip("/") for suffix in _SUFFIXES]
        return next((one for one in spellings if one in self._paths), None)


def relaxed_json(data: bytes) -> dict[str, Any]:
    """Read JSON with comments and trailing commas, as these tools allow; what cannot be read says nothing."""
    text = _COMMENT_OR_TEXT.sub(lambda match: match[1] or "", data.decode("utf-8", "replace"))
    try:
        document = json.loads(_TRAILING_COMMA.sub(r"\1", text))
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _aliases(folder: str, document: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """(pattern, places) of a configuration, places from the root of the repository, the longest pattern first."""
    options = document.get("compilerOptions")
    if not isinstance(options, dict):
        return []
    url = options.get("baseUrl")
    base = joined_path(folder, url) if isinstance(url, str) else folder
    declared = options.get("paths")
    paths: dict[str, Any] = declared if isinstance(declared, dict) else {}
    found = []
    for pattern, places in sorted(paths.items(), key=lambda pair: (-len(pair[0]), pair[0])):
        texts = [place for place in places if isinstance(place, str)] if isinstance(places, list) else []
        found.append((pattern, [one for place in texts if (one := joined_path(base or "", place)) is not None]))
    if isinstance(url, str) and base is not None:
        found.append(("*", [f"{base}/*".lstrip("/")]))
    return found


def _matched(pattern: str, target: str) -> str | None:
    """What the star of a pattern stands for; "" for a pattern without one that is the target; None for no match."""
    head, star, tail = pattern.partition("*")
    if not star:
        return "" if pattern == target else None
    if len(target) < len(head) + len(tail) or not target.startswith(head) or not target.endswith(tail):
        return None
    return target[len(head) : len(target) - len(tail)]


def _language(name: str, suffixes: tuple[str, ...], grammar: Any, query: str) -> Language:
    return Language(
        name=name,
        suffixes=suffixes,
        grammar=grammar,
        query=_COMMON + query,
        imports=_imports,
        resolver=lambda sources: _Modules(sources).resolve,
        configuration=_CONFIGURATION,
        family="javascript",
        selves=frozenset({"this"}),
    )


JAVASCRIPT: Final = _language("javascript", (".js", ".jsx", ".mjs", ".cjs"), _javascript, _JAVASCRIPT)
TYPESCRIPT: Final = _language("typescript", (".ts", ".mts", ".cts"), _typescript, _TYPESCRIPT)
TSX: Final = _language("tsx", (".tsx",), _tsx, _TYPESCRIPT + _JSX)
