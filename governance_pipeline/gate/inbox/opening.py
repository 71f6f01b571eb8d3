"""Opening what an inbox trusts, anew for each page: a key revoked on the command line is one at once.

What belongs here: that. What does not: what is opened (`gate.passage`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.gate.passage import open_verifier
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.storage.lake import Lake
from governance_pipeline.trust.config import load_config

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.gate.passage import Verifier


def opened(config_path: Path | None, lake: Path) -> Callable[[datetime], Verifier]:
    """Give what opens the configuration of a file (None: of this account) and a lake, at a time.

    Raises:
        As `load_config`, and what it gives as `open_verifier`.
    """

    def open_now(now: datetime) -> Verifier:
        config = load_config(config_path)
        return open_verifier(config, Ledger(config.ledger), Lake(lake), now)

    return open_now
