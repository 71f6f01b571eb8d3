"""The native formats, in the order they are read: declared aggregates first, because they name the subjects.

What belongs here: the list, and which of them a file is by its place. What does not: reading.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.native import attestations, audit_log, changes, confidence, declared, evidence, prices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.ingest.logformat import LogFormat

NATIVE_FORMATS: Final[tuple[LogFormat, ...]] = (
    declared,
    audit_log,
    changes,
    evidence,
    attestations,
    confidence,
    prices,
)

BY_PLACE: Final[Mapping[str, LogFormat]] = MappingProxyType(
    {
        "changes.jsonl": changes,
        "evidence.jsonl": evidence,
        "declared.jsonl": declared,
        "attestations.jsonl": attestations,
        "confidence.jsonl": confidence,
        "prices.jsonl": prices,
    }
)
"""File at the top of a round folder -> its format (spec/ingest.md §1)."""
