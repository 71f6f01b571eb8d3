"""The relaunch of a red process after an interruption: what a person signs for, and using it once.

What belongs here: the proposal, asking about it, and passing the gate with it. What does not: what an interruption is
(`red_processes`) and the questions of the gate. The proposal names the record of what happened by its digest, so an
approval for one interruption is none for the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.framework.registry_history import project_id
from governance_pipeline.framework.registry_proposal import baseline_of
from governance_pipeline.gate.acting import ask, finish_act, pass_act, standing_of_act
from governance_pipeline.gate.gates import AUTHORITY
from governance_pipeline.gate.proposals import Proposal
from governance_pipeline.gate.states import OPEN_TO_DECIDE
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.framework.red_processes import Interruption
    from governance_pipeline.gate.passage import Verifier

KIND: Final = "relaunch_red_process"
"""Kind of the act in the manifest that is signed; the name stays for ever."""

_ASKABLE: Final = frozenset(
    {ReasonCode.MISSING, ReasonCode.DIGEST_MISMATCH, ReasonCode.EXPIRED, ReasonCode.SUPERSEDED, ReasonCode.REPLAYED}
)


def relaunch_proposal(folder: GovernedFolder, interruption: Interruption, agent: str) -> Proposal:
    """Make the proposal to relaunch a process after exactly this interruption.

    Raises:
        FileRefused, FaultyFileError: the state of the folder cannot be used.
    """
    action = {
        "project": project_id(folder),
        "kind": KIND,
        "process": interruption.process,
        "interrupted_run_id": interruption.run_id,
        "interrupted_state": str(interruption.state),
        "interrupted_reason": interruption.reason or "killed",
        "started_at": interruption.started_at,
        "record_sha256": interruption.record_sha256,
    }
    return Proposal(AUTHORITY.name, _subject(interruption.process), (agent,), baseline_of(folder), action)


def relaunch_approved(
    folder: GovernedFolder, verifier: Verifier, interruption: Interruption, agent: str, run_id: str, now: datetime
) -> None:
    """Use the approval of a relaunch, once; where nobody was asked, ask.

    Raises:
        Refusal: it is not approved, with the reason code and what to do.
        StorageError: the ledger or the lake could not be written.
    """
    proposal = relaunch_proposal(folder, interruption, agent)
    try:
        used = pass_act(proposal, verifier, run_id, now)
    except Refusal as refusal:
        if refusal.code not in _ASKABLE:
            raise
        standing = standing_of_act(proposal, verifier, now)
        is_waiting = standing is not None and standing.state in OPEN_TO_DECIDE
        request = standing.request if is_waiting and standing is not None else ask(proposal, verifier, now)
        said = (
            f"the relaunch of {interruption.process} after {interruption.run_id} awaits a decision; look at what "
            f"happened, then `govern gate approve {request.request_id[:16]}`, then run the same command again"
        )
        raise Refusal(refusal.code, said) from None
    for act in used:
        finish_act(act, verifier, interruption.record_sha256, now)


def _subject(process: str) -> str:
    name = f"relaunch-{process}"
    return name if is_round_id(name) else f"relaunch-{sha256_hex(process.encode())[:16]}"
