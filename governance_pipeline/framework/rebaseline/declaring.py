"""Declaring a re-baseline and freezing what is critical: the first two steps.

What belongs here: the signed declaration and the freeze. What does not: what the freeze closes (`frozen`, and every
gate). The declaration holds the digests of policies and requirements as they were, so that the re-issue later knows
what changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import UsageError
from governance_pipeline.framework import folder as places
from governance_pipeline.framework.documents import CURRENT_STATE, read_document
from governance_pipeline.framework.incidents import SERVICE
from governance_pipeline.framework.rebaseline.files import keep_in_step
from governance_pipeline.framework.rebaseline.protocol import Project, RebaselineCode, progress_now, step_event, take
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.registry_history import project_id
from governance_pipeline.ledger.event import NewEvent
from governance_pipeline.ledger.rebaselines import EVENT_OF, Progress, Step, baseline_in_force, read_rebaselines
from governance_pipeline.strict.excerpt import is_said
from governance_pipeline.strict.files import FileRefused, digest_file
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.rebaseline_statement import (
    DECLARATION_SCHEMA,
    rebaseline_id,
    sign_declaration,
    stated_declaration,
)

if TYPE_CHECKING:
    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.trust.keys import Signer

DOCUMENTS: Final = {"policies": places.POLICIES, "requirements": places.REQUIREMENTS}
"""Documents whose change invalidates an assumption, by their name in events."""
SCOPE_CHARACTERS: Final = 4000


def declare(project: Project, scope_change: str, signer: Signer) -> Progress:
    """Sign and record that an assumption no longer holds; gives the re-baseline that is open now.

    Raises:
        FrameworkRefused: one is open already.
        Refusal: the signature would not count.
        UsageError: the change is not said in words.
    """
    keep_in_step(project.folder, project.ledger, project.root, project.clock())
    before = progress_now(project)
    if before is not None:
        message = f"{before.rebaseline_id} is open; end it first, `govern rebaseline status` says what is left"
        raise FrameworkRefused(RebaselineCode.OPEN, message)
    if not is_said(scope_change) or len(scope_change) > SCOPE_CHARACTERS:
        raise UsageError(f"say what changes in the scope, in at most {SCOPE_CHARACTERS} characters")
    now = project.clock()
    document = _declaration(project, scope_change)
    name, envelope = rebaseline_id(document), sign_declaration(document, signer)
    people = stated_declaration(envelope, name, project.root, now, now).people
    body = {"rebaseline_id": name, "scope_change": scope_change, "envelope": envelope.decode()}
    project.ledger.append_all([NewEvent(EVENT_OF[Step.DECLARE], people[0], body, now)])
    keep_in_step(project.folder, project.ledger, project.root, project.clock())
    opened = progress_now(project)
    assert opened is not None  # it was verified before it was recorded
    return opened


def freeze(project: Project) -> Progress:
    """Freeze every gate, critical run and canonical write until the re-baseline ends.

    Raises:
        FrameworkRefused: nothing is declared, or it is frozen.
    """

    def events(progress: Progress) -> list[NewEvent]:
        reason = f"re-baseline {progress.rebaseline_id}: {progress.declared.document['scope_change']}"
        body = {"round_id": None, "reason": reason}
        return [step_event(progress, Step.FREEZE, body, SERVICE, project.clock())]

    return take(project, Step.FREEZE, events)


def digests_of(folder: GovernedFolder) -> dict[str, str | None]:
    """Give the digests of policies and requirements; None for one that is not there."""
    return {name: _digest(folder, path) for name, path in DOCUMENTS.items()}


def baseline_version(project: Project) -> str:
    """Give the version in force: that of the last re-baseline, else the one the folder started with."""
    baseline = baseline_in_force(read_rebaselines(project.ledger), project.root, project.clock())
    if baseline is not None:
        return baseline.version
    return str(read_document(project.folder, places.STATE, CURRENT_STATE)["baseline_version"])


def _declaration(project: Project, scope_change: str) -> dict[str, Any]:
    now = project.clock()
    return {
        "schema": DECLARATION_SCHEMA,
        "project": project_id(project.folder),
        "declared_on": f"{now:%Y-%m-%d}",
        "scope_change": scope_change,
        "from_baseline": baseline_version(project),
        "documents": digests_of(project.folder),
        "signed_at": instant_text(now),
    }


def _digest(folder: GovernedFolder, path: str) -> str | None:
    try:
        return digest_file(folder.path(path)).sha256
    except FileRefused as refused:
        if refused.code == "not_found":
            return None
        raise
