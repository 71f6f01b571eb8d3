"""The canonical registry: which file is the source of truth of each shared asset of a governed folder.

What belongs here: the file as typed values, read strictly, and its spelling. What does not: what the ledger says of it
(`registry_history`), changing it (`registry_changes`) and hashing the files (`registry_rows`). Source:
spec/framework.md §4.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import Fault, FaultyFileError, UsageError
from governance_pipeline.framework.documents import CANONICAL_REGISTRY, document_fault
from governance_pipeline.framework.json_file import file_text, read_json_file
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

CANONICAL: Final = "canonical"
"""Status of an asset whose file is in force; `obsolete` and `pending_replacement` are set by a re-baseline."""


class Superseded(NamedTuple):
    """One version that was replaced or put aside: where it is archived, its digest, when, and why."""

    path: str
    hash: str
    superseded_at: str
    reason: str


class Asset(NamedTuple):
    """One entry of the registry.

    Attributes:
        name: unique, as legal as a round id.
        canonical_path: the one file that counts, below the project folder, POSIX separators.
        last_verified_hash: SHA-256 of its bytes when they were last verified.
        last_verified_at: when (UTC text).
        superseded_versions: what it replaced, oldest first.
        status: `canonical`, or what a re-baseline made of it.
        baseline_version: baseline under which it was last reconfirmed; None before any was.
    """

    name: str
    canonical_path: str
    last_verified_hash: str
    last_verified_at: str
    superseded_versions: tuple[Superseded, ...] = ()
    status: str = CANONICAL
    baseline_version: str | None = None

    @property
    def document(self) -> dict[str, Any]:
        """The entry as it stands in the file; what has its usual value is left out."""
        return {
            "name": self.name,
            "canonical_path": self.canonical_path,
            "last_verified_hash": self.last_verified_hash,
            "last_verified_at": self.last_verified_at,
            "superseded_versions": [version._asdict() for version in self.superseded_versions],
            **({} if self.status == CANONICAL else {"status": self.status}),
            **({} if self.baseline_version is None else {"baseline_version": self.baseline_version}),
        }


class Registry(NamedTuple):
    """Every asset, in the order of the file."""

    assets: tuple[Asset, ...] = ()

    def asset(self, name: str) -> Asset | None:
        """Give an asset by its name; None when none has it."""
        return next((asset for asset in self.assets if asset.name == name), None)

    def of_path(self, path: str) -> Asset | None:
        """Give the asset whose canonical file has this path below the project; None when none has."""
        wanted = PurePosixPath(path)
        return next((asset for asset in self.assets if PurePosixPath(asset.canonical_path) == wanted), None)

    def with_asset(self, changed: Asset) -> Registry:
        """Give the registry with one asset replaced, or added at its end."""
        if self.asset(changed.name) is None:
            return Registry((*self.assets, changed))
        return Registry(tuple(changed if asset.name == changed.name else asset for asset in self.assets))


def load_registry(path: Path) -> Registry:
    """Read a registry file.

    Args:
        path: `03_state/canonical_registry.json` of a governed folder.

    Raises:
        FileRefused: it is missing, a link, or cannot be read.
        FaultyFileError: it is no strict JSON, breaks its schema, or two assets share a name or a path; names the place.
    """
    document, _ = read_json_file(path, CANONICAL_REGISTRY)
    registry = Registry(tuple(asset_of(entry) for entry in document["assets"]))
    faults = list(_faults(registry.assets))
    if faults:
        raise FaultyFileError(str(path), faults)
    return registry


def asset_of(entry: Mapping[str, Any]) -> Asset:
    """Read one entry that keeps the schema."""
    versions = tuple(
        Superseded(v["path"], v["hash"], v["superseded_at"], v["reason"]) for v in entry["superseded_versions"]
    )
    names = ("name", "canonical_path", "last_verified_hash", "last_verified_at")
    more = {name: entry[name] for name in ("status", "baseline_version") if name in entry}
    return Asset(**{name: entry[name] for name in names}, superseded_versions=versions, **more)


def registry_text(registry: Registry) -> bytes:
    """Write a registry as its file holds it.

    Raises:
        UsageError: it breaks its own schema.
    """
    document = {"assets": [asset.document for asset in registry.assets]}
    fault = document_fault(CANONICAL_REGISTRY, document)
    if fault is not None:
        raise UsageError(f"this cannot stand in the registry: {fault}")
    return file_text(document)


def path_below(root: Path, given: Path) -> str:
    """Give the path of a file below the project folder, POSIX separators.

    Args:
        root: the governed folder.
        given: as somebody typed it: below the folder, or from the working directory.

    Raises:
        UsageError: it lies outside the folder.
    """
    base = root.resolve()
    for candidate in (root / given, given):
        resolved = candidate.parent.resolve() / candidate.name
        if resolved.is_relative_to(base) and resolved.exists():
            return resolved.relative_to(base).as_posix()
    raise UsageError(f"{given} is no file below the project {root}; the registry names files of the project only")


def _faults(assets: Iterable[Asset]) -> Iterable[Fault]:
    names: set[str] = set()
    paths: set[PurePosixPath] = set()
    for index, asset in enumerate(assets):
        if asset.name in names:
            yield Fault("name_twice", None, f"$.assets[{index}]: a second asset named {excerpt(asset.name, 80)!r}")
        path = PurePosixPath(asset.canonical_path)
        if path in paths:
            said = f"$.assets[{index}]: {excerpt(asset.canonical_path, 80)!r} is canonical twice"
            yield Fault("path_twice", None, said)
        names.add(asset.name)
        paths.add(path)
