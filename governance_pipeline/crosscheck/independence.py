"""Static independence: no declared column is reachable from a recompute expression.

What belongs here: the proof and what it must not find. What does not: the proof by mutation (`crosscheck.mutation`),
which looks at numbers. A column is known by (file, column): the same file under a second name does not make it
independent, and all columns of a source with role declared count as declared.

Source: spec/crosscheck.md §1 and §4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from governance_pipeline.crosscheck.check import Role
from governance_pipeline.crosscheck.lineage import reachable_columns
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from governance_pipeline.crosscheck.formula import Column, Formula
    from governance_pipeline.crosscheck.source import Source


@dataclass(frozen=True, slots=True)
class LineageProof:
    """The static proof of one expression; stored with its check.

    Attributes:
        formula_digest: the expression it is about.
        columns: every column its number can come from, sorted by source and name; ``*`` stands for counted rows.
        faults: (load code, message) of each way it is not independent; empty when it is.
    """

    formula_digest: str
    columns: tuple[Column, ...]
    faults: tuple[tuple[str, str], ...]

    @property
    def is_independent(self) -> bool:
        """Whether no declared or derived column is among those reached."""
        return not self.faults


def lineage_proof(formula: Formula, sources: Mapping[str, Source]) -> LineageProof:
    """Prove that no declared column is reachable, or say which is.

    Both what sqlglot reaches and what our own tree names are looked at, so neither can hide a column from the other.

    Args:
        formula: an accepted expression.
        sources: all sources of the check file, by name.

    Returns:
        The proof; codes of its faults are recompute_forbidden (sqlglot cannot tell the lineage), unknown_source,
        recompute_uses_declared and recompute_uses_derived.
    """
    reached = reachable_columns(formula)
    every = (reached or frozenset()) | set(formula.columns)
    columns = tuple(sorted(every, key=lambda column: (column.source, column.name)))
    untold = [] if reached is not None else [("recompute_forbidden", "nobody can tell which columns it reads")]
    return LineageProof(formula.digest, columns, (*untold, *_faults(columns, sources)))


def _faults(columns: Iterable[Column], sources: Mapping[str, Source]) -> list[tuple[str, str]]:
    declared = {source.identity for source in sources.values() if source.role is Role.DECLARED}
    derived = {(source.identity, column) for source in sources.values() for column in source.derived}
    faults = []
    for column in columns:
        source = sources.get(column.source)
        name = f"{excerpt(column.source, 60)}.{excerpt(column.name, 60)}"
        if source is None:
            faults.append(("unknown_source", f"{excerpt(column.source, 60)} is not among the sources; declare it"))
        elif source.identity in declared:
            faults.append(("recompute_uses_declared", f"{name} lies in a file that declares; use other data"))
        elif (source.identity, column.name) in derived:
            faults.append(("recompute_uses_derived", f"{name} was derived from declared values; use rawer data"))
    return list(dict.fromkeys(faults))
