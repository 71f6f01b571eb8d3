"""Giving a ledger a key that signs its checkpoints, also one that has worked without.

What belongs here: root, key file and configuration in one order. What does not: signing (`checkpoint`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.ledger.log_principal import log_principal
from governance_pipeline.ledger.root_keeping import Kept, change_root
from governance_pipeline.trust.config import replace_config
from governance_pipeline.trust.keys import new_key

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.trust.config import GateConfig
    from governance_pipeline.trust.keys import Signer


def add_log_key(config: GateConfig, path: Path, signer: Signer, now: datetime) -> Kept:
    """Give a ledger a key of the log, or another one: root, then configuration; see `change_root`.

    What was decided before stays as it is; from now on each decision is sealed by a signed checkpoint.

    Args:
        config: where the root is, and its pinned key.
        path: new file for the key, on the machine that records decisions.
        signer: the root key.
        now: the time.
    """
    key = new_key(None)
    principal = log_principal(key.public_key, now)
    kept = change_root(
        config, lambda root: root.with_principal(principal), signer, now, key_file=(path, key.file_bytes)
    )
    named = config._replace(log_key=path)
    replace_config(config, named)
    return Kept(named, kept.root)
