"""Go: packages are folders, known by the module paths of the `go.mod` files around them.

An import names a package, so its edge enters the package's module node, and that node uses each file of the package
that is no test. Files of one package see each other's definitions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from governance_pipeline.trajectory.providers.language import (
    EXTERNAL,
    UNKNOWN,
    Import,
    Language,
    Resolved,
    Sources,
    folder_of,
    module_id,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY: Final = """
(function_declaration name: (identifier) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner))
  name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name type: [(struct_type) (interface_type)]) @class
(call_expression function: [(identifier) (selector_expression)] @call)
(composite_literal type: [(type_identifier) (qualified_type)] @call)
(type_spec type: (struct_type (field_declaration_list (field_declaration !name
  type: [(type_identifier) (qualified_type)] @base))))
(type_spec type: (interface_type (type_elem . [(type_identifier) (qualified_type)] @base .)))
(import_spec) @import
"""
_MODULE: Final = re.compile(rb'^\s*module\s+"?([^\s"]+)', re.MULTILINE)
_VERSION: Final = re.compile(r"v\d+")


def _grammar() -> object:
    import tree_sitter_go

    return tree_sitter_go.language()


def _imports(node: Node) -> list[Import]:
    target = text_of(node.child_by_field_name("path"))[1:-1]
    name = text_of(node.child_by_field_name("name"))
    if name in ("_", "."):
        return [Import(target, (("*", "*"),) if name == "." else ())]
    return [Import(target, local=name or _usual_name(target))]


def _usual_name(target: str) -> str:
    """The name a package most likely has: the last part of its path that is no major version."""
    parts = [part for part in target.split("/") if not _VERSION.fullmatch(part)]
    return parts[-1].removeprefix("go-").removesuffix(".go").partition(".")[0] if parts else target


class _Packages:
    """Import paths of one repository."""

    def __init__(self, sources: Sources) -> None:
        self._folders = {folder_of(path) for path in sources.facts}
        self._modules: list[tuple[str, str]] = []
        for path, data in sources.configuration.items():
            found = _MODULE.search(data) if path.endswith("go.mod") else None
            if found:
                self._modules.append((found[1].decode("utf-8", "replace"), folder_of(path)))
        self._modules.sort(key=lambda pair: (-len(pair[0]), pair))

    def resolve(self, _path: str, target: str) -> Resolved:
        for module, root in self._modules:
            if target == module or target.startswith(f"{module}/"):
                folder = f"{root}/{target.removeprefix(module).strip('/')}".strip("/")
                return Resolved(module=module_id(folder)) if folder in self._folders else UNKNOWN
        return EXTERNAL


LANGUAGE: Final = Language(
    name="go",
    suffixes=(".go",),
    grammar=_grammar,
    query=_QUERY,
    imports=_imports,
    resolver=lambda sources: _Packages(sources).resolve,
    configuration=("go.mod",),
    family="go",
    shares_package=True,
    selves=frozenset(),
)
