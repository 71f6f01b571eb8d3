"""Which of a heap of log files belong together: one session or trajectory is one unit, which becomes one round.

What belongs here: joining files by what each says of itself (belonging). What does not: how a tool spreads a session
over files, which its format knows, copying, and what the files say. A file goes, by the first that applies:

1. with the folder it lies in, where a file holds that folder (a checkpoint, a conversation, what a session left);
2. with the other files of its folder of no supported format, where no format claims it (a manifest, a table, a report);
3. with the results of one folder;
4. as the log of a sub-agent, with the session beside it that mentions the agent, or is the only one;
5. with the trajectory beside it that names it as its sub-agent;
6. with all files of its session, whatever their formats, and those of the session it comes from;
7. alone.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.ingest.belonging import Belonging, belonging
from governance_pipeline.ingest.detection import detect
from governance_pipeline.ingest.first_day import day_of
from governance_pipeline.strict.canonical import canonical_json
from governance_pipeline.strict.files import FileRefused, digest_file, open_regular
from governance_pipeline.strict.lines import read_blocks
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from governance_pipeline.ingest.layout import FoundFile
    from governance_pipeline.ingest.logformat import LogFormat

    Key = tuple[str, str]

ID_DIGITS: Final = 16
"""Hex digits of a digest that make a round id."""

_NOTHING: Final = Belonging()
_SESSION: Final = "session"


@dataclass(frozen=True)
class Candidate:
    """One file to import, looked at once.

    `format` is None where no format claims it, `sha256` where it could not be opened (then `reason` says why).
    `says` is what it says of its session; `day` is the UTC date of the first time in its sample.
    """

    file: FoundFile
    sha256: str | None
    format: str | None = None
    says: Belonging = _NOTHING
    day: str | None = None
    reason: str | None = None


class Unit(NamedTuple):
    """Files that belong together, in path order, and the id their log gives them, None when it gives none."""

    files: tuple[Candidate, ...]
    session_id: str | None

    @property
    def digest_id(self) -> str:
        """16 hex of the file digest; of several files, of the list of their names and digests."""
        if len(self.files) == 1 and self.files[0].sha256 is not None:
            return self.files[0].sha256[:ID_DIGITS]
        listed = [[candidate.file.path, candidate.sha256 or candidate.reason or ""] for candidate in self.files]
        return hashlib.sha256(canonical_json(listed)).hexdigest()[:ID_DIGITS]

    @property
    def round_id(self) -> str:
        """The session id where it is a legal round id, else `digest_id`."""
        return self.session_id if self.session_id and is_round_id(self.session_id) else self.digest_id


def look_at(file: FoundFile, formats: Sequence[LogFormat]) -> Candidate:
    """Hash a file and find its format; a file that cannot be opened is kept with the reason."""
    if file.reason is not None:
        return Candidate(file, None, reason=file.reason)
    try:
        digest = digest_file(file.source)
        found = detect(file.path, file.source, formats)
    except FileRefused as refusal:
        return Candidate(file, None, reason=refusal.code)
    file = file._replace(size=digest.size)
    if found.format is None:
        return Candidate(file, digest.sha256)
    says = belonging(found.format, found.sample, file.source)
    return Candidate(file, digest.sha256, found.format.NAME, says, day_of(found.sample.values))


def units_of(candidates: Sequence[Candidate]) -> list[Unit]:
    """Put candidates together; every one of them is in exactly one unit, and units come in path order."""
    groups: dict[Key, list[Candidate]] = defaultdict(list)
    homes = _Homes(candidates)
    for candidate in candidates:
        groups[homes.group_of(candidate)].append(candidate)
    return [Unit(tuple(files), key[1] if key[0] == _SESSION else None) for key, files in groups.items()]


class _Homes:
    """What the files of the heap say, taken together."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._holders: dict[Path, Candidate] = {}
        self._parents: dict[str, str | None] = {}
        self._leading: set[tuple[str | None, Path]] = set()
        self._beside: dict[tuple[str | None, Path], list[Candidate]] = defaultdict(list)
        self._naming: dict[tuple[Path, str], list[Candidate]] = defaultdict(list)
        self._roots: dict[Path, Candidate] = {}
        for candidate in candidates:
            says, folder = candidate.says, candidate.file.source.parent
            if says.holds is not None:
                self._holders.setdefault(says.holds, candidate)
            if says.leads and says.results is not None:
                self._leading.add((candidate.format, says.results))
            if says.agent_id is None:
                self._beside[candidate.format, folder].append(candidate)
            if says.session_id is not None:
                self._parents[says.session_id] = says.parent_id or self._parents.get(says.session_id)
            for name in says.sub_agents:
                self._naming[folder, name].append(candidate)

    def group_of(self, candidate: Candidate) -> Key:
        """Give the key of the unit a file belongs to; that of a session ends with the id that names it."""
        source, says = candidate.file.source, candidate.says
        holder = self._holder_of(candidate)
        if holder is not None:
            id_ = holder.says.session_id
            return ("folder", str(holder.says.holds)) if id_ is None else self._session(id_)
        if candidate.format is None:
            return "side", str(source.parent)
        if (candidate.format, says.results) in self._leading:
            return "results", str(says.results)
        if says.agent_id is not None:
            candidate = self._started_by(candidate) or candidate
        root = self._root_of(candidate)
        id_ = root.says.session_id
        return ("file", str(root.file.source)) if id_ is None else self._session(id_)

    def _session(self, session_id: str) -> Key:
        """Give the key of a session: that of the one at the beginning of its line of forks, as far as it is known.

        Of sessions that come from each other in a circle the first by id is the beginning.
        """
        line = {session_id: 0}
        while (parent := self._parents.get(session_id)) is not None and parent in self._parents:
            if parent in line:
                session_id = min(list(line)[line[parent] :])
                break
            line[parent] = len(line)
            session_id = parent
        self._parents |= {member: session_id for member in line if member != session_id}  # a shorter way next time
        return _SESSION, session_id

    def _holder_of(self, candidate: Candidate) -> Candidate | None:
        """Give the file that holds the folder a file lies in; of a session that is a part of another, that one."""
        folders = candidate.file.source.parents
        while (folder := next((folder for folder in folders if folder in self._holders), None)) is not None:
            candidate, folders = self._holders[folder], folder.parents
            if not candidate.says.is_part or not any(above in self._holders for above in folders):
                return candidate
        return None

    def _root_of(self, candidate: Candidate) -> Candidate:
        """Give the trajectory at the top of those beside a file that name it; itself where none does, or several.

        Of trajectories that name each other in a circle the first by path is the top.
        """
        path = {candidate.file.source: candidate}
        while (top := self._roots.get(candidate.file.source)) is None:
            folder = candidate.file.source.parent
            naming = {c.file.source: c for name in candidate.says.ids for c in self._naming.get((folder, name), ())}
            if len(naming) != 1:
                top = candidate
                break
            ((source, candidate),) = naming.items()
            if source in path:
                members = list(path)
                top = path[min(members[members.index(source) :])]
                break
            path[source] = candidate
        self._roots |= dict.fromkeys(path, top)
        return top

    def _started_by(self, candidate: Candidate) -> Candidate | None:
        """Give the session the log of a sub-agent belongs to: the one beside it that names its agent, or the only one.

        None where there is none or several of them.
        """
        beside = self._beside[candidate.format, candidate.file.source.parent]
        naming = [other for other in beside if _mentions(other.file.source, candidate.says.agent_id or "")]
        parents = naming or beside
        return parents[0] if len(parents) == 1 else None


def _mentions(source: Path, word: str) -> bool:
    """Tell whether a file holds the word, also across the blocks it is read in."""
    needle, tail = word.encode(), b""
    try:
        with open_regular(source) as stream:
            for block in read_blocks(stream):
                if needle in tail + block:
                    return True
                tail = block[-len(needle) :]
    except FileRefused:
        return False
    return False
