"""Planned rounds copied into the landing area, and what is there checked against what was read.

What belongs here: copying (never moving, never overwriting), listing and verifying round folders. What does not:
deciding what becomes a round (planning).

A round appears whole: its files are first put together in a hidden folder of the landing area, then the folder gets
its name in one step. Only into a round that exists already files are added one by one.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import pandas as pd

from governance_pipeline.errors import UnreadableError
from governance_pipeline.ingest.layout import LOGS_FOLDER, scan, scan_inbox
from governance_pipeline.rounds.landing import landing_rounds
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.storage.lock import exclusive
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import FileRefused, copy_and_digest, digest_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.ingest.planning import PlannedFile, PlannedRound

STAGE: Final = ".importing"
LOCK: Final = ".importing.lock"
_LOGS: Final = f"{LOGS_FOLDER}/"


class Conflict(NamedTuple):
    """A file that was not imported: its name below the round folder, and why in words."""

    path: str
    message: str


@dataclass(frozen=True)
class Imported:
    """What became of one planned round; every path is a name below its folder.

    `copied` are new, `unchanged` were there with the same bytes (perhaps under another name), `left_out` cannot be or
    need not be copied, with the reason. With any conflict nothing of the round was copied.
    """

    round_id: str
    copied: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    conflicts: tuple[Conflict, ...] = ()


def import_round(planned: PlannedRound, landing: Path) -> Imported:
    """Copy one planned round into the landing area.

    Each source is hashed before (when it was planned), while and after it is copied. What lies in the round already is
    never overwritten: the same bytes change nothing, other bytes are a conflict.

    Raises:
        StorageError: the landing area cannot be written or is busy.
    """
    landing.mkdir(parents=True, exist_ok=True)
    with exclusive(landing / LOCK):
        try:
            return _import(planned, landing)
        finally:
            shutil.rmtree(landing / STAGE, ignore_errors=True)


def preview_round(planned: PlannedRound, landing: Path) -> Imported:
    """Say what `import_round` would do with the landing area as it is now; nothing is written.

    Only what the copying itself finds out (a source that changed since it was planned) is not foreseen.

    Raises:
        UnreadableError: the landing area cannot be listed.
    """
    return _compare(planned, landing)[0]


def verify_round(folder: Path, raw_log_files: pd.DataFrame) -> pd.DataFrame:
    """Hash the files of a round folder again and compare them with what was read.

    Shape: one row per file on either side, ordered by path: path, state (same, changed, missing, new), recorded and
    found (digests; null where the file was not or cannot be opened).

    Raises:
        UnreadableError: the folder is gone or cannot be listed.
    """
    recorded = {
        path: None if pd.isna(digest) else digest
        for path, digest in zip(raw_log_files["path"], raw_log_files["file_sha256"], strict=True)
    }
    found = {file.path: _digest(file.source) if file.reason is None else None for file in scan_inbox(folder)}
    rows = []
    for path in sorted(recorded.keys() | found.keys(), key=str.encode):
        before, now = recorded.get(path), found.get(path)
        if path not in found:
            state = "missing"
        elif path not in recorded:
            state = "new"
        else:
            state = "same" if before == now else "changed"
        rows.append((path, state, before, now))
    columns = ("path", "state", "recorded", "found")
    return pd.DataFrame({name: pd.array([row[i] for row in rows], dtype="string") for i, name in enumerate(columns)})


def _import(planned: PlannedRound, landing: Path) -> Imported:
    expected, fresh = _compare(planned, landing)
    if expected.conflicts:
        return expected
    conflicts = _stage(fresh, landing, planned.round_id)
    if conflicts:
        return Imported(planned.round_id, left_out=expected.left_out, conflicts=tuple(conflicts))
    if fresh:
        _publish(fresh, landing, planned.round_id)
    return expected


def _compare(planned: PlannedRound, landing: Path) -> tuple[Imported, list[PlannedFile]]:
    """Hold a round against what lies in the landing area: what an import comes to, and the files it has to copy."""
    folder = landing / planned.round_id
    left_out = tuple((file.path, file.reason) for file in planned.files if file.reason is not None)
    wanted = [file for file in planned.files if file.reason is None]
    clash = _case_clash(planned.round_id, landing)
    if clash is not None:
        return Imported(planned.round_id, left_out=left_out, conflicts=(Conflict("", clash),)), []
    try:
        present = {file.path: _digest(file.source) for file in scan(folder)} if os.path.lexists(folder) else {}
    except UnreadableError as error:
        return Imported(planned.round_id, left_out=left_out, conflicts=(Conflict("", str(error)),)), []
    fresh = [file for file in wanted if not _is_held(file, present)]
    conflicts = tuple(_conflict(file, folder) for file in fresh if os.path.lexists(folder / file.path))
    if conflicts:
        return Imported(planned.round_id, left_out=left_out, conflicts=conflicts), []
    copied = tuple(file.path for file in fresh)
    unchanged = tuple(file.path for file in wanted if file.path not in set(copied))
    return Imported(planned.round_id, copied, unchanged, left_out), fresh


def _is_held(file: PlannedFile, present: Mapping[str, str | None]) -> bool:
    """Tell whether the round has these bytes: under this name, or for a log under any name of a log."""
    if present.get(file.path) == file.sha256:
        return True
    is_log = file.format is not None and file.path.startswith(_LOGS)
    return is_log and any(name.startswith(_LOGS) and digest == file.sha256 for name, digest in present.items())


def _case_clash(round_id: str, landing: Path) -> str | None:
    for other in landing_rounds(landing).rounds:
        if other != round_id and other.casefold() == round_id.casefold():
            return f"round {round_id} differs only in case from round {other}; import it with another --round"
    return None


def _conflict(file: PlannedFile, folder: Path) -> Conflict:
    return Conflict(
        file.path,
        f"{excerpt(str(folder / file.path))} exists with other bytes and is not overwritten; import the new version "
        "with another --round, or move the old one away first",
    )


def _stage(files: Sequence[PlannedFile], landing: Path, round_id: str) -> list[Conflict]:
    """Copy every file into the hidden folder before any of them lands; names those that are not as planned."""
    writer = AtomicWriter(landing)
    conflicts = []
    for file in files:
        target = landing / STAGE / round_id / file.path
        try:
            digests = {
                writer.fill(target, partial(copy_and_digest, file.source)).sha256,
                digest_file(file.source).sha256,
            }
        except FileRefused as refusal:
            conflicts.append(Conflict(file.path, str(refusal)))
            continue
        if digests != {file.sha256}:
            message = f"{excerpt(str(file.source))} changed since it was looked at; import it again"
            conflicts.append(Conflict(file.path, message))
    return conflicts


def _publish(files: Sequence[PlannedFile], landing: Path, round_id: str) -> None:
    stage, folder = landing / STAGE / round_id, landing / round_id
    if not folder.exists():
        stage.rename(folder)
        return
    writer = AtomicWriter(landing)
    for file in files:
        target = folder / file.path
        with writer.folder(target.parent):  # made, and refused where a part of it is a link
            os.link(stage / file.path, target, follow_symlinks=False)  # unlike a rename it never replaces anything
        (stage / file.path).unlink()


def _digest(source: Path) -> str | None:
    with suppress(FileRefused):
        return digest_file(source).sha256
    return None
