"""Numbers an Entire checkpoint declares, and the parts of each.

What belongs here: which member is which field, and what it is held against. What does not: finding the files
(claude_code_entire). A list declares its length: `sessions` and `files_touched` are held against what they list.

- Root token counts, `checkpoints_count` and `files_touched` are re-added from the session folders by Entire itself.
- Session token counts: of the transcript from its start line, each message id once with its largest output.
- `agent_percentage` from the lines it divides; `total_lines_changed` from its five addends (later versions).
- Against git only where a table of committed files lies in the checkpoint: `files_touched` is what the agent touched
  and `total_committed` is net additions at commit time, so both may differ from the commit without being wrong. Those
  two comparisons are fields of their own (`…_vs_commit`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.values import entries, members
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.claude_code_entire_files import CommitFile, Metadata, Transcripts
    from governance_pipeline.ingest.formats.places import Place

    Members = Mapping[str, Any]

NAME: Final = "claude_code_entire"
TOKENS: Final = ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens")
CALLS: Final = "api_call_count"
_USAGE: Final = (*((name, "tokens") for name in TOKENS), (CALLS, "calls"))


def _field(name: str, unit: str) -> Field:
    return Field(name, DataType.INTEGER, unit)


ROOT_USAGE: Final = {name: _field(f"checkpoint_{name}", unit) for name, unit in _USAGE}
SESSION_USAGE: Final = {name: _field(f"session_{name}", unit) for name, unit in _USAGE}
CHECKPOINTS: Final = _field("checkpoints_count", "checkpoints")
SESSIONS: Final = _field("sessions_count", "sessions")
FILES: Final = _field("files_touched_count", "files")
FILES_VS_COMMIT: Final = _field("files_touched_vs_commit", "files")
SESSION_CHECKPOINTS: Final = _field("session_checkpoints_count", "checkpoints")
SESSION_FILES: Final = _field("session_files_touched_count", "files")
COMMITTED_VS_COMMIT: Final = _field("total_committed_vs_commit", "lines")
TOTAL_CHANGED: Final = _field("total_lines_changed", "lines")
PERCENTAGE: Final = Field("agent_percentage", DataType.FLOAT, "percent")
CHANGED_PERCENTAGE: Final = Field("agent_changed_percentage", DataType.FLOAT, "percent")
LINES: Final = {
    name: _field(name, "lines")
    for name in ("agent_lines", "agent_removed", "human_added", "human_modified", "human_removed", "total_committed")
}
_CHANGED_PARTS: Final = ("agent_lines", "agent_removed", "human_added", "human_modified", "human_removed")

_CHECKED: Final = (
    *ROOT_USAGE.values(), *SESSION_USAGE.values(), CHECKPOINTS, SESSIONS, FILES, FILES_VS_COMMIT, COMMITTED_VS_COMMIT,
    TOTAL_CHANGED, PERCENTAGE, CHANGED_PERCENTAGE,
)  # fmt: skip
RECOMPUTABLE: Final[tuple[str, ...]] = tuple(field.name for field in _CHECKED)
DECLARES: Final[tuple[str, ...]] = (
    *RECOMPUTABLE,
    *(field.name for field in (SESSION_CHECKPOINTS, SESSION_FILES, *LINES.values())),
)


def declare_root(
    out: Extraction, name: str, root: Metadata, sessions: Sequence[Metadata], commits: Sequence[CommitFile] | None
) -> None:
    """Add what a root declares, and its session folders as the parts."""
    subject = Subject(out, NAME, name, [session.place.file.path for session in sessions])
    _declare_usage(subject, root, ROOT_USAGE)
    subject.declare(*_swap(root.member("checkpoints_count"), CHECKPOINTS))
    _declare_length(subject, root, "sessions", SESSIONS)
    _declare_length(subject, root, "files_touched", FILES)
    counted = [session for session in sessions if isinstance(session.value.get("token_usage"), dict)]
    for index, session in enumerate(counted, 1):
        subject.component("sessions", index, {name: session.member("token_usage", name) for name, _ in _USAGE})
    for index, session in enumerate(sessions, 1):
        columns = {name: session.member(name) for name in ("checkpoint_id", "checkpoints_count")}
        subject.component("session_folders", index, columns)
    touched = (
        (session.place.below(f"/files_touched/{index}"), path)
        for session in sessions
        for index, path in enumerate(entries(session.value.get("files_touched")))
    )
    for index, part in enumerate(touched, 1):
        subject.component("session_files", index, {"path": part})
    if commits:
        against = _commit_subject(out, name, commits)
        _declare_length(against, root, "files_touched", FILES_VS_COMMIT)


def declare_session(
    out: Extraction, name: str, session: Metadata, transcripts: Transcripts, commits: Sequence[CommitFile] | None
) -> None:
    """Add what a session declares, and the calls of its transcript as the parts."""
    counted = Subject(out, NAME, name, transcripts.files(session))
    _declare_usage(counted, session, SESSION_USAGE)
    for index, call in enumerate(transcripts.calls(session), 1):
        _add_call(counted, index, session.place, call)
    own = Subject(out, NAME, name, [])
    own.declare(*_swap(session.member("checkpoints_count"), SESSION_CHECKPOINTS))
    _declare_length(own, session, "files_touched", SESSION_FILES)
    attribution = members(session.value.get("initial_attribution"))
    if not attribution:
        return
    for member, field in LINES.items():
        if attribution.get(member) is not None:
            own.declare(*_swap(session.member("initial_attribution", member), field))
    _declare_shares(own, session, attribution)
    if commits and attribution.get("total_committed") is not None:
        against = _commit_subject(out, name, commits)
        against.declare(*_swap(session.member("initial_attribution", "total_committed"), COMMITTED_VS_COMMIT))


def _declare_shares(subject: Subject, session: Metadata, attribution: Members) -> None:
    """Later versions divide all changed lines, removed ones included; they are told by the total they divide by."""
    is_later = attribution.get("total_lines_changed") is not None
    if is_later:
        subject.declare(*_swap(session.member("initial_attribution", "total_lines_changed"), TOTAL_CHANGED))
    if attribution.get("agent_percentage") is not None:
        field = CHANGED_PERCENTAGE if is_later else PERCENTAGE
        subject.declare(*_swap(session.member("initial_attribution", "agent_percentage"), field))
    names = (*_CHANGED_PARTS, "total_lines_changed") if is_later else ("agent_lines", "total_committed")
    columns = {name: session.member("initial_attribution", name) for name in names}
    subject.component("attribution", 1, columns)


def _declare_usage(subject: Subject, metadata: Metadata, fields: Mapping[str, Field]) -> None:
    usage = members(metadata.value.get("token_usage"))
    is_measured = any(usage.get(name) != 0 for name in fields)
    for member, field in fields.items() if usage else ():
        place, value = metadata.member("token_usage", member)
        subject.declare(place, field, value if is_measured else None)


def _declare_length(subject: Subject, metadata: Metadata, member: str, field: Field) -> None:
    place, listed = metadata.member(member)
    if listed is not None:
        subject.declare(place, field, len(listed) if isinstance(listed, list) else listed)


def _add_call(subject: Subject, index: int, place: Place, call: Members) -> None:
    """Add a report that stands in a transcript, which another format has read."""
    where = {"path": call["path"], "file_sha256": call["file_sha256"], "line": call["line"]}
    written = {
        "input_tokens": "input_tokens",
        "cache_creation_tokens": "cache_creation_input_tokens",
        "cache_read_tokens": "cache_read_input_tokens",
        "output_tokens": "output_tokens",
    }
    columns = {
        column: (place._replace(pointer=f"{call['pointer']}/{member}"), call[column])
        for column, member in written.items()
    }
    columns["call_id"] = (place._replace(pointer="/message/id"), call["call_id"])
    subject.component("calls", index, columns, where)


def _commit_subject(out: Extraction, name: str, commits: Sequence[CommitFile]) -> Subject:
    subject = Subject(out, NAME, name, {row.place.file.path for row in commits})
    for index, row in enumerate(commits, 1):
        columns: dict[str, tuple[Place, Any]] = {
            "path": (row.place.below("/path"), row.path),
            "added": (row.place.below("/added"), row.added),
            "deleted": (row.place.below("/deleted"), row.deleted),
        }
        subject.component("commit_files", index, columns)
    return subject


def _swap(member: tuple[Place, Any], field: Field) -> tuple[Place, Field, Any]:
    place, value = member
    return place, field, value
