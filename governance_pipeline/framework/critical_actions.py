"""The critical list: actions that need an approval of a person, whatever an allow-list says.

What belongs here: the list, which is data (`policy/critical-actions-1.json`), and which entry an action falls under.
What does not: the answer (`authorize`). An action is taken for what its name says: whoever calls a deletion
`delete_old_exports` still deletes. Source: spec/framework.md §5.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.framework.allowlist import ACTION
from governance_pipeline.framework.documents import parsed_document
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from governance_pipeline.framework.registry import Asset, Registry

SCHEMA: Final = "critical-actions-v1"
FILE: Final = "critical-actions-1.json"
REGISTERED: Final = "write_registered_asset"
"""The entry every action falls under whose scope is a registered asset, unless it only reads."""

_READING: Final = frozenset({"read", "list", "show", "verify", "diff", "hash", "query", "count", "inspect", "view"})


class Evidence(StrEnum):
    """What of the bytes at hand becomes part of what a person signs."""

    REGISTRY = "registry"
    FILE = "file"
    CORPUS = "corpus"
    NONE = "none"
    BACKUP = "backup"
    RULE = "rule"


class Critical(NamedTuple):
    """One entry: its name, what it is in words, the words of names that fall under it, and its evidence."""

    name: str
    title: str
    words: frozenset[str]
    needs_scope: bool
    evidence: Evidence


@cache
def critical_list() -> tuple[Critical, ...]:
    """Read the list that ships with the package, once per process."""
    file = resources.files("governance_pipeline.framework") / "policy" / FILE
    document = parsed_document(FILE, file.read_bytes(), SCHEMA)
    return tuple(
        Critical(e["name"], e["title"], frozenset(e["words"]), e["needs_scope"], Evidence(e["evidence"]))
        for e in document["actions"]
    )


def critical_entry(action: str, asset: Asset | None) -> Critical | None:
    """Give the entry an action falls under; None when it is not critical.

    Args:
        action: name of the action.
        asset: the registered asset its scope is, if it is one.

    Raises:
        UsageError: that is no name of an action.
    """
    if not ACTION.fullmatch(action):
        raise UsageError(f"{excerpt(action, 60)!r} names no action; use lower-case letters, digits and underscores")
    entries = {entry.name: entry for entry in critical_list()}
    words = set(action.split("_"))
    if asset is not None and not words <= (_READING | {"file", "asset", "table", "rows"}):
        return entries[REGISTERED]
    if action in entries:
        return entries[action]
    return next((entry for entry in entries.values() if entry.words & words), None)


def asset_in_scope(registry: Registry, scope: str | None) -> Asset | None:
    """Give the registered asset a scope names, by its name or by its canonical path; None when it is none."""
    if scope is None:
        return None
    return registry.asset(scope) or registry.of_path(scope.removeprefix("./"))
