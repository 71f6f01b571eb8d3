"""Is every published file one the gate let through: the files in the lake against the ledger.

What belongs here: the receipt a published file carries, and holding every file of a gated asset to the ledger: those in
force, older versions, and whatever else lies in the folder. What does not: making a file (`publication`). A file
somebody wrote by hand has no receipt, or one the ledger does not know; so has the file that was published before an
older copy of the ledger was put back.
"""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from governance_pipeline.errors import RecordRefused, StorageError
from governance_pipeline.gate.closings import read_decision
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.events import EventType
from governance_pipeline.gate.gates import GATES
from governance_pipeline.gate.published_pages import REPORT, REPORTS, page_fault, strange_pages
from governance_pipeline.storage.atomic import TEMPORARY_PREFIX
from governance_pipeline.storage.compaction import compaction_fault
from governance_pipeline.storage.lake import COMPACTED, ROUND_PREFIX
from governance_pipeline.storage.versions import POINTER, Versions
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from governance_pipeline.gate.closings import Signed
    from governance_pipeline.gate.events import History, Passed
    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.trust.root import TrustRoot

RECEIPT: Final = "gate.receipt"
"""Key in the metadata of a published file."""

_UNREADABLE: Final = (StorageError, RecordRefused, pa.ArrowException, KeyError, TypeError, OSError)


_UNFINISHED: Final = (
    "is unfinished: its decision was used, and no run has said that it wrote {digest}. Execute the run again; if it "
    "was superseded, remove the file"
)


class Unaccounted(NamedTuple):
    """One published file nobody can account for: asset, round (empty where it is of none), and what is wrong."""

    asset: str
    round_id: str
    message: str


class _Books:
    """What the ledger knows, by what is asked of it: passages of an asset and round, and decisions by their id."""

    def __init__(self, history: History, root: TrustRoot | None) -> None:
        self._history = history
        self._root = root
        self._read: dict[str, list[Signed]] = {}

    def used(self, asset: str, round_id: str) -> list[Passed]:
        """Give the steps of the passages of an asset and round, oldest first."""
        return self._history.used.get((asset, round_id), [])

    def uses(self) -> Iterator[Passed]:
        """Give every recorded use of a decision."""
        return (p for p in self._history.passages if p.type is EventType.CONSUMED)

    def is_decided(self, passed: Passed) -> bool:
        """Tell whether the decision that was used is in the ledger: an approval of these bytes, by an approver."""
        name = passed.decision_id
        if name not in self._read:
            read = (read_decision(recorded, self._root) for recorded in self._history.approvals_by_id.get(name, ()))
            self._read[name] = [signed for signed in read if signed is not None and signed.decision_id == name]
        return any(
            (said.verb, said.gate, said.round_id, said.subject_sha256)
            == (Verb.APPROVE, passed.gate, passed.round_id, passed.subject_sha256)
            for said in (signed.decision for signed in self._read[name])
        )


class _Judged(NamedTuple):
    """One version of a published file: what is wrong with it, whether its passage was finished, its rows."""

    fault: str | None
    is_finished: bool = False
    rows: pa.Table | None = None


def receipt(decision_ids: Iterable[str], subject_sha256: str) -> dict[str, str]:
    """Give the metadata a published file carries: the decisions and the bytes it rests on; no time and no run."""
    members = {"decision_ids": sorted(decision_ids), "subject_sha256": subject_sha256}
    return {RECEIPT: json.dumps(members, separators=(",", ":"), sort_keys=True)}


def unaccounted(asset: str, round_id: str, lake: Lake, history: History, root: TrustRoot | None = None) -> str | None:
    """Say what is wrong with the published files of a round; None when they are accounted for, or there are none.

    What a run that used its decision has not yet said to be done is not wrong: that run may go on, and writes it again.
    """
    faults = _round_faults(asset, round_id, lake, _Books(history, root))
    return next((message for message, is_done in faults if is_done), None)


def unaccounted_files(lake: Lake, history: History, root: TrustRoot | None = None) -> list[Unaccounted]:
    """Go through every published file of every round, and every page; empty when each has its events.

    What `govern gate verify` without a request, `govern ledger verify` with a lake and the Dagster check
    `gated_materializations_are_consumed` ask. A passage that was begun and not finished is named too.

    Args:
        lake: the files.
        history: what the ledger says.
        root: who may approve; None, where no configuration is at hand, believes every approval that is recorded.
    """
    found, books = [], _Books(history, root)
    for asset in (asset for gate in GATES.values() for asset in gate.assets):
        for entry in _entries(lake.root / asset):
            round_id = entry.name.removeprefix(ROUND_PREFIX)
            if entry.name.startswith(ROUND_PREFIX) and is_round_id(round_id) and entry.is_dir():
                faults = _round_faults(asset, round_id, lake, books)
                found += [Unaccounted(asset, round_id, message) for message, _ in faults]
            elif entry.name == COMPACTED and _is_folder(entry):
                fault = compaction_fault(lake, asset)
                found += [] if fault is None else [Unaccounted(asset, "", fault)]
            else:
                found.append(Unaccounted(asset, "", f"{asset}/{entry.name} was not written by the gate; look at it"))
    return [*found, *_undecided_uses(books), *_page_faults(lake, books)]


