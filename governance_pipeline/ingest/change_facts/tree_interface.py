"""The public names of a file of a language that tree-sitter reads, and what a change did to them.

What belongs here: which files are asked, and which reader reads them. What does not: Python (signatures).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.fact import ChangeFact, unjudged
from governance_pipeline.ingest.change_facts.frameworks import is_test_file, language_of
from governance_pipeline.ingest.change_facts.go_interface import go_interface
from governance_pipeline.ingest.change_facts.interface import Interface, compare_interfaces
from governance_pipeline.ingest.change_facts.java_interface import java_interface
from governance_pipeline.ingest.change_facts.javascript_interface import javascript_interface
from governance_pipeline.ingest.change_facts.rust_interface import rust_interface
from governance_pipeline.ingest.change_facts.syntax_trees import root_of
from governance_pipeline.vocabulary import ChangeAspect

if TYPE_CHECKING:
    from collections.abc import Iterator

NOT_PARSED: Final = "not_parsed"
_LANGUAGES: Final = frozenset({"go", "java", "rust", "javascript"})
_RUST_ASIDE: Final = frozenset({"tests", "benches", "examples"})
"""Folders of Cargo that no other package can use; a Rust file elsewhere may hold tests beside what it exports."""


def has_tree_interface(path: str) -> bool:
    """Tell whether the public names of a file are read here."""
    language = language_of(path)
    if language is None or language.name not in _LANGUAGES:
        return False
    if language.name == "rust":
        return not _RUST_ASIDE.intersection(path.replace("\\", "/").split("/")[:-1])
    return not is_test_file(path)


def tree_signature_facts(before: bytes | None, after: bytes | None, path: str) -> Iterator[ChangeFact]:
    """Tell what a change did to the public names of a file; a new file brings all of its names.

    None of them narrows anything, but in Go a name that went from another file of the package may be among them.
    """
    language = language_of(path)
    name = "" if language is None else language.name
    then, now = _interface(before, path, name), _interface(after, path, name)
    if then is None or now is None:
        yield unjudged(ChangeAspect.SIGNATURES, NOT_PARSED)
    elif before is not None or name == "go":
        yield from compare_interfaces(then, now, name)


@lru_cache(maxsize=32)
def _interface(content: bytes | None, path: str, language: str) -> Interface | None:
    root = root_of(content or b"", language, path)
    if root is None:
        return None
    try:
        if language == "javascript":
            return javascript_interface(root, is_typed=path.endswith((".ts", ".tsx", ".mts", ".cts")))
        return {"go": go_interface, "java": java_interface, "rust": rust_interface}[language](root)
    except RecursionError:  # types or modules one inside the other, deeper than what walks them can follow
        return None
