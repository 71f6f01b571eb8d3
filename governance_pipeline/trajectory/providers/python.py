"""Python: modules by their dotted names, calls and bases as far as names tell.

Compared in docs/decisions/0011: the standard parser of Python reads only the Python it is part of, so tables would
differ between interpreters, and it recurses; grimp wants packages on disk and gives imports only.

A module has its dotted name from the root of the repository, and from its source root: the folder above its topmost
package (a folder with `__init__.py`), or one that holds `pyproject.toml`, `setup.py` or `setup.cfg`. A file outside any
package can also be imported by its bare name from beside it, as scripts do. Names that two files have are nobody's.
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
    ancestors,
    folder_of,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY: Final = """
(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name) @class
(class_definition superclasses: (argument_list [(identifier) (attribute)] @base))
(class_definition superclasses: (argument_list (subscript value: [(identifier) (attribute)] @base)))
(call function: (_) @call)
(import_statement) @import
(import_from_statement) @import
"""
_PROJECT_FILES: Final = ("pyproject.toml", "setup.py", "setup.cfg")
_INIT: Final = ("__init__.py", "__init__.pyi")


def _grammar() -> object:
    import tree_sitter_python

    return tree_sitter_python.language()


def _imports(node: Node) -> list[Import]:
    if node.type == "import_statement":
        return [_plain(name) for name in node.children_by_field_name("name")]
    module = text_of(node.child_by_field_name("module_name")).replace(" ", "")
    names = [_alias(name) for name in node.children_by_field_name("name")]
    if any(child.type == "wildcard_import" for child in node.children):
        names.append(("*", "*"))
    return [Import(module, tuple(names))]


def _plain(name: Node) -> Import:
    dotted, local = _alias(name)
    return Import(dotted, local=local)


def _alias(name: Node) -> tuple[str, str]:
    if name.type == "aliased_import":
        return text_of(name.child_by_field_name("name")), text_of(name.child_by_field_name("alias"))
    return text_of(name), text_of(name)


class _Modules:
    """Dotted names of one repository."""

    def __init__(self, sources: Sources) -> None:
        self._paths = sources.paths
        self._files: dict[str, set[str]] = {}
        self._beside: dict[tuple[str, str], str] = {}
        for path in sources.facts:
            self._add(path)
        self._tops = {name.partition(".")[0] for name in self._files}

    def resolve(self, path: str, target: str) -> Resolved:
        dots = len(target) - len(target.lstrip("."))
        if dots:
            return self._relative(path, dots, target[dots:])
        if (folder_of(path), target) in self._beside:
            return Resolved((self._beside[folder_of(path), target],))
        return self._absolute(target)

    def _absolute(self, dotted: str) -> Resolved:
        found = self._named(dotted)
        if len(found) == 1:
            return Resolved(found)
        top, _, rest = dotted.partition(".")
        if top not in self._tops:
            return EXTERNAL
        parent, _, member = dotted.rpartition(".")
        above = self._named(parent) if rest else ()
        return Resolved(above, member=member) if len(above) == 1 and not found else UNKNOWN

    def _named(self, dotted: str) -> tuple[str, ...]:
        """Files of a name; a stub beside its module is not a second one."""
        files = self._files.get(dotted, set())
        return tuple(sorted({path for path in files if path.endswith(".py")} or files))

    def _relative(self, path: str, dots: int, rest: str) -> Resolved:
        folder: str | None = folder_of(path)
        for _ in range(dots - 1):
            if not folder:
                return UNKNOWN
            folder = folder_of(folder)
        below = "/".join([part for part in (folder, *rest.split(".")) if part])
        found = [one for one in self._spellings(below) if one in self._paths]
        if found:
            return Resolved((found[0],))
        parent, _, member = below.rpartition("/")
        found = [one for one in self._spellings(parent) if one in self._paths] if rest else []
        return Resolved((found[0],), member=member) if found else UNKNOWN

    @staticmethod
    def _spellings(base: str) -> list[str]:
        inits = [f"{base}/{init}" if base else init for init in _INIT]
        return [*inits, f"{base}.py", f"{base}.pyi"] if base else inits

    def _add(self, path: str) -> None:
        folder = folder_of(path)
        names = {_dotted(path)}
        root = self._source_root(folder)
        if root:
            names.add(_dotted(path.removeprefix(f"{root}/")))
        for name in names - {""}:
            self._files.setdefault(name, set()).add(path)
        if not any(f"{folder}/{init}".lstrip("/") in self._paths for init in _INIT):
            self._beside[folder, _dotted(path.rpartition("/")[2])] = path

    def _source_root(self, folder: str) -> str:
        root = folder
        while root and any(f"{root}/{init}" in self._paths for init in _INIT):
            root = folder_of(root)
        if root != folder:
            return root
        projects = (
            above
            for above in ancestors(folder)
            if any((f"{above}/{name}" if above else name) in self._paths for name in _PROJECT_FILES)
        )
        project = next(projects, "")
        source = f"{project}/src".lstrip("/")
        return source if folder == source or folder.startswith(f"{source}/") else project


def _dotted(path: str) -> str:
    base = path.removesuffix(".pyi").removesuffix(".py")
    return base.removesuffix("/__init__").removesuffix("__init__").replace("/", ".")


LANGUAGE: Final = Language(
    name="python",
    suffixes=(".py", ".pyi"),
    grammar=_grammar,
    query=_QUERY,
    imports=_imports,
    resolver=lambda sources: _Modules(sources).resolve,
    family="python",
    submodules=".",
    selves=frozenset({"self", "cls"}),
)
