"""The symbols a changed file changed, from its bytes before and after.

What belongs here: which symbols differ, and when nobody can know. What does not: counting them (`symbols`) and where
the bytes come from (`commit_changes`). A file of a kind that has no functions, classes or methods changes none; a file
of a language without a provider may change any, so its symbols are unknown. Source: spec/trajectory.md §2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.trajectory.providers import language_of
from governance_pipeline.trajectory.repository_links import symbol_id
from governance_pipeline.trajectory.symbol_parts import SymbolParts, symbol_parts
from governance_pipeline.trajectory.symbols import SymbolChange
from governance_pipeline.trajectory.syntax import SOURCE_BYTES, is_binary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.trajectory.commit_changes import ChangedFile
    from governance_pipeline.trajectory.repository_files import RepositoryFiles

WITHOUT_SYMBOLS: Final = frozenset({
    ".cfg", ".csv", ".gif", ".html", ".ico", ".ini", ".jpeg", ".jpg", ".json", ".jsonl", ".lock", ".md", ".pdf", ".png",
    ".po", ".properties", ".rst", ".sum", ".svg", ".toml", ".tsv", ".txt", ".webp", ".xml", ".yaml", ".yml",
})  # fmt: skip
"""Ends of names of documents, data and configuration: what they hold is no function, class or method."""

NAMES_WITHOUT_SYMBOLS: Final = frozenset({
    ".dockerignore", ".editorconfig", ".gitattributes", ".gitignore", ".gitmodules", ".npmrc", ".nvmrc", "AUTHORS",
    "CODEOWNERS", "Dockerfile", "LICENSE", "NOTICE", "go.mod",
})  # fmt: skip
"""Whole names of such files."""

MOST_KEPT: Final = 20_000
"""Files whose symbols are kept in memory: what a commit leaves is what the next one starts from."""


class SymbolReader:
    """Reads the symbols of blobs of one repository, each once."""

    def __init__(self, files: RepositoryFiles) -> None:
        self._files = files
        self._kept: dict[tuple[str, str], Mapping[str, SymbolParts] | None] = {}

    def changes(self, changed: ChangedFile) -> list[SymbolChange] | None:
        """Give the symbols of one changed file that were added, removed or changed; None when nobody can know."""
        if changed.before == changed.after or not changed.is_file:
            return [] if changed.before == changed.after or changed.is_link else None
        before = self._symbols(changed.old_path, changed.before)
        after = self._symbols(changed.path, changed.after)
        return None if before is None or after is None else compared(changed.path, before, after)

    def _symbols(self, path: str, blob: str | None) -> Mapping[str, SymbolParts] | None:
        """Symbols of one side, none of a file that is not there; None when they are unknown."""
        if blob is None or has_no_symbols(path):
            return {}
        language = language_of(path)
        key = ("" if language is None else language.name, blob)
        if key not in self._kept:
            data = self._files.bytes_of(blob, SOURCE_BYTES).data
            known: Mapping[str, SymbolParts] | None = None
            if data is not None:
                known = ({} if is_binary(data) else None) if language is None else symbol_parts(language, data)
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[key] = known
        return self._kept[key]


def has_no_symbols(path: str) -> bool:
    """Tell whether a file is of a kind that has no symbols, by its name."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return name in NAMES_WITHOUT_SYMBOLS or (dot > 0 and name[dot:].lower() in WITHOUT_SYMBOLS)


def compared(path: str, before: Mapping[str, SymbolParts], after: Mapping[str, SymbolParts]) -> list[SymbolChange]:
    """Compare the symbols of a file before and after; those that did not change are left out.

    Args:
        path: path of the file after the change; ids are made of it.
        before: symbols it had.
        after: symbols it has.
    """
    changes = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old != new:
            kind = (new or old or SymbolParts("function", b"", b"")).kind
            is_new = old is None or new is None
            body = is_new or (old is not None and new is not None and old.body != new.body)
            changes.append(SymbolChange(symbol_id(path, name), kind, body, not body or _differs(old, new)))
    return changes


def _differs(old: SymbolParts | None, new: SymbolParts | None) -> bool:
    return old is None or new is None or (old.signature, old.kind) != (new.signature, new.kind)
