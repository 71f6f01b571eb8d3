"""What a provider of one language is: a grammar, a query over its syntax tree, and what an import means.

What belongs here: the protocol. What does not: any language, and the walk that uses it (`source_facts`,
`repository_links`). A provider sees bytes and paths only: nothing is checked out, imported or run.

The query marks, with these names: `@function`, `@class`, `@method` = a definition, with `@name` in it and `@owner` for
what it belongs to where that is not around it; `@scope` + `@owner` = a block whose functions are methods of `@owner`;
`@space` + `@owner` = a named block around others; `@import` = an import; `@call` = what is called; `@base` = a class
that is inherited from; `@package` = the name a file gives its package.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tree_sitter import Node

    from governance_pipeline.trajectory.source_facts import FileFacts


class Import(NamedTuple):
    """One import as a file writes it.

    Attributes:
        target: what is imported, in the spelling of the language.
        names: (name there, name here) of what is taken out of it; "*" for everything.
        local: name the whole of it gets here; None when it gets none.
    """

    target: str
    names: tuple[tuple[str, str], ...] = ()
    local: str | None = None


class Resolved(NamedTuple):
    """What an import leads to.

    Attributes:
        files: files of the repository it names, in order.
        module: id of the module node it names; None when it names files.
        member: what of it remains after the file: a name in that file; None when the file is meant.
        is_external: it names something that is not in the repository; with neither file nor module, and not
            external, nobody knows what it names.
    """

    files: tuple[str, ...] = ()
    module: str | None = None
    member: str | None = None
    is_external: bool = False


EXTERNAL = Resolved(is_external=True)
UNKNOWN = Resolved()


class Sources(NamedTuple):
    """Everything an import can be looked up in.

    Attributes:
        paths: every file of the repository.
        facts: what was read of the files of one language family, by path.
        configuration: bytes of the configuration files, by path.
    """

    paths: frozenset[str]
    facts: Mapping[str, FileFacts]
    configuration: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    Attributes:
        name: stable name, as coverage reports it.
        suffixes: ends of the names of its files.
        grammar: gives the tree-sitter grammar; imported when first asked.
        query: marks of the syntax tree, see above.
        imports: the imports one `@import` node stands for.
        resolver: makes the look-up of imports for one repository.
        configuration: names of files the resolver reads.
        family: languages whose files can use each other share one.
        submodules: what joins an import and one of its names into the name of another file; "" where names are never
            files.
        shares_package: files of one package see each other's definitions without an import.
        selves: names by which a method speaks of its own object.
    """

    name: str
    suffixes: tuple[str, ...]
    grammar: Callable[[], object]
    query: str
    imports: Callable[[Node], list[Import]]
    resolver: Callable[[Sources], Callable[[str, str], Resolved]]
    configuration: tuple[str, ...] = ()
    family: str = ""
    submodules: str = ""
    shares_package: bool = False
    selves: frozenset[str] = frozenset({"self"})


def text_of(node: Node | None) -> str:
    """Text of a node; what is no UTF-8 becomes visible escapes."""
    data = b"" if node is None else node.text or b""
    return data.decode("utf-8", "backslashreplace")


def folder_of(path: str) -> str:
    """Folder of a file, "" for the root."""
    return path.rpartition("/")[0]


def module_id(folder: str) -> str:
    """Id of the module node of a folder: its path with a final slash, which no file has."""
    return f"{folder}/" if folder else "./"


def joined_path(folder: str, relative: str) -> str | None:
    """Join a folder and a relative path, `.` and `..` resolved; None when it climbs out of the repository."""
    parts = folder.split("/") if folder else []
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def ancestors(folder: str) -> list[str]:
    """The folder and the folders around it, innermost first, the root "" last."""
    found = [folder]
    while folder:
        folder = folder_of(folder)
        found.append(folder)
    return found
