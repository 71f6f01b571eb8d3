"""Re-issuing policies and requirements where a rule no longer applies: the fifth step.

What belongs here: the changelog in the document itself, and recording the documents as they are issued. What does not:
editing the rules, which people do before. An edited document without a changelog is refused, and so is a changelog of a
document nobody edited: a rule that is retired and still stands unmarked is as dangerous as no rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.framework.incidents import SERVICE
from governance_pipeline.framework.kept_text import read_text, rewrite
from governance_pipeline.framework.markdown_table import as_read, table_rows, with_rows
from governance_pipeline.framework.rebaseline.declaring import DOCUMENTS, digests_of
from governance_pipeline.framework.rebaseline.protocol import Project, RebaselineCode, require_step, step_event, take
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.ledger.rebaselines import Step
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.excerpt import is_said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.ledger.event import NewEvent
    from governance_pipeline.ledger.rebaselines import Progress

CHANGELOGS: Final = {
    "policies": (
        ("Date", "Rule retired", "Why", "Approved by"),
        ("Fecha", "Regla retirada", "Por qué", "Quién lo aprobó"),
    ),
    "requirements": (
        ("Date", "What changed", "Why", "Approved by"),
        ("Fecha", "Qué cambió", "Por qué", "Quién lo aprobó"),
    ),
}
"""Headings of the changelog of each document, in either language."""


class Retired(NamedTuple):
    """One entry of a changelog: document (`policies`, `requirements`), rule, and why it applies no longer."""

    document: str
    rule: str
    why: str


def reissue(project: Project, retired: Sequence[Retired], why_nothing: str | None = None) -> Progress:
    """Write the changelogs and record policies and requirements as they are issued now.

    Who approves is who signed the declaration; the resumption is signed over this step too.

    Args:
        project: where.
        retired: what applies no longer; each goes into the changelog of its document.
        why_nothing: why no rule had to change, where none did.

    Raises:
        FrameworkRefused: the step may not be taken now; or a document was edited since the declaration without an
            entry, has an entry and was not edited, or nothing changed and nobody says why.
        UsageError: an entry is blank or names no document.
        FaultyFileError: a document has no table for its changelog.
    """
    progress = require_step(project, Step.REISSUE)
    _check_words(retired, why_nothing)
    named = {entry.document for entry in retired}
    _refuse_unexplained(_changed(project, progress), named, is_explained=why_nothing is not None)
    for document in sorted(named):
        _write_changelog(project, progress, document, [entry for entry in retired if entry.document == document])

    def events(current: Progress) -> list[NewEvent]:
        body: dict[str, Any] = {
            "documents": digests_of(project.folder),
            "retired": [{**entry._asdict(), "approved_by": _approvers(current)} for entry in retired],
            "why_nothing": why_nothing,
        }
        return [step_event(current, Step.REISSUE, body, SERVICE, project.clock())]

    return take(project, Step.REISSUE, events)


def require_issued(project: Project, progress: Progress) -> None:
    """Hold policies and requirements to the bytes that were issued.

    Raises:
        FrameworkRefused: REBASELINE_DOCUMENT_CHANGED.
    """
    said, here = progress.taken[Step.REISSUE].body["documents"], digests_of(project.folder)
    for name in DOCUMENTS:
        if said.get(name) != here[name]:
            message = f"{DOCUMENTS[name]} was edited after it was issued; run `govern rebaseline reissue` again"
            raise FrameworkRefused(RebaselineCode.DOCUMENT_CHANGED, message)


def _check_words(retired: Sequence[Retired], why_nothing: str | None) -> None:
    for entry in retired:
        if entry.document not in DOCUMENTS:
            raise UsageError(f"{entry.document!r} is no document; {' and '.join(DOCUMENTS)} are")
        if not is_said(entry.rule) or not is_said(entry.why):
            raise UsageError("an entry of a changelog names the rule and says why")
    if why_nothing is not None and (retired or not is_said(why_nothing)):
        raise UsageError("say why nothing changed, in words, or which rules are retired; not both")


def _refuse_unexplained(changed: set[str], named: set[str], *, is_explained: bool) -> None:
    for document in sorted(changed - named):
        message = f"{DOCUMENTS[document]} was edited since the declaration: say which rule it retires and why"
        raise FrameworkRefused(RebaselineCode.NO_CHANGELOG, message)
    for document in sorted(named - changed):
        message = f"{DOCUMENTS[document]} still holds what it held at the declaration: mark the rule in it first"
        raise FrameworkRefused(RebaselineCode.NO_CHANGELOG, message)
    if not named and not is_explained:
        message = "no rule changed; say why every one still applies, nobody having objected is no reason"
        raise FrameworkRefused(RebaselineCode.NO_CHANGELOG, message)


def _changed(project: Project, progress: Progress) -> set[str]:
    """Give the documents that are not what they were, entries this re-baseline wrote into their changelogs apart."""
    before = progress.declared.document["documents"]
    found = {name for name, sha256 in digests_of(project.folder).items() if before.get(name) != sha256}
    return {name for name in found if _without_entries(project, progress, name) != before.get(name)}


def _without_entries(project: Project, progress: Progress, name: str) -> str | None:
    """Give the digest a document has without the rows an earlier try of this step may have added to its changelog."""
    if digests_of(project.folder)[name] is None:
        return None
    text, own = read_text(project.folder, DOCUMENTS[name]), f"({progress.rebaseline_id})"
    lines = text.splitlines(keepends=True)
    return sha256_hex("".join(line for line in lines if not (line.startswith("|") and own in line)).encode())


def _write_changelog(project: Project, progress: Progress, document: str, retired: Sequence[Retired]) -> None:
    path, headings = DOCUMENTS[document], CHANGELOGS[document]
    day, who = progress.declared.document["declared_on"], f"{_approvers(progress)} ({progress.rebaseline_id})"
    wanted = [(str(day), entry.rule, entry.why, who) for entry in retired]

    def completed(text: str) -> str:
        there = {row.cells for row in table_rows(text, headings, path)}
        missing = [row for row in wanted if as_read(row) not in there]
        return with_rows(text, headings, missing, path) if missing else text

    rewrite(project.folder, project.ledger, path, f"document-{document}", completed)


def _approvers(progress: Progress) -> str:
    return ", ".join(progress.declared.people)
