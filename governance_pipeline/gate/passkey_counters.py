"""The sign counters of passkeys: one that does not grow says that two authenticators may hold one key.

What belongs here: the counter of an assertion against those of decisions recorded before it (WebAuthn Level 2, 7.2 step
21). What does not: whether the assertion is sound (`trust.passkeys`). Asked when a decision is recorded; whoever writes
into the ledger around that holds the key in any case, and can count as they like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.trust import dsse
from governance_pipeline.trust.passkeys import parse_assertion
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from governance_pipeline.gate.events import History
    from governance_pipeline.gate.passage import Offer


def check_counters(offer: Offer, history: History) -> None:
    """Hold the counters of a decision that is to be recorded to the last ones of the same passkeys.

    A counter of zero means that the authenticator keeps none; it is refused only after one that was kept.

    Raises:
        Refusal: BAD_SIGNATURE, a counter is not above the last.
    """
    credentials = {signer.key.passkey.credential_id for signer in offer.signers if signer.key.passkey is not None}
    if not credentials:
        return
    made = _counters(offer.read.signatures, credentials)
    before: dict[bytes, int] = {}
    for recorded in history.decisions:
        if recorded.decision_id == offer.read.payload_sha256:  # this very decision, looked at again
            continue
        try:
            signatures = dsse.parse_envelope(recorded.envelope).signatures
        except Refusal:
            continue
        for credential, counter in _counters(signatures, credentials).items():
            before[credential] = max(counter, before.get(credential, 0))
    for credential, counter in made.items():
        last = before.get(credential, 0)
        if last and counter <= last:
            said = f"its authenticator has counted to {counter}, and to {last} before: two may hold one key"
            raise Refusal(ReasonCode.BAD_SIGNATURE, f"{said}; revoke this passkey and make another")


def _counters(signatures: Iterable[dsse.Signature], credentials: set[bytes]) -> dict[bytes, int]:
    read = (parse_assertion(signature.sig) for signature in signatures)
    return {found.credential_id: found.counter for found in read if found and found.credential_id in credentials}
