"""What `govern gate` answers about delegations: what was recorded, what counts now, and the entries of a history.

What belongs here: delegations turned into plain values and into lines. What does not: printing, and any rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.gate.decision import TRUST_TIER
from governance_pipeline.gate.delegation import Act
from governance_pipeline.gate.delegations import counting, read_delegation
from governance_pipeline.gate.events import EventType
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.reasons import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from governance_pipeline.gate.events import History, Requested
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.ledger.event import Event
    from governance_pipeline.trust.root import TrustRoot

SCHEMA: Final = "govern/gate-delegation/v1"
_SHORT: Final = 16


def delegation_document(verifier: Verifier, event: Event) -> dict[str, Any]:
    """Give `govern/gate-delegation/v1`: what was recorded."""
    members = ("gate", "round_id", "request_id", "delegation_id", "delegator", "delegate", "expires", "withdraws")
    return {
        "schema": SCHEMA,
        "trust_tier": TRUST_TIER,
        "is_throwaway": verifier.root.is_throwaway,
        "seq": event.seq,
        "act": str(Act.DELEGATE if event.type == EventType.DELEGATED else Act.WITHDRAW),
        **{name: event.body[name] for name in members},
    }


def delegation_line(document: dict[str, Any]) -> str:
    """Give what was recorded, as a line."""
    where = f"{document['round_id']}  {document['request_id'][:16]}"
    if document["act"] == Act.WITHDRAW:
        return f"{where}  {document['delegator']} decides alone again; what {document['delegate']} decided is void"
    who = f"{document['delegate']} may decide in the place of {document['delegator']}"
    return f"{where}  {who} until {document['expires']}: --on-behalf-of {document['delegator']}"


def counting_delegations(
    request: Requested, verifier: Verifier, history: History, now: datetime
) -> list[dict[str, Any]]:
    """Give who may decide a request in whose place now, and until when."""
    actors = {*request.actors, request.requester}
    return [
        {
            "delegation_id": recorded.delegation_id,
            "delegator": said.delegator,
            "delegate": said.delegate,
            "expires": instant_text(said.expires),
        }
        for said, recorded in counting(request, verifier, history, now, actors)
    ]


def delegation_entries(history: History, round_id: str, root: TrustRoot) -> Iterator[dict[str, Any]]:
    """Give the delegations of one round and those taken back, as entries of `govern/gate-log/v1`.

    `signed_by` is empty for an envelope no principal of the root signed; delegator, delegate and reason are then null.
    """
    for recorded in history.delegations:
        if recorded.round_id != round_id:
            continue
        try:
            signers, said = read_delegation(recorded.envelope, root)
        except Refusal:
            signers, said = [], None
        yield {
            "seq": recorded.seq,
            "at": instant_text(recorded.ts),
            "type": str(EventType.DELEGATED if recorded.is_given else EventType.UNDELEGATED),
            "actor": recorded.actor,
            "request_id": recorded.request_id,
            "delegation_id": recorded.delegation_id,
            "signed_by": sorted({signer.principal.id for signer in signers}),
            "delegator": said and said.delegator,
            "delegate": said and said.delegate,
            "reason": said and said.reason,
            "expires": said and instant_text(said.expires),
        }


def delegation_words(entry: dict[str, Any]) -> str:
    """Give the words of one such entry."""
    if entry["delegator"] is None:
        return f"{entry['request_id'][:_SHORT]} a delegation signed by NOBODY"
    does = "lets" if entry["type"] == EventType.DELEGATED else "no longer lets"
    return f"{entry['request_id'][:_SHORT]} {entry['delegator']} {does} {entry['delegate']} decide in their place"
