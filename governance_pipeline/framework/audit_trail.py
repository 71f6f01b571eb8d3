"""The audit trail of a governed folder: one entry per tool execution, read strictly.

What belongs here: the members of an entry, and computing its output hash anew. What does not: who confirmed it
(`trail_checks`) and the lineage of its runs (`trail_lineage`). No line is lost: entries, broken lines and blank ones
add up to the lines of the file. A hash that cannot be computed anew is said to be so, never taken as right.
Source: spec/framework.md §6.
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import RecordRefused
from governance_pipeline.framework.folder import AUDIT_TRAIL
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import FileRefused, digest_file, open_regular
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.limits import LIMITS
from governance_pipeline.strict.lines import split_lines
from governance_pipeline.trust.instants import instant_of

if TYPE_CHECKING:
    from governance_pipeline.framework.folder import GovernedFolder

MEMBERS: Final = (
    "timestamp", "agent_id", "run_id", "input_hash", "tool_called", "output_result", "output_hash", "token_cost",
    "self_reported_status", "independently_verified", "verification_method",
)  # fmt: skip
"""What every entry has; others are ignored."""
_TEXTS: Final = ("timestamp", "agent_id", "run_id", "tool_called")
_TEXTS_OR_NULL: Final = ("input_hash", "output_result", "output_hash", "self_reported_status", "verification_method")
_SHA256: Final = re.compile(r"(?:sha256:)?([0-9a-f]{64})", re.ASCII | re.IGNORECASE)
_ESCAPED: Final = re.compile(rb"\\x([0-9a-f]{2})")
_REFERENCE_CHARACTERS: Final = 1000


class HashState(StrEnum):
    """Whether the output hash of an entry is that of its output."""

    MATCH = "match"
    MISMATCH = "mismatch"
    UNVERIFIABLE = "unverifiable"


class Entry(NamedTuple):
    """One entry: its line, the digest of it, its members, and what computing its output hash anew gave.

    `computed` is None where nothing could be hashed; `reason` says why then: no_hash, not_a_sha256, no_output,
    output_not_there.
    """

    line: int
    sha256: str
    members: dict[str, Any]
    state: HashState
    computed: str | None
    reason: str | None

    @property
    def name(self) -> str:
        """Short name: the beginning of its digest."""
        return self.sha256[:16]

    @property
    def claims_verification(self) -> bool:
        """Whether the entry calls itself independently verified."""
        return self.members["independently_verified"] is True


class BrokenLine(NamedTuple):
    """A line that is no entry: number, code and why."""

    line: int
    code: str
    message: str


class Trail(NamedTuple):
    """A whole trail: lines = entries + broken + blank."""

    lines: int
    entries: list[Entry]
    broken: list[BrokenLine]
    blank: int


def read_trail(folder: GovernedFolder) -> Trail:
    """Read the audit trail of a folder; one that is not there has no line.

    Raises:
        FileRefused: it is no regular file.
    """
    trail = Trail(0, [], [], 0)
    try:
        stream = open_regular(folder.path(AUDIT_TRAIL))
    except FileRefused as refused:
        if refused.code == "not_found":
            return trail
        raise
    lines = blank = 0
    with stream:
        for line in split_lines(stream, LIMITS.line_bytes):
            lines += 1
            if not line.data.strip():
                blank += 1
                continue
            try:
                if line.too_long:
                    raise RecordRefused("line_too_long", 0, f"more than {LIMITS.line_bytes} bytes")  # noqa: TRY301
                trail.entries.append(_entry(folder, line.number, line.data))
            except RecordRefused as refused:
                trail.broken.append(BrokenLine(line.number, refused.code, excerpt(str(refused), 200)))
    return trail._replace(lines=lines, blank=blank)


def _entry(folder: GovernedFolder, number: int, data: bytes) -> Entry:
    members = parse_json(data)
    if not isinstance(members, dict):
        raise RecordRefused("not_an_object", 0, "an entry is one JSON object")
    fault = _fault(members)
    if fault is not None:
        raise RecordRefused("not_an_entry", 0, fault)
    return Entry(number, sha256_hex(data), members, *_hashed(folder, members))


def _fault(members: dict[str, Any]) -> str | None:
    missing = [name for name in MEMBERS if name not in members]
    if missing:
        return f"{', '.join(missing)} missing"
    wrong = [name for name in _TEXTS if not _is_text(members[name]) or not members[name]]
    wrong += [name for name in _TEXTS_OR_NULL if members[name] is not None and not _is_text(members[name])]
    if type(members["independently_verified"]) is not bool:
        wrong.append("independently_verified")
    cost = members["token_cost"]
    if cost is not None and (isinstance(cost, bool) or not isinstance(cost, int | Lexeme)):
        wrong.append("token_cost")
    if wrong:
        return f"{', '.join(wrong)} of the wrong type"
    try:
        instant_of(members["timestamp"])
    except ValueError as error:
        return f"timestamp: {error}"
    return None


def _hashed(folder: GovernedFolder, members: dict[str, Any]) -> tuple[HashState, str | None, str | None]:
    """Compute the output hash anew: of the file the result names, else of the text itself."""
    declared, result = members["output_hash"], members["output_result"]
    if declared is None:
        return HashState.UNVERIFIABLE, None, "no_hash"
    match = _SHA256.fullmatch(declared)
    if match is None:
        return HashState.UNVERIFIABLE, None, "not_a_sha256"
    if result is None:
        return HashState.UNVERIFIABLE, None, "no_output"
    wanted = match[1].lower()
    found = [*_digests_of_text(result), *_digest_of_file(folder, result)]
    if wanted in found:
        return HashState.MATCH, wanted, None
    if _is_reference(result) and len(found) == 1:
        return HashState.UNVERIFIABLE, None, "output_not_there"
    return HashState.MISMATCH, found[-1], None


def _digests_of_text(text: str) -> list[str]:
    r"""Give the digest of a text, and that of the bytes it may stand for where some are written as ``\xNN``."""
    data = text.encode("utf-8", "surrogatepass")
    undone = _ESCAPED.sub(lambda escaped: bytes.fromhex(escaped[1].decode()), data)
    return [sha256_hex(data)] if undone == data else [sha256_hex(undone), sha256_hex(data)]


def _digest_of_file(folder: GovernedFolder, result: str) -> list[str]:
    if not _is_reference(result):
        return []
    try:
        return [digest_file(folder.path(result)).sha256]
    except FileRefused:
        return []


def _is_reference(result: str) -> bool:
    """Tell whether a result can name a file below the folder: one relative path on one line, with a folder in it."""
    path = PurePosixPath(result)
    is_short = 0 < len(result) <= _REFERENCE_CHARACTERS and result.isprintable() and " " not in result
    return is_short and "/" in result and not path.is_absolute() and ".." not in path.parts


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, Lexeme)
