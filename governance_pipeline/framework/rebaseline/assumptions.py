"""The assumptions a baseline was noted with: documents, phases, log formats, columns and types of data.

What belongs here: what there is now, the event that notes it, and what the ledger says was noted. What does not: what
follows from a difference (`due`). Of each version the first note counts, so nobody hides a change by noting it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.framework.incidents import SERVICE
from governance_pipeline.framework.rebaseline.declaring import digests_of
from governance_pipeline.framework.registry_history import project_id
from governance_pipeline.ledger.event import AlreadyRecorded, NewEvent
from governance_pipeline.strict.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    import pandas as pd

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.storage.lake import Lake

EVENT: Final = "BASELINE_NOTED"
"""Type of the event; the name stays for ever, because events do."""
READS: Final = ("core_rounds", "raw_log_files", "core_declared", "core_components")
"""Tables that show which formats, columns and types of data there are."""
KINDS: Final = ("formats", "columns", "data_types")


class Seen(NamedTuple):
    """One thing a round holds: kind (`formats`, `columns`, `data_types`), its name, and where it was met first."""

    kind: str
    name: str
    round_id: str
    pointer: str


class Noted(NamedTuple):
    """The assumptions of a baseline as the ledger has them: event, version, documents, and the names of each kind."""

    seq: int
    version: str
    documents: Mapping[str, str | None]
    known: Mapping[str, frozenset[str]]


def seen_in(tables: Mapping[str, pd.DataFrame]) -> Iterator[Seen]:
    """Give each format, column and type of data of each round once, in stored order; `tables` are those of `READS`."""
    met: set[tuple[str, str, str]] = set()
    for each in _every(tables):
        if (key := (each.kind, each.name, each.round_id)) not in met:
            met.add(key)
            yield each


def tables_of(lake: Lake) -> dict[str, pd.DataFrame]:
    """Read `READS` of every stored round."""
    import pandas as pd

    from governance_pipeline.contracts.registry import empty_frame

    found = {}
    for table in READS:
        frames = [lake.get(table, round_id) for round_id in lake.rounds(table)]
        filled = [frame for frame in frames if len(frame)]
        found[table] = pd.concat(filled, ignore_index=True) if filled else empty_frame(table)
    return found


def noted_event(folder: GovernedFolder, version: str, tables: Mapping[str, pd.DataFrame], now: datetime) -> NewEvent:
    """Give the event that notes the assumptions of a baseline as they are now; each version is noted once."""
    known: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for each in seen_in(tables):
        known[each.kind].add(each.name)
    body: dict[str, Any] = {
        "project": project_id(folder),
        "baseline_version": version,
        "documents": digests_of(folder),
        **{kind: sorted(names) for kind, names in known.items()},
    }
    return NewEvent(EVENT, SERVICE, body, now, _key(folder, version))


def noted_entries(
    folder: GovernedFolder, ledger: Ledger, version: str, tables: Mapping[str, pd.DataFrame], now: datetime
) -> list[NewEvent]:
    """Give the event of `noted_event` for an append together with others; none when the version was noted before."""
    return [] if noted_of(folder, ledger, version) is not None else [noted_event(folder, version, tables, now)]


def note(
    folder: GovernedFolder, ledger: Ledger, version: str, tables: Mapping[str, pd.DataFrame], now: datetime
) -> bool:
    """Note the assumptions of a baseline unless that was done; gives whether it was done now.

    Raises:
        StorageError: the ledger could not be written.
    """
    if noted_of(folder, ledger, version) is not None:
        return False
    try:
        ledger.append_all([noted_event(folder, version, tables, now)])
    except AlreadyRecorded:
        return False
    return True


def noted_of(folder: GovernedFolder, ledger: Ledger, version: str) -> Noted | None:
    """Give what was noted of a baseline; None when nothing was, or the event does not hold what it needs."""
    event = ledger.recorded(_key(folder, version))
    if event is None or event.type != EVENT:
        return None
    body = event.body
    documents = body.get("documents")
    if not isinstance(documents, dict) or not all(isinstance(body.get(kind), list) for kind in KINDS):
        return None
    return Noted(event.seq, version, documents, {kind: frozenset(map(str, body[kind])) for kind in KINDS})


def _key(folder: GovernedFolder, version: str) -> str:
    return f"baseline-noted:{sha256_hex(project_id(folder).encode())}:{version}"


def _every(tables: Mapping[str, pd.DataFrame]) -> Iterator[Seen]:
    for row in plain_rows(tables["raw_log_files"]):
        if row["format"] is not None:
            yield Seen("formats", row["format"], row["round_id"], row["path"])
    for row in plain_rows(tables["core_declared"]):
        name, place = f"{row['format']}: {row['field']}", _place(row)
        yield Seen("columns", name, row["round_id"], place)
        yield Seen("data_types", f"{name}: {row['data_type'] or row['value_kind']}", row["round_id"], place)
    for row in plain_rows(tables["core_components"]):
        name = f"{row['format']}: {row['source']}.{row['column']}"
        yield Seen("columns", name, row["round_id"], _place(row))


def _place(row: Mapping[str, Any]) -> str:
    line = "" if row["line"] is None else f":{row['line']}"
    return f"{row['path']}{line}{row['pointer']}"
