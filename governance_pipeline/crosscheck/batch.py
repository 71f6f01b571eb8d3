"""What a run gave, and how it is refused: shared by the runs of small and of large sources.

What belongs here: the result. What does not: making it (`crosscheck.run`, `crosscheck.large_run`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from governance_pipeline.crosscheck.check import Role
from governance_pipeline.errors import Fault, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.crosscheck.check_set import CheckSet
    from governance_pipeline.crosscheck.mutation import MutationProof
    from governance_pipeline.crosscheck.record_sets import Records
    from governance_pipeline.crosscheck.source import Source
    from governance_pipeline.crosscheck.sources import SourceAccount


class SourcesUnreadableError(UnreadableError):
    """Sources of a check file that cannot be read; `faults` holds each with the line that names it."""

    def __init__(self, name: str, faults: list[Fault]) -> None:
        self.faults = faults
        super().__init__(f"{name}: " + "; ".join(f"line {fault.line}: {fault.message}" for fault in faults))


@dataclass(frozen=True, slots=True)
class Batch:
    """What one run gave.

    Attributes:
        check_set: what was run.
        accounts: what was read, by source name.
        records: records by check id, each in the order of a report, in a list or a file.
        proofs: what came of the mutants of each check, by its id.
    """

    check_set: CheckSet
    accounts: Mapping[str, SourceAccount]
    records: Mapping[str, Records]
    proofs: Mapping[str, MutationProof]


def columns_of(check_set: CheckSet, source: Source) -> frozenset[str]:
    """Return the columns of a source that any check looks at."""
    if source.role is Role.DECLARED:
        return frozenset(c.declared_column for c in check_set.checks if c.declared_source == source.name)
    named = (column for check in check_set.checks for column in check.formula.columns)
    return frozenset(column.name for column in named if column.source == source.name)
