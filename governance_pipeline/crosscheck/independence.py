"""Static independence: no declared column is reachable from a recompute expression.

What belongs here: the lineage of an expression and what it must not contain. What does not: the proof by mutation,
which looks at numbers. The grammar has no subqueries, aliases or stars over columns, so the columns an expression
names are its whole lineage. A column is known by (file, column): the same file under a second name does not make it
independent, and all columns of a source with role declared count as declared.

Source: spec/crosscheck.md §1 and §4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.crosscheck.check import Role
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.crosscheck.formula import Formula
    from governance_pipeline.crosscheck.source import Source


def lineage_faults(formula: Formula, sources: Mapping[str, Source]) -> list[tuple[str, str]]:
    """Return (load code, message) of each way an expression is not independent; empty when it is.

    Codes: unknown_source, recompute_uses_declared, recompute_uses_derived.
    """
    declared = {source.identity for source in sources.values() if source.role is Role.DECLARED}
    derived = {(source.identity, column) for source in sources.values() for column in source.derived}
    faults = []
    for column in formula.columns:
        source = sources.get(column.source)
        name = f"{excerpt(column.source, 60)}.{excerpt(column.name, 60)}"
        if source is None:
            faults.append(("unknown_source", f"{excerpt(column.source, 60)} is not among the sources; declare it"))
        elif source.identity in declared:
            faults.append(("recompute_uses_declared", f"{name} lies in a file that declares; use other data"))
        elif (source.identity, column.name) in derived:
            faults.append(("recompute_uses_derived", f"{name} was derived from declared values; use rawer data"))
    return list(dict.fromkeys(faults))


def is_independent(formula: Formula, sources: Mapping[str, Source]) -> bool:
    """Tell whether no declared or derived column is reachable from an expression."""
    return not lineage_faults(formula, sources)
