"""Verifying the canonical registry: every file hashed again, the state file held to the ledger.

What belongs here: one row per version with its state. What does not: changing anything; verifying writes nothing.
Source: spec/framework.md §4 and §8.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.framework.folder import REGISTRY as REGISTRY_FILE
from governance_pipeline.framework.registry import Asset, load_registry
from governance_pipeline.framework.registry_changes import begun
from governance_pipeline.framework.registry_files import digest_in
from governance_pipeline.framework.registry_history import RegistryHistory, read_registry_history
from governance_pipeline.gate.acting import acts
from governance_pipeline.gate.gates import REGISTRY
from governance_pipeline.trust.instants import instant_of, instant_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pandas as pd

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.gate.passage import Verifier

TABLE: Final = "audit_registry"
VERIFIED, UNKNOWN = "verified", "unknown"
MEMBERS: Final = (
    "name",
    "version",
    "path",
    "recorded_sha256",
    "ledger_sha256",
    "computed_sha256",
    "state",
    "reason",
    "status",
    "decision_id",
    "last_verified_at",
    "checked_at",
)
"""Columns of the table and members of a row of the document, in order."""


_RESTORE: Final = "`govern registry verify --restore` writes what the ledger has"


_BEGUN: Final = "an approved change was begun and its process died; the next change of the registry finishes it"


class _Books(NamedTuple):
    """What the ledger says: entries, decision of the last change by asset, changes nobody approved, and those begun."""

    history: RegistryHistory
    decisions: Mapping[str, str]
    unapproved: frozenset[str]
    unfinished: frozenset[str]


def rows(folder: GovernedFolder, verifier: Verifier | None, now: datetime) -> pd.DataFrame:
    """Make `audit_registry` of a folder; one row per version, columns as contract `audit_registry`.

    Args:
        folder: the governed folder.
        verifier: what is trusted, with the ledger the registry is held to; None where no gate is configured: nothing
            is verified then, what agrees with its own file is unknown.
        now: the time.

    Raises:
        FileRefused, FaultyFileError: the registry file cannot be used.
        Refusal, StorageError: the ledger cannot be used.
    """
    from governance_pipeline.contracts.audit_registry import AuditRegistry  # brings pandas along
    from governance_pipeline.contracts.frames import typed

    return typed(AuditRegistry, TABLE, registry_rows(folder, verifier, now))


def registry_rows(folder: GovernedFolder, verifier: Verifier | None, now: datetime) -> list[dict[str, Any]]:
    """Give the rows of `rows` as plain values, sorted by asset, the canonical version first."""
    registry, books = load_registry(folder.path(REGISTRY_FILE)), _books(folder, verifier)
    known = {} if books is None else books.history.assets
    names = sorted({asset.name for asset in registry.assets} | known.keys())
    found = [row for name in names for row in _rows_of(folder, registry.asset(name), known.get(name), books)]
    return [{**row, "checked_at": now} for row in found]


def registry_document(found: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Give the JSON document (govern/registry-verification/v1) about the rows of a registry."""
    entries = [{name: _json_value(row[name]) for name in MEMBERS} for row in found]
    return {
        "schema": "govern/registry-verification/v1",
        "is_verified": all(entry["state"] == VERIFIED for entry in entries),
        "versions": entries,
    }


def _books(folder: GovernedFolder, verifier: Verifier | None) -> _Books | None:
    if verifier is None:
        return None
    history = read_registry_history(verifier.ledger, folder)
    approved = {(act.decision_id, act.subject_sha256): act.action for act in acts(REGISTRY, verifier)}
    unapproved = {
        change.name
        for change in history.changes
        if (change.from_sha256, change.to_sha256)
        != _digests(approved.get((change.decision_id, change.subject_sha256), {}))
    }
    decisions = {change.name: change.decision_id for change in history.changes}
    waiting = frozenset(used[0].subject_id for used in begun(folder, verifier))
    return _Books(history, decisions, frozenset(unapproved), waiting)