def count_files(lake: Lake) -> int:
    """Count the versions of published files in the lake."""
    assets = [asset for gate in GATES.values() for asset in gate.assets]
    return sum(
        entry.suffix == ".parquet"
        for asset in assets
        for folder in _entries(lake.root / asset)
        if folder.name.startswith(ROUND_PREFIX)
        for entry in _entries(folder)
    )


def _round_faults(asset: str, round_id: str, lake: Lake, books: _Books) -> Iterator[tuple[str, bool]]:
    """Give what is wrong with the files of one round, and False beside it for what only waits for its run."""
    versions = lake.versions(asset, round_id)
    if not _is_folder(versions.folder) and not versions.folder.is_symlink():
        return
    here = f"{asset} of round {round_id}"
    if versions.folder.is_symlink():
        yield f"{here} is a link to elsewhere; find out who put it there", True
        return
    used = books.used(asset, round_id)
    known: dict[str, _Judged] = {}
    for entry in _entries(versions.folder):
        if entry.suffix == ".parquet":
            known[entry.stem] = judged = _judged(versions, entry, used, books)
            if judged.fault is not None:
                yield f"{here} {judged.fault}", True
            elif not judged.is_finished:
                yield f"{here} {_UNFINISHED.format(digest=entry.stem)}", False
        elif entry.name != POINTER and not (entry.name.startswith(TEMPORARY_PREFIX) and not _is_folder(entry)):
            yield f"{here} has {entry.name} beside it, which the gate did not write; look at it", True
    if (fault := _pointer_fault(versions, known, used)) is not None:
        yield f"{here} {fault}", True


def _pointer_fault(versions: Versions, known: Mapping[str, _Judged], used: list[Passed]) -> str | None:
    """Say what is wrong with the version in force: it is the one released last, or one that is being written."""
    try:
        digest = versions.digest()
    except StorageError as error:
        return f"is no file the gate let through ({error})"
    released = [p.output_sha256 for p in used if p.type is EventType.RELEASED]
    if digest is None:
        is_hidden = any(judged.is_finished for judged in known.values())
        return "was published and is not in force any more; find out who removed the pointer" if is_hidden else None
    if digest not in known:
        return f"is no file the gate let through: {digest} is in force and not there"
    if known[digest].is_finished and digest != released[-1]:
        return f"has {digest} in force, released last was {released[-1]}; somebody put an older one back"
    return None


def _judged(versions: Versions, path: Path, used: list[Passed], books: _Books) -> _Judged:
    try:
        data = versions.read(path.stem)
        said = _receipt_of(data)
        rows = pq.read_table(pa.BufferReader(data))
    except _UNREADABLE as error:
        return _Judged(f"is no file the gate let through ({error!r}); find out who wrote it")
    subject, decisions = said["subject_sha256"], said["decision_ids"]
    mine = [p for p in used if p.subject_sha256 == subject and p.decision_id in decisions]
    consumed = {p.decision_id for p in mine if p.type is EventType.CONSUMED}
    unknown = [decision for decision in decisions if decision not in consumed]
    if unknown or not decisions:
        return _Judged(
            f"names decisions the ledger has not seen used ({', '.join(unknown) or 'none'}); the file was written "
            "around the gate, or the ledger is an older copy"
        )
    unmade = [p.decision_id for p in mine if not books.is_decided(p)]
    if unmade:
        return _Judged(f"rests on decision {unmade[0]}, which no approver has made; find out who recorded its use")
    outputs = {p.output_sha256 for p in mine if p.type is EventType.RELEASED}
    if outputs and path.stem not in outputs:
        return _Judged(f"has digest {path.stem}, released was {', '.join(map(str, outputs))}")
    return _Judged(None, bool(outputs), rows)


def _undecided_uses(books: _Books) -> Iterator[Unaccounted]:
    for passed in books.uses():
        if not books.is_decided(passed):
            message = f"event {passed.seq} says that decision {passed.decision_id} was used, which no approver has made"
            yield Unaccounted(passed.asset, passed.round_id, message)


def _page_faults(lake: Lake, books: _Books) -> Iterator[Unaccounted]:
    named: set[str] = set()
    for folder in _entries(lake.root / REPORT):
        round_id = folder.name.removeprefix(ROUND_PREFIX)
        if not is_round_id(round_id) or not _is_folder(folder):
            continue
        used = books.used(REPORT, round_id)
        for entry in _entries(folder):
            judged = _judged(Versions(folder), entry, used, books) if entry.suffix == ".parquet" else None
            for row in judged.rows.to_pylist() if judged is not None and judged.rows is not None else []:
                named.add(str(row["html_sha256"]))
                if (fault := page_fault(lake.root, row)) is not None:
                    yield Unaccounted(REPORT, round_id, f"{REPORT} of round {round_id}: {fault}")
    for message in strange_pages(lake.root, named):
        yield Unaccounted(REPORTS, "", message)


def _receipt_of(data: bytes) -> Mapping[str, Any]:
    metadata = pq.read_schema(pa.BufferReader(data)).metadata or {}
    said = parse_json(metadata[RECEIPT.encode()])
    if not all(isinstance(digest, str) for digest in (said["subject_sha256"], *said["decision_ids"])):
        raise TypeError("the receipt holds something that is no digest")
    members: Mapping[str, Any] = said
    return members


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if _is_folder(folder) else []


def _is_folder(path: Path) -> bool:
    """Tell whether a path is a folder itself, and no link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False
