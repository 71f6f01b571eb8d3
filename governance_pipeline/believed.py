"""What the pipeline may believe, read once: the trust root, and what people have signed in the ledger.

What belongs here: putting `pipeline.Trust` together. What does not: whether any of it counts; whoever uses it judges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.ledger.calibrations import read_calibrations
from governance_pipeline.ledger.dismissals import read_dismissals
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.ledger.trusted_root import trusted_root
from governance_pipeline.pipeline import Trust
from governance_pipeline.verdict.dismissal_policy import dismissal_policy

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.trust.config import GateConfig


def believed(config: GateConfig, now: datetime) -> Trust:
    """Give whom and what the tables may believe.

    Args:
        config: what this verifier trusts.
        now: instant at which keys and last days are judged.

    Raises:
        GovernError: the root or a copy of the dismissal policy cannot be used, or the ledger cannot be read.
    """
    ledger = Ledger(config.ledger)
    root = trusted_root(config, ledger, now)
    policy = dismissal_policy(config.source.parent)
    return Trust(
        root,
        now,
        dismissals=read_dismissals(ledger),
        calibrations=read_calibrations(ledger),
        dismissal_policy=policy,
    )
