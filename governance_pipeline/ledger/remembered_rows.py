"""What a verifier remembers of the rows it has verified, so that a long ledger is not asked anew for every passage.

What belongs here: one small file beside the verifier's own configuration. What does not: what the digest means
(`verified_rows`). The file is a memory, never a proof: without it, with another program, or with one changed byte of
one row, every row is asked again; `govern ledger verify` always does.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import GovernError
from governance_pipeline.ledger.verified_rows import VerifiedRows
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.trust.owned_files import owned_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.ledger.verification import Fault
    from governance_pipeline.trust.config import GateConfig

ROWS_ENDING: Final = ".ledger-rows"
"""Ending of the file beside a configuration, after its own name without ending."""
WORTH_REMEMBERING: Final = 1_000
"""Rows more than remembered after which the file is written; asking that many takes some 30 ms."""

_BYTES: Final = 1024
_LOGGER: Final = logging.getLogger(__name__)


def verified(ledger: Ledger, config: GateConfig, code_sha256: str) -> list[Fault]:
    """Give the faults of a ledger, as `Ledger.verify`; rows this verifier has found sound are not asked for their form.

    Args:
        ledger: the ledger.
        config: beside it the rows are remembered.
        code_sha256: names the program that asks; what another one has found sound is asked again.

    Raises:
        StorageError: the ledger cannot be read at all.
    """
    path = rows_path(config)
    rows = _remembered(path, code_sha256)
    size = rows.size
    faults = ledger.verify(before=rows)
    if not faults and rows.size >= size + WORTH_REMEMBERING:
        text = json.dumps({"code_sha256": code_sha256, "rows_sha256": rows.sha256, "size": rows.size})
        try:
            AtomicWriter(path.parent).write(path, text.encode())
        except GovernError as error:  # it is only slower without
            _LOGGER.debug("the verified rows of the ledger are not remembered: %s", error)
    return faults


def rows_path(config: GateConfig) -> Path:
    """Give the file that remembers the rows, beside the configuration."""
    return config.source.with_name(config.source.stem + ROWS_ENDING)


def _remembered(path: Path, code_sha256: str) -> VerifiedRows:
    """Give what is remembered; nothing where the file is missing, of others, of another program, or of another form."""
    try:
        said = parse_json(owned_bytes(path, "remembered rows of the ledger", _BYTES))
        size, sha256 = said["size"], said["rows_sha256"]
        is_usable = said["code_sha256"] == code_sha256 and type(size) is int and type(sha256) is str and size > 0
    except (GovernError, OSError, LookupError, TypeError):
        return VerifiedRows()
    return VerifiedRows(size, sha256) if is_usable else VerifiedRows()
