"""What is asked of the ledger once for everything asked of one history of it.

What belongs here: its faults, its heads and who was dismissed, each read when it is first asked for. What does not: the
history itself (`events`). A list of requests asks these for every request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from governance_pipeline.gate.code_digest import gate_code_sha256
from governance_pipeline.ledger.dismissals import read_dismissals
from governance_pipeline.ledger.remembered_rows import verified
from governance_pipeline.ledger.trusted_root import seen_root

if TYPE_CHECKING:
    from governance_pipeline.ledger.head import Head
    from governance_pipeline.ledger.heads import Heads
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.ledger.verification import Fault
    from governance_pipeline.trust.config import GateConfig
    from governance_pipeline.trust.root_document import SeenRoot


@dataclass(kw_only=True)
class AskedOnce:
    """Answers of the ledger a history was read from; of the ledger as it is when the first such answer is needed."""

    _faults: list[Fault] | None = field(default=None, repr=False)
    _dismissed: frozenset[str] | None = field(default=None, repr=False)
    _heads: Heads | None = field(default=None, repr=False)
    _seen_roots: dict[str, SeenRoot | None] = field(default_factory=dict, repr=False)

    def faults(self, ledger: Ledger, config: GateConfig | None = None) -> list[Fault]:
        """Give the faults of the ledger this was read from.

        Args:
            ledger: the ledger.
            config: of a verifier that remembers which rows it has found sound; None asks every row anew.

        Raises:
            StorageError: it cannot be read at all.
        """
        if self._faults is None:
            self._faults = ledger.verify() if config is None else verified(ledger, config, gate_code_sha256())
        return self._faults

    def seen_root(self, ledger: Ledger, root_fingerprint: str) -> SeenRoot | None:
        """Give the latest version of the trust root the ledger has seen; raises as `trusted_root.seen_root`."""
        if root_fingerprint not in self._seen_roots:
            self._seen_roots[root_fingerprint] = seen_root(ledger, root_fingerprint)
        return self._seen_roots[root_fingerprint]

    def has_dismissals(self, ledger: Ledger, round_id: str) -> bool:
        """Tell whether anybody dismissed a finding of a round."""
        if self._dismissed is None:
            self._dismissed = frozenset(of for of, _ in read_dismissals(ledger).of)
        return round_id in self._dismissed

    def head(self, ledger: Ledger, size: int) -> Head:
        """Give the head of the first events of the ledger; its bytes are hashed once.

        Raises:
            StorageError: there are fewer events, or the ledger cannot be read.
        """
        if self._heads is None or self._heads.size < size:
            self._heads = ledger.heads()
        return self._heads.head(size)
