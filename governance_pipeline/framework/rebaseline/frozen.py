"""Refusing what is critical while a freeze is in force: writes to canonical assets and long unattended runs.

What belongs here: the one question every critical writer of the governed folder asks before it writes. What does not:
gated assets, which ask it themselves as a step of verification (`gate.passage_steps`). Source: spec/framework.md §7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.freezes import Frozen, frozen_words
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.root import TrustRoot


def freeze_in_force(ledger: Ledger, root: TrustRoot, now: datetime) -> Frozen | None:
    """Give the freeze that covers everything; None when none is in force. One of a single round is no such freeze.

    Raises:
        Refusal: LOG_INCONSISTENT, the ledger cannot be read.
    """
    return read_history(ledger, is_strict=False).freezes.covering(None, root, now)


def refuse_if_frozen(ledger: Ledger, root: TrustRoot, now: datetime) -> None:
    """Refuse a critical write or run while everything is frozen.

    Args:
        ledger: where freezes and resumptions are recorded.
        root: who may end the freeze of a re-baseline; an event without a signature that counts ends none.
        now: instant at which keys are judged.

    Raises:
        Refusal: FROZEN, with who, why and what is left to do; LOG_INCONSISTENT when nobody can tell.
    """
    frozen = freeze_in_force(ledger, root, now)
    if frozen is not None:
        raise Refusal(ReasonCode.FROZEN, frozen_words(frozen))
