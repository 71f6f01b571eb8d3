"""Which of a heap of log files belong together: one session or trajectory is one unit, which becomes one round.

What belongs here: how each tool spreads one session over files (research/log_formats.md). What does not: copying, and
what the files say.

- Claude Code: a session file and everything in the folder of the same name beside it; a sub-agent file goes with the
  session file beside it that names its agent, or is the only one; files of one session id are one session.
- Entire: a checkpoint's folder, with its session folders and the transcripts in them, is one unit.
- Codex: a session and all that say they were forked from it or started by it, wherever their files lie.
- ATIF: a trajectory and those of its sub-agents that lie beside it, by the ids it names.
- OpenHands SDK: a folder with `base_state.json` and `events/` is one conversation; its sub-agents are in `subagents/`.
- OpenHands Index and SWE-bench: the result files of one folder, outcomes in `instance_results/` included, are one unit.
- tau2-bench: a `submission.json` and the trajectories beside it or in `trajectories/` are one unit.
- Every other supported file is a unit of its own; a native audit log that names one session has that id.
- Files of no supported format that lie in one folder are one unit (a manifest, tables, reports).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.ingest.detection import detect
from governance_pipeline.ingest.first_day import day_of
from governance_pipeline.ingest.formats import atif, codex_rollout
from governance_pipeline.ingest.formats.atif_trajectories import references
from governance_pipeline.ingest.formats.swebench_kinds import is_instance_id
from governance_pipeline.strict.canonical import canonical_json
from governance_pipeline.strict.files import FileRefused, digest_file, open_regular
from governance_pipeline.strict.lines import read_blocks
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.ingest.layout import FoundFile
    from governance_pipeline.ingest.logfile import Sample
    from governance_pipeline.ingest.logformat import LogFormat

ID_DIGITS: Final = 16
"""Hex digits of a digest that make a round id."""

CLAUDE_CODE: Final = "claude_code"
ENTIRE: Final = "claude_code_entire"
NATIVE_AUDIT_LOG: Final = "native_audit_log"
CONVERSATION_STATE: Final = "base_state.json"
CONVERSATION_EVENTS: Final = "events"
CONVERSATION_SUBAGENTS: Final = "subagents"
TAU2_BENCH: Final = "tau2_bench"
SUBMISSION: Final = "submission.json"
RESULT_FOLDERS: Final[Mapping[str, str]] = {
    "openhands_index": "instance_results",
    "swebench": "logs",
    TAU2_BENCH: "trajectories",
}
"""Format whose files of one folder belong together -> folder inside it that holds the outcomes of single instances."""


@dataclass(frozen=True)
class Candidate:
    """One file to import, looked at once.

    `format` is None where no format claims it, `sha256` where it could not be opened (then `reason` says why).
    `session_id` and `agent_id` are what it says of itself; `day` is the UTC date of the first time in its sample.
    `ids` are the trajectories it holds, `sub_agents` those it names (ATIF); `parent_id` is where a rollout is from.
    """

    file: FoundFile
    sha256: str | None
    format: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    day: str | None = None
    reason: str | None = None
    ids: tuple[str, ...] = ()
    sub_agents: tuple[str, ...] = ()
    parent_id: str | None = None


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
    session_id, agent_id = _ids(found.format.NAME, found.sample, file.source.stem)
    candidate = Candidate(file, digest.sha256, found.format.NAME, session_id, agent_id, day_of(found.sample.values))
    if found.format.NAME == codex_rollout.NAME:
        return replace(candidate, **codex_rollout.lineage(found.sample.values)._asdict())
    if found.format.NAME == atif.NAME:
        ids, sub_agents = references(found.sample.values[0])
        return replace(candidate, session_id=next(iter(ids), None), ids=ids, sub_agents=sub_agents)
    return candidate


def units_of(candidates: Sequence[Candidate]) -> list[Unit]:
    """Put candidates together; every one of them is in exactly one unit, and units come in path order."""
    groups: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    homes = _Homes(candidates)
    for candidate in candidates:
        groups[homes.group_of(candidate)].append(candidate)
    return [Unit(tuple(files), homes.session_ids.get(key)) for key, files in groups.items()]


class _Homes:
    """What is known of the heap as a whole: conversation folders, session files, and which agents sessions name."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.session_ids: dict[tuple[str, str], str] = {}
        self._conversations = _checkpoints(candidates)
        self.session_ids.update({("folder", str(folder)): name for folder, name in self._conversations.items()})
        self._sessions: dict[Path, str] = {}
        self._by_folder: dict[Path, list[Candidate]] = defaultdict(list)
        self._naming: dict[tuple[Path, str], list[Candidate]] = defaultdict(list)
        self._rollouts = {c.session_id: c.parent_id for c in candidates if c.format == codex_rollout.NAME}
        self._submissions = {
            c.file.source.parent for c in candidates if c.format == TAU2_BENCH and c.file.source.name == SUBMISSION
        }
        events = {c.file.source.parent.parent for c in candidates if c.file.source.parent.name == CONVERSATION_EVENTS}
        for candidate in candidates:
            source = candidate.file.source
            if source.name == CONVERSATION_STATE and source.parent in events:
                self._conversations[source.parent] = candidate.session_id or ""
                if candidate.session_id is not None:
                    self.session_ids["folder", str(source.parent)] = candidate.session_id
            if candidate.format == CLAUDE_CODE and candidate.agent_id is None:
                self._sessions[source.with_suffix("")] = candidate.session_id or ""
                self._by_folder[source.parent].append(candidate)
            for name in candidate.sub_agents:
                self._naming[source.parent, name].append(candidate)

    def group_of(self, candidate: Candidate) -> tuple[str, str]:
        """Give the key of the unit a file belongs to, and remember the session id that names it."""
        source = candidate.file.source
        home = next((folder for folder in source.parents if folder in self._conversations), None)
        if home is not None:
            while home.parent.name == CONVERSATION_SUBAGENTS and home.parent.parent in self._conversations:
                home = home.parent.parent
            return "folder", str(home)
        for folder in source.parents:
            if self._sessions.get(folder):
                return self._named(self._sessions[folder])
        if candidate.format in (CLAUDE_CODE, codex_rollout.NAME):
            session_id = self._parent_of(candidate) or candidate.session_id
            return self._named(session_id) if session_id else ("file", str(source))
        if candidate.format is None:
            return "side", str(source.parent)
        if (results := self._results_of(candidate)) is not None:
            return "results", str(results)
        candidate = self._root_of(candidate)
        source = candidate.file.source
        if candidate.session_id is not None:
            self.session_ids["file", str(source)] = candidate.session_id
        return "file", str(source)

    def _named(self, session_id: str) -> tuple[str, str]:
        self.session_ids["session", session_id] = session_id
        return "session", session_id

    def _results_of(self, candidate: Candidate) -> Path | None:
        """Give the folder whose results a file is one of; None where it stands by itself."""
        outcomes = RESULT_FOLDERS.get(candidate.format or "")
        if outcomes is None:
            return None
        folder = _result_folder(candidate.file.source.parent, outcomes)
        is_alone = candidate.format == TAU2_BENCH and folder not in self._submissions
        return None if is_alone else folder

    def _root_of(self, candidate: Candidate) -> Candidate:
        """Give the trajectory at the top of those beside a file that name it; itself where none does, or several.

        Of trajectories that name each other in a circle the first by path is the top.
        """
        path = [candidate]
        while True:
            folder = path[-1].file.source.parent
            naming = {c.file.source: c for name in path[-1].ids for c in self._naming.get((folder, name), ())}
            if len(naming) != 1:
                return path[-1]
            (parent,) = naming.values()
            if parent in path:
                return min(path[path.index(parent) :], key=lambda member: member.file.source)
            path.append(parent)

    def _parent_of(self, candidate: Candidate) -> str | None:
        """Give the session a sub-agent file belongs to: the one beside it that names its agent, or the only one."""
        if candidate.session_id is not None and candidate.format == codex_rollout.NAME:
            return codex_rollout.first_session(candidate.session_id, self._rollouts)
        if candidate.agent_id is None:
            return None
        beside = self._by_folder[candidate.file.source.parent]
        naming = [other for other in beside if _mentions(other.file.source, candidate.agent_id)]
        parents = naming or beside
        return parents[0].session_id if len(parents) == 1 else None


