"""Deciding on several requests, each by itself.

What belongs here: one result per request, whatever becomes of the others. What does not: a way to decide on "all": ids
are named one by one (research/hitl.md, design).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import StorageError
from governance_pipeline.gate.answers import result
from governance_pipeline.gate.deciding import decide
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.shown import request_of
from governance_pipeline.gate.states import standing_of
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.reasons import ReasonCode, Refusal

QUIET: Final = timedelta(days=7)
"""A ledger that was quiet for longer is rare enough to ask whether the clock is right."""

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from governance_pipeline.gate.decision import Verb
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.keys import Signer


def clock_warning(ledger: Ledger, now: datetime) -> str | None:
    """Say that the clock may be wrong: it is far ahead of the last event of the ledger; None when it is not."""
    last = max((event.ts for event in ledger.events(after=ledger.size() - 1)), default=now)
    if now - last <= QUIET:
        return None
    return (
        f"the clock says {instant_text(now)}, {(now - last).days} days after the last event of the ledger; if it is "
        "wrong, set it, for what is approved by it is refused as CLOCK_SUSPECT until that time has come"
    )


def decide_each(
    verifier: Verifier,
    requests: Sequence[str],
    verb: Verb,
    reason: str,
    signer: Signer,
    *,
    confirmed: Callable[[str], str | None],
    clock: Callable[[], datetime],
    nonces: Callable[[], str],
    on_behalf_of: str | None = None,
) -> list[dict[str, Any]]:
    """Decide on each request; one that is refused stops none of the others, a wrong id stops all before the first.

    Args:
        verifier: what is trusted.
        requests: ids, or beginnings of ids.
        verb: what is decided.
        reason: why.
        signer: key of the person.
        confirmed: shows a request by its id and gives the digest of the text that was read (None: nothing is shown);
            raises a refusal when the person did not confirm it.
        clock: gives the time.
        nonces: gives 32 hex digits nobody has used before.
        on_behalf_of: principal in whose place the signer decides.

    Returns:
        One entry of `govern/gate-results/v1` per request, in order; code None only where the gate is open now.

    Raises:
        UsageError: an id names no request, or the reason cannot be signed.
    """
    history = read_history(verifier.ledger, is_strict=False)
    named = dict.fromkeys(request_of(history, request).request_id for request in requests)
    return [_one(verifier, request, verb, reason, signer, confirmed, clock, nonces, on_behalf_of) for request in named]


def _one(
    verifier: Verifier,
    request_id: str,
    verb: Verb,
    reason: str,
    signer: Signer,
    confirmed: Callable[[str], str | None],
    clock: Callable[[], datetime],
    nonces: Callable[[], str],
    on_behalf_of: str | None,
) -> dict[str, Any]:
    refusal, decision_id = None, None
    try:
        seen = confirmed(request_id)
        event = decide(
            verifier, request_id, verb, reason, signer,
            now=clock(), nonce=nonces(), seen_sha256=seen, on_behalf_of=on_behalf_of,
        )  # fmt: skip
        decision_id = str(event.body["decision_id"])
    except Refusal as error:
        refusal = error
    except StorageError as error:
        refusal = Refusal(ReasonCode.DIGEST_MISMATCH, str(error))
    history = read_history(verifier.ledger, is_strict=False)
    standing = standing_of(request_of(history, request_id), verifier, history, clock())
    return result(request_id, str(verb), decision_id, standing, refusal)
