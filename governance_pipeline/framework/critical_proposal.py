"""What a person signs before a critical action, and whether somebody has.

What belongs here: the proposal of each entry of the critical list, made from the bytes at hand, and the approval that
covers it. What does not: which actions are critical (`critical_actions`) and the answer (`authorize`). A write to a
registered asset is approved as a change of the registry, reprocessing as `reprocessing` proposes it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.framework.classification_rules import require_validated
from governance_pipeline.framework.critical_actions import Evidence
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.registry_files import digest_of
from governance_pipeline.framework.registry_history import project_id
from governance_pipeline.framework.registry_proposal import baseline_of
from governance_pipeline.framework.reprocessing import reprocessing_proposal
from governance_pipeline.gate.acting import acts, ask, check_act, finish_act, pass_act, standing_of_act
from governance_pipeline.gate.gates import AUTHORITY, REGISTRY
from governance_pipeline.gate.proposals import Proposal, kept_proposal
from governance_pipeline.gate.states import State
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.files import digest_file
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.framework.critical_actions import Critical
    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.framework.registry import Asset
    from governance_pipeline.gate.events import Requested
    from governance_pipeline.gate.passage import Passage, Verifier

NO_REASON: Final = "none was given"


class AuthorityCode(StrEnum):
    """Why a critical action is refused before a person is asked; codes never change their meaning."""

    NO_SUCH_SCOPE = "NO_SUCH_SCOPE"
    REGISTRY_DECIDES = "REGISTRY_DECIDES"


class Approval(NamedTuple):
    """Who has approved, and by which decisions."""

    approvers: tuple[str, ...]
    decision_ids: tuple[str, ...]


class Asked(NamedTuple):
    """A critical action somebody wants to do, with the registered asset it is about, if it is one."""

    action: str
    entry: Critical
    agent: str
    scope: str | None
    asset: Asset | None
    backup: Path | None
    why: str | None

    def is_harmless(self, folder: GovernedFolder | None, verifier: Verifier | None) -> bool:
        """Tell whether what makes the action critical is not so here, so that the allow-list decides.

        What would be overwritten lies in a backup, byte for byte; a rule was used before with a person's approval.
        """
        if folder is None or self.scope is None:
            return False
        there = folder.path(self.scope)
        if self.entry.evidence is Evidence.BACKUP and self.backup is not None:
            kept = digest_of(self.backup)
            return kept is not None and kept == digest_of(there) and not _is_one_file(there, self.backup)
        if self.entry.evidence is Evidence.RULE and verifier is not None:
            sha256 = digest_of(there)
            return sha256 is not None and any(a.action.get("rule_sha256") == sha256 for a in acts(AUTHORITY, verifier))
        return False


def approved_by(
    asked: Asked, folder: GovernedFolder | None, verifier: Verifier, now: datetime, tables: Sequence[str]
) -> Approval:
    """Give the approval that covers a critical action as things are; nothing is used.

    Raises:
        Refusal: there is none that counts, with the reason code.
        FrameworkRefused: the action cannot be asked about.
        UsageError: a scope is needed.
    """
    return _approval(check_act(_proposal(asked, folder, verifier, now, tables), verifier, now))


def hand_over(
    asked: Asked, folder: GovernedFolder | None, verifier: Verifier, now: datetime, tables: Sequence[str], run_id: str
) -> Approval:
    """Use the approval of a critical action for one run, which may ask again; no other run can use it.

    That of reprocessing is for every run of the backfill and is not used up, and a write to a registered asset uses its
    approval when it is carried out.

    Raises:
        As `approved_by`; Refusal REPLAYED when another run has used it.
    """
    if asked.entry.evidence in (Evidence.CORPUS, Evidence.REGISTRY):
        return approved_by(asked, folder, verifier, now, tables)
    proposal = _proposal(asked, folder, verifier, now, tables)
    before = [a for a in acts(AUTHORITY, verifier) if a.subject_id == proposal.subject_id and a.run_id == run_id]
    used = [a for a in before if a.action == proposal.action]
    if used:
        _refuse_closed(proposal, verifier, now)
    else:
        used = pass_act(proposal, verifier, run_id, now)
    for act in used:
        finish_act(act, verifier, proposal.sha256, now)
    return Approval(
        tuple(sorted({name for act in used for name in act.approvers})), tuple(sorted({a.decision_id for a in used}))
    )


def ask_for(
    asked: Asked, folder: GovernedFolder | None, verifier: Verifier, now: datetime, tables: Sequence[str]
) -> Requested:
    """Ask a person about a critical action, with everything the answer depends on.

    Raises:
        FrameworkRefused: REGISTRY_DECIDES, a write to a registered asset is asked about with the bytes that come.
        Refusal, StorageError: as `gate.acting.ask`.
    """
    if asked.entry.evidence is Evidence.REGISTRY:
        raise FrameworkRefused(
            AuthorityCode.REGISTRY_DECIDES,
            f"{asked.scope!r} is a registered asset: `govern registry supersede` asks about the bytes that come",
        )
    return ask(_new_proposal(asked, folder, verifier, now, tables), verifier, now)


def _refuse_closed(proposal: Proposal, verifier: Verifier, now: datetime) -> None:
    """REVOKED: the run has its approval already, and a person has taken it back since."""
    standing = standing_of_act(proposal, verifier, now)
    if standing is not None and standing.state in (State.REJECTED, State.REVOKED):
        raise Refusal(ReasonCode.REVOKED, standing.message or "it was taken back")


def subject_of(action: str, scope: str | None) -> str:
    """Name what a request is about: the action, and its scope by a digest."""
    if scope is None:
        return action
    return f"{action[:60]}-{sha256_hex(scope.encode())[:16]}"


def _approval(passage: Passage) -> Approval:
    people = {signer.principal.id for offer in passage.offers for signer in offer.signers}
    decisions = {offer.read.payload_sha256 for offer in passage.offers}
    return Approval(tuple(sorted(people)), tuple(sorted(decisions)))


def _proposal(
    asked: Asked, folder: GovernedFolder | None, verifier: Verifier, now: datetime, tables: Sequence[str]
) -> Proposal:
    """Make the proposal as things are now; the reason is that of the proposal in hand, whoever asks now."""
    if asked.entry.evidence is Evidence.REGISTRY:
        return kept_registry_proposal(asked, verifier)
    made = _new_proposal(asked, folder, verifier, now, tables)
    try:
        kept = kept_proposal(verifier.lake, AUTHORITY, made.subject_id)
    except StorageError:
        return made
    return Proposal(
        made.gate, made.subject_id, made.producers, made.baseline_version,
        {**made.action, "reason": kept.action.get("reason")},
    )  # fmt: skip


def kept_registry_proposal(asked: Asked, verifier: Verifier) -> Proposal:
    """Give the change of the registry that is asked about; whether its bytes are those is asked when it is made.

    Raises:
        FrameworkRefused: REGISTRY_DECIDES, there is none.
    """
    name = asked.asset.name if asked.asset is not None else asked.scope or ""
    try:
        found = kept_proposal(verifier.lake, REGISTRY, name)
    except StorageError:
        message = f"nobody was asked about a change of {name!r}; `govern registry supersede` does"
        raise FrameworkRefused(AuthorityCode.REGISTRY_DECIDES, message) from None
    if asked.asset is None or found.action.get("from_sha256") != asked.asset.last_verified_hash:
        message = f"what was asked about {name!r} is not about the bytes that are in force; ask again"
        raise FrameworkRefused(AuthorityCode.REGISTRY_DECIDES, message)
    return found


def _new_proposal(
    asked: Asked, folder: GovernedFolder | None, verifier: Verifier, now: datetime, tables: Sequence[str]
) -> Proposal:
    why = asked.why or NO_REASON
    if asked.entry.evidence is Evidence.CORPUS:
        return reprocessing_proposal(verifier.lake, tables, asked.agent, why)
    if folder is None:
        raise UsageError("name the governed folder with --project; only the corpus of a lake goes without one")
    if asked.scope is None and asked.entry.needs_scope:
        raise UsageError(f"{asked.action} needs --scope: on what exactly")
    action: dict[str, Any] = {
        "project": project_id(folder),
        "action": asked.action,
        "critical": asked.entry.name,
        "scope": asked.scope,
        "reason": why,
        **_facts(asked, folder, verifier, now),
    }
    return Proposal(AUTHORITY.name, subject_of(asked.action, asked.scope), (asked.agent,), baseline_of(folder), action)


def _facts(asked: Asked, folder: GovernedFolder, verifier: Verifier, now: datetime) -> dict[str, Any]:
    """Give what is true of the bytes at hand, so that an approval fits no others."""
    if asked.scope is None or asked.entry.evidence is Evidence.NONE:
        return {}
    place = folder.path(asked.scope)
    if asked.entry.evidence is Evidence.RULE:
        return _rule_facts(asked.scope, place, verifier, now)
    sha256 = digest_of(place)
    if sha256 is None and place.exists():
        return {"scope_kind": "folder"}
    return {"scope_kind": "file" if sha256 else "nothing", "scope_sha256": sha256}


def _rule_facts(scope: str, place: Path, verifier: Verifier, now: datetime) -> dict[str, Any]:
    """Give the audit of a classification rule; without one there is nothing to approve."""
    if not place.is_file():
        message = f"there is no rule {scope!r} below the project; the scope of this action is the file of the rule"
        raise FrameworkRefused(AuthorityCode.NO_SUCH_SCOPE, message)
    name = place.stem if is_round_id(place.stem) else scope
    audit = require_validated(verifier.ledger, verifier.root, name, place, now)
    return {
        "rule_id": audit.rule_id,
        "rule_sha256": digest_file(place).sha256,
        "sample_sha256": audit.sample_sha256,
        "sample_size": audit.sample_size,
        "sample_errors": audit.errors,
    }


def _is_one_file(there: Path, backup: Path) -> bool:
    """Tell whether two names lead to the same bytes on disk: a hard link is overwritten with what it points to."""
    try:
        return there.samefile(backup)
    except OSError:  # one of them is gone since it was hashed, so it backs up nothing
        return True
