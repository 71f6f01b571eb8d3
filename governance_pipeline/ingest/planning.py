"""The plan of an import: which rounds a heap of paths becomes, decided before anything is copied.

What belongs here: finding the files, cutting the heap into rounds, naming rounds and files. What does not: copying
(importing) and knowing which files make one session (units).

A folder with a round contract, or with a native file and no round further down, is a round as it stands and keeps its
layout and its name. All other files are logs: they go to `logs/`, named from the folder all files of their round have
in common; a native file or contract that is named itself goes to the top, where it is one.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import UsageError
from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.layout import CONTRACT_FILE, LOGS_FOLDER, FoundFile, found_file, scan
from governance_pipeline.ingest.native import prices
from governance_pipeline.ingest.native.kinds import BY_PLACE
from governance_pipeline.ingest.round import CONTRACT_FORMAT
from governance_pipeline.ingest.units import Candidate, Unit, look_at, units_of
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from governance_pipeline.ingest.logformat import LogFormat

AUTO: Final = "auto"
OTHER_FORMAT: Final = "other_format"
DUPLICATE_FILE: Final = "duplicate_file"

_PLACED: Final = {CONTRACT_FILE: CONTRACT_FORMAT, **{name: kind.NAME for name, kind in BY_PLACE.items()}}
"""Name at the top of a round folder -> format."""


_COMPANIONS: Final = frozenset({"confidence.jsonl", "prices.jsonl"})
"""Native files that say nothing without a round: they make one only beside `logs/`, as an import lays it out."""

_KEPT_FORMATS: Final = frozenset({None, CONTRACT_FORMAT, prices.NAME})
"""Formats a round folder keeps whatever format is asked for: without them its logs would be read otherwise."""


class By(StrEnum):
    """How a heap is cut into rounds: one session or trajectory each, one UTC day each, or one folder each."""

    SESSION = "session"
    DAY = "day"
    DIR = "dir"


@dataclass(frozen=True)
class PlannedFile:
    """One file of a planned round.

    `path` is its name below the round folder; `sha256` and `size` (bytes) are those it had when it was looked at;
    `format` is None where none claims it; `reason` says why it is not copied (it cannot be opened, repeats another
    log of the round byte by byte, or has not the format asked for), None when it is.
    """

    source: Path
    path: str
    size: int
    sha256: str | None
    format: str | None
    reason: str | None

    def found(self) -> FoundFile:
        """Give it as a file that `ingest.round.read_files` reads from where it lies."""
        return FoundFile(self.path, self.source, self.size, self.reason)


@dataclass(frozen=True)
class PlannedRound:
    """One round to be, with its files in path order."""

    round_id: str
    files: tuple[PlannedFile, ...]


def plan_import(
    paths: Sequence[Path], by: By = By.SESSION, *, round_id: str | None = None, format_name: str = AUTO
) -> list[PlannedRound]:
    """Plan the rounds of some files and folders, ordered by id. Every file found is in exactly one of them.

    Args:
        paths: log files, folders of logs, round folders, or folders of any of these. A file named twice counts once.
        by: how logs are cut into rounds; round folders are never cut.
        round_id: make one round of all of it, with this id.
        format_name: only files of this format; the others are listed with a reason. `auto` takes all. A round folder
            also keeps what its logs are read with: contract, prices, and files of no format (outputs of its steps).

    Raises:
        UsageError: a path does not exist, `round_id` is no legal id, there is no such format, or `round_id` would
            join a round folder with something else.
        UnreadableError: a folder cannot be listed.
    """
    formats = _formats(format_name)
    folders, logs = _collect(paths)
    candidates = [_look_at(file, file.source.name, formats, format_name) for file in logs]
    if round_id is not None:
        return [_one_round(_legal(round_id), folders, candidates, format_name)]
    rounds = _round_folders(folders, format_name)
    taken = {planned.round_id.casefold() for planned in rounds}
    rounds += [_planned(name, files) for name, files in _named(units_of(candidates), By(by), taken).items()]
    return sorted(rounds, key=lambda planned: planned.round_id)


def _formats(name: str) -> Sequence[LogFormat]:
    chosen = [known for known in FORMATS if name in {AUTO, known.NAME}]
    if not chosen:
        raise UsageError(f"there is no format {excerpt(name)!r}; `govern rounds formats` lists them")
    return chosen


def _legal(round_id: str) -> str:
    if not is_round_id(round_id):
        raise UsageError(
            f"{excerpt(round_id)!r} is no legal round id; use 1 to 80 of A-Z a-z 0-9 . _ -, starting with a letter "
            "or digit, without two dots in a row or a dot at the end"
        )
    return round_id


def _collect(paths: Sequence[Path]) -> tuple[dict[Path, list[FoundFile]], list[FoundFile]]:
    """Give the round folders with their files, and all other files, each once and in path order."""
    folders: dict[Path, list[FoundFile]] = {}
    logs: dict[Path, FoundFile] = {}
    for given in paths:
        path = Path(os.path.abspath(given))  # noqa: PTH100 - lexical: resolving would follow links
        if not os.path.lexists(path):
            raise UsageError(f"{path} does not exist; name a log file or a folder of logs")
        if not path.is_dir():
            logs[path] = found_file(path, path.parent)
            continue
        found = scan(path)
        tops = _tops(found)
        for file in found:
            outermost = [folder for folder in file.source.parents if folder in tops][-1:]
            if outermost:
                folders.setdefault(outermost[0], []).append(found_file(file.source, outermost[0]))
            else:
                logs[file.source] = file
    for path in [path for path in logs if any(folder in folders for folder in path.parents)]:
        del logs[path]
    unique = {folder: list({file.source: file for file in files}.values()) for folder, files in folders.items()}
    return unique, [logs[path] for path in sorted(logs)]


def _tops(found: Sequence[FoundFile]) -> set[Path]:
    """Give the folders that are rounds as they stand, those inside another one included.

    A contract always makes one. A native file may have strayed to the top of a heap: where a round or another native
    file lies further down it makes none, because its folder would take all of them in.
    """
    names: dict[Path, set[str]] = defaultdict(set)
    for file in found:
        names[file.source.parent].add(file.source.name)
    holders = {folder for name in names for folder in (name, *name.parents)}
    natives = {
        folder
        for folder, held in names.items()
        if held & (_PLACED.keys() - _COMPANIONS) or (held & _COMPANIONS and folder / LOGS_FOLDER in holders)
    }
    contracts = {folder for folder in natives if CONTRACT_FILE in names[folder]}
    return contracts | (natives - {above for folder in natives for above in folder.parents})


def _look_at(file: FoundFile, name: str, formats: Sequence[LogFormat], format_name: str) -> Candidate:
    """Look at a file; `name` is its path at the top of a round, where a native file or contract is one."""
    candidate = look_at(file, () if name in _PLACED else formats)
    if candidate.reason is not None:
        return candidate
    if name in _PLACED:
        candidate = Candidate(candidate.file, candidate.sha256, _PLACED[name])
    if format_name not in {AUTO, candidate.format}:
        return Candidate(candidate.file, candidate.sha256, candidate.format, reason=OTHER_FORMAT)
    return candidate


def _one_round(
    round_id: str, folders: Mapping[Path, Sequence[FoundFile]], candidates: Sequence[Candidate], format_name: str
) -> PlannedRound:
    if not folders:
        return _planned(round_id, candidates)
    if len(folders) > 1 or candidates:
        raise UsageError(
            "--round makes one round of logs, or gives one round folder another id; it does not join "
            f"{len(folders)} round folders and {len(candidates)} other files. Import them apart"
        )
    return PlannedRound(round_id, _as_they_are(next(iter(folders.values())), format_name))


def _round_folders(folders: Mapping[Path, Sequence[FoundFile]], format_name: str) -> list[PlannedRound]:
    """Plan the folders that are rounds: each under its own name where it is legal and no other one has it.

    The others are called by their digest. One with the same bytes in the same files as an earlier one, in path order,
    is a copy of it: it gets a number behind the digest, and none of its files is read a second time.
    """
    planned = {folder: _as_they_are(folders[folder], format_name) for folder in sorted(folders)}
    names = Counter(folder.name.casefold() for folder in planned)
    named = [folder for folder in planned if is_round_id(folder.name) and names[folder.name.casefold()] == 1]
    rounds = {folder.name.casefold(): PlannedRound(folder.name, planned.pop(folder)) for folder in named}
    seen: set[str] = set()
    for files in planned.values():
        candidates = tuple(Candidate(file.found(), file.sha256, reason=file.reason) for file in files)
        digest = Unit(candidates, None).digest_id
        round_id = _free(digest, rounds)
        is_copy = digest in seen
        seen.add(digest)
        rounds[round_id] = PlannedRound(round_id, tuple(map(_repeated, files)) if is_copy else files)
    return list(rounds.values())


def _free(digest: str, taken: Collection[str]) -> str:
    """Give the digest, with a number behind it where a round is called so already."""
    return next(name for n in count(1) if (name := digest if n == 1 else f"{digest}-{n}") not in taken)


def _repeated(file: PlannedFile) -> PlannedFile:
    return file if file.reason is not None else replace(file, reason=DUPLICATE_FILE)


def _as_they_are(files: Sequence[FoundFile], format_name: str) -> tuple[PlannedFile, ...]:
    found = (_look_at(file, file.path, FORMATS, AUTO) for file in files)
    kept = {format_name, *_KEPT_FORMATS}
    planned = [PlannedFile(c.file.source, c.file.path, c.file.size, c.sha256, c.format, c.reason) for c in found]
    if format_name != AUTO:
        planned = [replace(f, reason=f.reason or (None if f.format in kept else OTHER_FORMAT)) for f in planned]
    return tuple(sorted(planned, key=lambda file: file.path.encode()))


def _named(units: Sequence[Unit], by: By, taken: set[str]) -> dict[str, list[Candidate]]:
    """Name the rounds of some units; units with the same name are one round.

    An id that differs only in case from another one, or is that of a round folder, gives way to the digest.
    """
    spellings: dict[str, str] = {}
    rounds: dict[str, list[Candidate]] = defaultdict(list)
    for group, members in _cut(units, by):
        merged = Unit(tuple(members), group)
        round_id = merged.round_id
        key = round_id.casefold()
        if key in taken or spellings.setdefault(key, round_id) != round_id:
            round_id = _free(merged.digest_id, taken)
        rounds[round_id] += members
    return rounds


def _cut(units: Sequence[Unit], by: By) -> Iterator[tuple[str | None, list[Candidate]]]:
    """Group units; gives the id each group asks for. A unit whose day is unknown stays alone."""
    if by is By.SESSION:
        yield from ((unit.session_id, list(unit.files)) for unit in units)
        return
    groups: dict[str, list[Candidate]] = defaultdict(list)
    for unit in units:
        folder = unit.files[0].file.source.parent
        day = min((candidate.day for candidate in unit.files if candidate.day is not None), default=None)
        if by is By.DAY and day is None:
            yield unit.session_id, list(unit.files)
        else:
            groups[str(folder) if by is By.DIR else str(day)] += unit.files
    names = Counter(Path(key).name.casefold() for key in groups)
    for key, members in groups.items():
        name = Path(key).name
        yield (name if names[name.casefold()] == 1 else None), members


def _planned(round_id: str, candidates: Sequence[Candidate]) -> PlannedRound:
    """Name the files of a round of logs, and leave out logs that repeat another one byte by byte."""
    ordered = sorted(candidates, key=lambda candidate: candidate.file.source)
    tops = Counter(candidate.file.source.name for candidate in ordered)
    root = Path(os.path.commonpath([candidate.file.source.parent for candidate in ordered])) if ordered else Path()
    seen: set[str] = set()
    files = []
    for candidate in ordered:
        source, reason = candidate.file.source, candidate.reason
        path = f"{LOGS_FOLDER}/{found_file(source, root).path}"
        if source.name in _PLACED and tops[source.name] == 1:
            path = source.name
        if candidate.format is not None and candidate.sha256 is not None and reason is None:
            reason = DUPLICATE_FILE if candidate.sha256 in seen else None
            seen.add(candidate.sha256)
        files.append(PlannedFile(source, path, candidate.file.size, candidate.sha256, candidate.format, reason))
    return PlannedRound(round_id, tuple(sorted(files, key=lambda file: file.path.encode())))
