"""Patches of Codex: the text given to `apply_patch`, and the changes reported as applied.

What belongs here: which files a patch changes and by how many lines. What does not: whether it was applied. The
patch text has one section per file (`*** Add File:`, `*** Update File:` with `*** Move to:`, `*** Delete File:`);
an update has hunks of lines that begin with a blank, `+` or `-` and carry no lengths. Source: the grammar in codex
`codex-rs/apply-patch`. How many lines a deleted file had is not in the text, but in the report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.change_facts.edit import Edit, removed, signed, written
from governance_pipeline.ingest.formats.edits import (
    UNKNOWN,
    FileDelta,
    LineCounts,
    created,
    hunk_lines,
    lines_of,
    patch_files,
)
from governance_pipeline.ingest.formats.runs import Change
from governance_pipeline.ingest.formats.values import members, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    Members = Mapping[str, Any]

_BEGIN: Final = "*** Begin Patch"
_END: Final = "*** End Patch"
_SECTIONS: Final = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")
_MOVE: Final = "*** Move to: "
_MARKS: Final = ("@@", "*** End of File")


def patch_changes(patch: str, tool: str | None) -> list[Change]:
    """Read the text of a patch; nothing when it is not one, whole."""
    lines = patch.strip().replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _BEGIN or lines[-1].rstrip() != _END:
        return []
    sections: list[tuple[str, str, list[str]]] = []
    for line in lines[1:-1]:
        head = next((mark for mark in _SECTIONS if line.startswith(mark)), None)
        if head is not None:
            sections.append((head, line.removeprefix(head).strip(), []))
        elif sections:
            sections[-1][2].append(line)
    return [
        Change(_target(path, body), _counts(head, body), tool, edit=_edit(head, path, body))
        for head, path, body in sections
        if path
    ]


def applied_files(changes: Members, tool: str | None) -> list[Change]:
    """Read what was reported as applied: by path, an added or deleted content, or a unified diff."""
    found = []
    for path, reported in changes.items():
        change = members(reported)
        target = text(change.get("move_path")) or path
        found.append(Change(target, _applied(change), tool, edit=_applied_edit(change, path)))
    return [change for change in found if change.file_path]


def _target(path: str, body: list[str]) -> str:
    moved = [line.removeprefix(_MOVE).strip() for line in body[:1] if line.startswith(_MOVE)]
    return moved[0] if moved and moved[0] else path


def _counts(head: str, body: list[str]) -> LineCounts:
    if head == _SECTIONS[0]:
        return LineCounts(sum(line.startswith("+") for line in body), 0)
    if head == _SECTIONS[2]:
        return LineCounts(0, None)
    lines = [line for line in body if not line.startswith((_MOVE, *_MARKS))]
    return hunk_lines(lines) if all(line[:1] in ("", " ", "+", "-") for line in lines) else UNKNOWN


def _edit(head: str, path: str, body: list[str]) -> Edit | None:
    if head == _SECTIONS[0]:
        return written("".join(f"{line[1:]}\n" for line in body if line.startswith("+")), is_created=True)
    if head == _SECTIONS[2]:
        return removed()
    if not all(line[:1] in ("", " ", "+", "-") for line in body if not line.startswith((_MOVE, *_MARKS))):
        return None
    hunks: list[tuple[str, list[str]]] = [("", [])]
    for line in body:
        if line.startswith("@@"):
            hunks.append((line.removeprefix("@@").strip(), []))
        elif not line.startswith((_MOVE, *_MARKS)):
            hunks[-1][1].append(line)
    parts = tuple(signed(lines, context) for context, lines in hunks if lines)
    return Edit(parts=parts, before_path=path if _target(path, body) != path else None)


def _applied_edit(change: Members, path: str) -> Edit | None:
    kind, content, diff = change.get("type"), change.get("content"), change.get("unified_diff")
    moved_from = path if text(change.get("move_path")) else None
    if kind == "add" and isinstance(content, str):
        return written(content, is_created=True)
    if kind == "delete" and isinstance(content, str):
        return removed(content)
    if not isinstance(diff, str):
        return None
    files = _diff_files(diff) if diff else []
    parts = () if len(files) != 1 or files[0].edit is None else files[0].edit.parts
    return Edit(parts=parts, before_path=moved_from) if parts or not diff else None


def _diff_files(diff: str) -> list[FileDelta]:
    has_header = diff.startswith(("--- ", "diff --git "))
    return patch_files(diff if has_header else f"--- a/x\n+++ b/x\n{diff}")


def _applied(change: Members) -> LineCounts:
    kind, content, diff = change.get("type"), change.get("content"), change.get("unified_diff")
    if kind == "add" and isinstance(content, str):
        return created(content)
    if kind == "delete" and isinstance(content, str):
        return LineCounts(0, len(lines_of(content)))
    if not isinstance(diff, str):
        return UNKNOWN
    if not diff:
        return LineCounts(0, 0)  # moved as it was
    files = _diff_files(diff)
    return files[0].counts if len(files) == 1 and "@@ " in diff else UNKNOWN
