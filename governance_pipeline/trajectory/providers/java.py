"""Java: classes by the package each file names, wherever its folder is.

`import a.b.C` leads to the file that has the class, `import a.b.*` to the module nodes of the folders of that package.
Files of one package see each other's classes.
"""

from __future__ import annotations

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
(class_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @class
(enum_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(annotation_type_declaration name: (identifier) @name) @class
(method_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @method
(compact_constructor_declaration name: (identifier) @name) @method
(method_invocation) @call
(object_creation_expression type: [(type_identifier) (scoped_type_identifier)] @call)
(object_creation_expression type: (generic_type . [(type_identifier) (scoped_type_identifier)] @call))
(superclass [(type_identifier) (scoped_type_identifier)] @base)
(superclass (generic_type . [(type_identifier) (scoped_type_identifier)] @base))
(super_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @base))
(super_interfaces (type_list (generic_type . [(type_identifier) (scoped_type_identifier)] @base)))
(extends_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @base))
(extends_interfaces (type_list (generic_type . [(type_identifier) (scoped_type_identifier)] @base)))
(import_declaration) @import
(package_declaration [(identifier) (scoped_identifier)] @package)
"""


def _grammar() -> object:
    import tree_sitter_java

    return tree_sitter_java.language()


def _imports(node: Node) -> list[Import]:
    kinds = {child.type for child in node.children}
    name = next((child for child in node.named_children if child.type in ("identifier", "scoped_identifier")), None)
    target = text_of(name).replace(" ", "")
    if "asterisk" in kinds:
        return [Import(target, (("*", "*"),))]
    last = target.rpartition(".")[2]
    return [Import(target, local=last)]


class _Classes:
    """Class names of one repository."""

    def __init__(self, sources: Sources) -> None:
        self._files: dict[str, list[str]] = {}
        self._folders: dict[str, set[str]] = {}
        for path, facts in sources.facts.items():
            package = facts.package or ""
            self._folders.setdefault(package, set()).add(folder_of(path))
            for name in {one.name.partition(".")[0] for one in facts.definitions}:
                self._files.setdefault(f"{package}.{name}".lstrip("."), []).append(path)

    def resolve(self, path: str, target: str) -> Resolved:
        """Look up a class, a package (for `*`), or a member of a class (static imports, nested classes)."""
        if target in self._folders:
            folders = sorted(self._folders[target], key=lambda folder: (_distance(folder, path), folder))
            return Resolved(module=module_id(folders[0]))
        name, members = target, list[str]()
        while name:
            files = sorted(self._files.get(name, ()), key=lambda file: (_distance(folder_of(file), path), file))
            if files:
                return Resolved((files[0],), member=".".join([name.rpartition(".")[2], *members]))
            name, _, member = name.rpartition(".")
            members.insert(0, member)
        parts = target.split(".")
        packages = (".".join(parts[:length]) for length in range(1, len(parts)))
        return UNKNOWN if any(package in self._folders for package in packages) else EXTERNAL


def _distance(folder: str, path: str) -> int:
    """Folders two places do not share: of classes with one name the nearest is meant."""
    one, other = folder.split("/"), folder_of(path).split("/")
    shared = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    same = min(len(one), len(other)) if shared is None else shared
    return len(one) + len(other) - 2 * same


LANGUAGE: Final = Language(
    name="java",
    suffixes=(".java",),
    grammar=_grammar,
    query=_QUERY,
    imports=_imports,
    resolver=lambda sources: _Classes(sources).resolve,
    family="java",
    shares_package=True,
    selves=frozenset({"this"}),
)
