"""Rust: modules of crates by the folders they lie in, crates by the names their `Cargo.toml` files give.

`mod a;` leads to `a.rs` or `a/mod.rs`; a path is followed from `crate`, `self`, `super`, a child module or the name of
a crate of the repository, as far as there are files, and what remains of it is a member of the last one. Modules moved
by `#[path]`, and what macros make, are not seen.
"""

from __future__ import annotations

import tomllib
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
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY: Final = """
(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(struct_item name: (type_identifier) @name) @class
(enum_item name: (type_identifier) @name) @class
(union_item name: (type_identifier) @name) @class
(trait_item name: (type_identifier) @name) @class
(impl_item type: (_) @owner) @scope
(mod_item name: (identifier) @owner body: (_)) @space
(call_expression function: [(identifier) (scoped_identifier) (field_expression)] @call)
(struct_expression name: [(type_identifier) (scoped_type_identifier)] @call)
(impl_item trait: [(type_identifier) (scoped_type_identifier)] @base)
(impl_item trait: (generic_type type: [(type_identifier) (scoped_type_identifier)] @base))
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier)] @base))
(use_declaration argument: (_)) @import
(mod_item name: (identifier) !body) @import
"""
_ROOTS: Final = ("src/lib.rs", "src/main.rs")
_MOST_USES: Final = 10_000
"""Names one `use` may bring in; beyond, the rest is left out: no person writes that."""


def _grammar() -> object:
    import tree_sitter_rust

    return tree_sitter_rust.language()


def _imports(node: Node) -> list[Import]:
    if node.type == "mod_item":
        name = text_of(node.child_by_field_name("name"))
        return [Import(f"self::{name}", local=name)]
    argument = node.child_by_field_name("argument")
    return [] if argument is None else _uses(argument)


def _uses(argument: Node) -> list[Import]:
    """Every path of a use tree, without recursion."""
    found: list[Import] = []
    waiting = [("", argument)]
    while waiting and len(found) < _MOST_USES:
        before, node = waiting.pop()
        if node.type == "scoped_use_list":
            path = _path(before, node.child_by_field_name("path"))
            lists = node.child_by_field_name("list")
            waiting += [] if lists is None else [(path, child) for child in reversed(lists.named_children)]
        elif node.type == "use_list":
            waiting += [(before, child) for child in reversed(node.named_children)]
        elif node.type == "use_as_clause":
            path = _path(before, node.child_by_field_name("path"))
            found.append(Import(path, local=text_of(node.child_by_field_name("alias"))))
        elif node.type == "use_wildcard":
            found.append(Import(_path(before, node.named_children[0] if node.named_children else None), (("*", "*"),)))
        elif node.type == "self":
            found.append(Import(before, local=before.rpartition("::")[2]))
        elif node.type in ("identifier", "scoped_identifier", "crate", "super"):
            path = _path(before, node)
            found.append(Import(path, local=path.rpartition("::")[2]))
    return found


def _path(before: str, node: Node | None) -> str:
    text = "".join(text_of(node).split())
    return "::".join(part for part in (before, text.removeprefix("::")) if part)


class _Crates:
    """Crates and modules of one repository."""

    def __init__(self, sources: Sources) -> None:
        self._paths = sources.paths
        self._crates: dict[str, str] = {}
        self._folders: dict[str, str] = {}
        for path, data in sorted(sources.configuration.items()):
            if path.rpartition("/")[2] == "Cargo.toml":
                self._add(folder_of(path), _toml(data))

    def _add(self, folder: str, document: dict[str, Any]) -> None:
        package, library = document.get("package"), document.get("lib")
        declared = library.get("path") if isinstance(library, dict) else None
        roots = [
            f"{folder}/{root}".lstrip("/") for root in (*([declared] if isinstance(declared, str) else []), *_ROOTS)
        ]
        root = next((one for one in roots if one in self._paths), None)
        if root is None:
            return
        self._folders[folder] = root
        name = package.get("name") if isinstance(package, dict) else None
        named = library.get("name") if isinstance(library, dict) else None
        if isinstance(named or name, str):
            self._crates[str(named or name).replace("-", "_")] = root

    def resolve(self, path: str, target: str) -> Resolved:
        first, *rest = target.split("::")
        if first in ("self", "super"):
            return self._relative(path, [first, *rest])
        root = self._root(path)
        if first == "crate":
            return UNKNOWN if root is None else self._below(root, rest)
        child = self._child(path, first)
        if child is not None:
            return self._below(child, rest)
        if first in self._crates:
            return self._below(self._crates[first], rest)
        return EXTERNAL

    def _relative(self, path: str, parts: list[str]) -> Resolved:
        at: str | None = path
        for position, part in enumerate(parts):
            if part == "super":
                at = self._parent(at) if at else None
            elif part != "self":
                return UNKNOWN if at is None else self._below(at, parts[position:])
        return Resolved((at,)) if at else UNKNOWN

    def _below(self, path: str, parts: list[str]) -> Resolved:
        """Follow child modules as far as they are files."""
        for position, part in enumerate(parts):
            child = self._child(path, part)
            if child is None:
                return Resolved((path,), member=".".join(parts[position:]))
            path = child
        return Resolved((path,))

    def _child(self, path: str, name: str) -> str | None:
        folder = self._own_folder(path)
        return next((one for one in (f"{folder}{name}.rs", f"{folder}{name}/mod.rs") if one in self._paths), None)

    def _own_folder(self, path: str) -> str:
        """Folder of the child modules of a file, with its final slash ("" for the root)."""
        name = path.rpartition("/")[2]
        is_top = name in ("mod.rs", "lib.rs", "main.rs", "build.rs") or path in self._crates.values()
        folder = folder_of(path) if is_top else path.removesuffix(".rs")
        return f"{folder}/" if folder else ""

    def _parent(self, path: str) -> str | None:
        folder, name = folder_of(path), path.rpartition("/")[2]
        above = folder_of(folder) if name == "mod.rs" else folder
        spellings = [f"{above}/{one}".lstrip("/") for one in ("mod.rs", "lib.rs", "main.rs")]
        if name != "mod.rs":
            spellings.insert(0, f"{folder}.rs")
        return next((one for one in spellings if one in self._paths and one != path), None)

    def _root(self, path: str) -> str | None:
        return next((self._folders[folder] for folder in ancestors(folder_of(path)) if folder in self._folders), None)


def _toml(data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}


LANGUAGE: Final = Language(
    name="rust",
    suffixes=(".rs",),
    grammar=_grammar,
    query=_QUERY,
    imports=_imports,
    resolver=lambda sources: _Crates(sources).resolve,
    configuration=("Cargo.toml",),
    family="rust",
)