def _checkpoints(candidates: Sequence[Candidate]) -> dict[Path, str]:
    """Give the folders of Entire checkpoints, and their ids; one inside another belongs to the outer one."""
    found = {c.file.source.parent: c.session_id for c in candidates if c.format == ENTIRE and c.session_id is not None}
    return {folder: name for folder, name in found.items() if found.keys().isdisjoint(folder.parents)}


def _result_folder(folder: Path, outcomes: str) -> Path:
    """Give the folder whose results a file belongs to: the one above the folder of outcomes, else its own.

    Inside the folder of outcomes only an instance may have a folder of its own, at any depth.
    """
    above = folder.parents if is_instance_id(folder.name) else (folder,)
    return next((holder.parent for holder in above if holder.name == outcomes), folder)


def _ids(format_name: str, sample: Sample, stem: str) -> tuple[str | None, str | None]:
    records = [value for value in sample.values if isinstance(value, dict)]
    if format_name == CLAUDE_CODE:
        ids = _texts(records, "sessionId")
        agents = _texts([record for record in records if record.get("isSidechain") is True], "agentId")
        is_agent_file = bool(agents) and all(record.get("isSidechain", True) is True for record in records)
        return (stem if stem in ids else next(iter(ids), None)), (agents[0] if is_agent_file else None)
    if format_name == ENTIRE:
        name = "checkpoint_id" if any("sessions" in record for record in records) else "session_id"
        return next(iter(_texts(records, name)), None), None
    if format_name == NATIVE_AUDIT_LOG:
        ids = _texts(records, "session_id")
        return (ids[0] if len(ids) == 1 else None), None
    if sample.path.rpartition("/")[2] == CONVERSATION_STATE:
        return next(iter(_texts(records, "id")), None), None
    return None, None


def _texts(records: Sequence[dict[str, Any]], name: str) -> list[str]:
    """Give the distinct texts a member has, in the order met."""
    return list(dict.fromkeys(value for record in records if isinstance(value := record.get(name), str) and value))


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
