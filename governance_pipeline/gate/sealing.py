"""Sealing what is recorded: a checkpoint of the log behind what people sign, and the head this verifier remembers.

What belongs here: when the key of the log is needed, and what a machine without it may still do. What does not: the
form of a checkpoint (`ledger.checkpoint`) and asking for it (`log_steps`).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from governance_pipeline.errors import GovernError, UsageError
from governance_pipeline.ledger.checkpoint import CHECKPOINT, log_signer, signed_checkpoint
from governance_pipeline.ledger.event import NewEvent
from governance_pipeline.ledger.log_principal import LOG_ID
from governance_pipeline.ledger.remembered import remember_head

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.ledger.head import Head
    from governance_pipeline.trust.keys import Signer

_LOGGER = logging.getLogger(__name__)


def seal_of(verifier: Verifier, now: datetime, *, is_opening: bool) -> Callable[[Head], NewEvent] | None:
    """Give what seals a decision; None where the log has no key.

    What closes a gate is recorded on a machine without the key as well, unsealed: nothing may keep a person from it.
    So is a resolution, delegation or calibration, which opens nothing by itself; an approval resting on it is sealed.

    Raises:
        UsageError: the decision opens, and the key of the log is not here.
    """
    try:
        signer = log_signer(verifier.config, verifier.root, now)
    except GovernError as error:
        if is_opening:
            raise UsageError(f"an approval is sealed by the log, and its key cannot be used: {error}") from error
        return None
    if signer is None:
        return None

    def seal(head: Head) -> NewEvent:
        note = signed_checkpoint(head, verifier.config, signer)
        return NewEvent(CHECKPOINT, LOG_ID, {"size": head.size, "note": note}, now)

    return seal


def remember(verifier: Verifier, now: datetime) -> None:
    """Remember the head after something was recorded; where that cannot be written a warning says so.

    What was remembered before still holds, so nothing becomes weaker by it.
    """
    signer: Signer | None = None
    try:
        signer = log_signer(verifier.config, verifier.root, now)
    except GovernError:
        _LOGGER.debug("the key of the log is not here; the head is remembered unsigned")
    try:
        remember_head(verifier.config, verifier.ledger, signer)
    except GovernError as error:
        _LOGGER.warning("the head of the ledger is not remembered: %s", error)
