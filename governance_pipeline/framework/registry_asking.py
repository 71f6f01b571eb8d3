"""Carrying out a change of a registered asset, or asking a person about it where nobody was asked.

What belongs here: when a refusal is a reason to ask. What does not: the change (`registry_changes`) and the gate.
Somebody who comes with other bytes than those that are asked about does not push that request aside without a word:
they are refused, and ask only when they say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.framework.registry_changes import Done, held, require_recorded, supersede
from governance_pipeline.framework.registry_proposal import proposal_of
from governance_pipeline.gate.acting import ask, standing_of_act
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.gates import REGISTRY
from governance_pipeline.gate.states import State, standing_of
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.framework.registry_proposal import Wanted
    from governance_pipeline.gate.events import Requested
    from governance_pipeline.gate.passage import Verifier

_ASKABLE: Final = frozenset(
    {
        ReasonCode.MISSING,
        ReasonCode.DIGEST_MISMATCH,
        ReasonCode.SUPERSEDED,
        ReasonCode.REPLAYED,
        ReasonCode.EXPIRED,
        ReasonCode.POLICY_MISMATCH,
    }
)
"""Refusals that a new decision may change; any other has a reason that asking does not take away."""
_OVER: Final = frozenset({State.CONSUMED, State.EXPIRED, State.STALE, State.REJECTED, State.REVOKED})
"""States of a request that no longer wait for anything, so that other bytes may be asked about."""


def carry_out_or_ask(
    folder: GovernedFolder, verifier: Verifier, wanted: Wanted, now: datetime, *, asks: bool = False
) -> Done:
    """Carry out a change that is approved; else ask about it, and say which command approves it.

    Args:
        folder: the governed folder.
        verifier: what is trusted.
        wanted: the change.
        now: the time.
        asks: ask even where a request about other bytes of the asset still waits; it is superseded then.

    Raises:
        Refusal: it is not approved for these bytes, with the reason code and what to do.
        FrameworkRefused, StorageError, UnreadableError: as `registry_changes.supersede`.
    """
    try:
        return supersede(folder, verifier, wanted, now=now)
    except Refusal as refusal:
        if refusal.code not in _ASKABLE or not _may_ask(folder, verifier, wanted, now, asks=asks):
            raise
        request = _asked(folder, verifier, wanted, now)
        message = f"it awaits a decision: govern gate approve {request.request_id} --lake {verifier.lake.root}"
        raise Refusal(ReasonCode.MISSING, f"{message} --key FILE; then run this command again") from refusal


def _may_ask(folder: GovernedFolder, verifier: Verifier, wanted: Wanted, now: datetime, *, asks: bool) -> bool:
    """Tell whether to ask: nobody was asked about this act, and no other one of the asset waits."""
    standing = standing_of_act(proposal_of(folder, verifier.lake, wanted), verifier, now)
    if standing is not None:
        return standing.state in (State.PENDING, State.EXPIRED, State.CONSUMED)
    history = read_history(verifier.ledger)
    newest = history.in_force(REGISTRY.name, wanted.name)
    return asks or newest is None or standing_of(newest, verifier, history, now).state in _OVER


def _asked(folder: GovernedFolder, verifier: Verifier, wanted: Wanted, now: datetime) -> Requested:
    with held(folder, verifier, f"registry supersede {wanted.name}", now):
        require_recorded(folder, verifier)
        return ask(proposal_of(folder, verifier.lake, wanted), verifier, now)