def _digests(action: Mapping[str, Any]) -> tuple[Any, Any]:
    return action.get("from_sha256"), action.get("to_sha256")


def _rows_of(
    folder: GovernedFolder, recorded: Asset | None, of_ledger: Asset | None, books: _Books | None
) -> Iterator[dict[str, Any]]:
    shown = recorded or of_ledger
    if shown is None:
        return
    entry = {
        "name": shown.name,
        "status": shown.status,
        "decision_id": None if books is None else books.decisions.get(shown.name),
    }
    computed = digest_in(folder, shown.canonical_path)
    state, reason = _entry_state(recorded, of_ledger, books) or _bytes_state(
        shown.canonical_path, computed, shown.last_verified_hash, books
    )
    yield {
        **entry,
        "version": "canonical",
        "path": shown.canonical_path,
        "recorded_sha256": recorded and recorded.last_verified_hash,
        "ledger_sha256": of_ledger and of_ledger.last_verified_hash,
        "computed_sha256": computed,
        "state": state,
        "reason": reason,
        "last_verified_at": instant_of(shown.last_verified_at),
    }
    yield from _archived_rows(folder, entry, recorded, of_ledger, books)


def _archived_rows(
    folder: GovernedFolder,
    entry: Mapping[str, Any],
    recorded: Asset | None,
    of_ledger: Asset | None,
    books: _Books | None,
) -> Iterator[dict[str, Any]]:
    here = {version.path: version for version in (recorded.superseded_versions if recorded else ())}
    there = {version.path: version for version in (of_ledger.superseded_versions if of_ledger else ())}
    for path, version in {**there, **here}.items():
        computed = digest_in(folder, path)
        of_state = None if books is None else _archive_state(path, path in here, path in there)
        if of_state is not None and books is not None and entry["name"] in books.unfinished:
            of_state = "unfinished", _BEGUN
        state, reason = of_state or _bytes_state(path, computed, version.hash, books)
        yield {
            **entry,
            "version": "archived",
            "path": path,
            "recorded_sha256": here[path].hash if path in here else None,
            "ledger_sha256": there[path].hash if path in there else None,
            "computed_sha256": computed,
            "state": state,
            "reason": reason,
            "last_verified_at": instant_of(version.superseded_at),
        }


def _entry_state(recorded: Asset | None, of_ledger: Asset | None, books: _Books | None) -> tuple[str, str] | None:
    """Say what is wrong between registry, ledger and decisions; None when nothing is, or nobody can tell."""
    shown = recorded or of_ledger
    if books is None or shown is None:
        return None
    wrong = (
        (shown.name in books.unfinished, "unfinished", _BEGUN),
        (of_ledger is None, "unrecorded", f"{REGISTRY_FILE} has it, the ledger does not; find out who wrote it there"),
        (recorded is None, "unregistered", f"the ledger has it, {REGISTRY_FILE} does not; {_RESTORE}"),
        (recorded != of_ledger, "mismatch", f"{REGISTRY_FILE} and the ledger say different things; {_RESTORE}"),
        (shown.name in books.unapproved, "unapproved", "a change of it in the ledger rests on no decision that counts"),
    )
    return next(((state, reason) for is_so, state, reason in wrong if is_so), None)


def _archive_state(path: str, is_here: bool, is_there: bool) -> tuple[str, str] | None:
    if is_here and is_there:
        return None
    if is_here:
        return "unrecorded", f"{REGISTRY_FILE} names {path}, the ledger does not"
    return "unregistered", f"the ledger names {path}, {REGISTRY_FILE} does not"


def _bytes_state(path: str, computed: str | None, expected: str, books: _Books | None) -> tuple[str, str | None]:
    if computed is None:
        return "missing", f"no file is at {path}"
    if computed != expected:
        return "changed", f"{path} has other bytes than were verified; nobody has approved them"
    return (UNKNOWN, "no ledger is at hand to hold it to") if books is None else (VERIFIED, None)


def _json_value(value: Any) -> Any:
    return instant_text(value) if isinstance(value, datetime) else value
