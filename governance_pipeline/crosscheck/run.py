"""A check file run over its sources: every source read once, every check fed as rows come by.

What belongs here: which rows go to which check. What does not: comparing (`crosscheck.engine`) and laying out the
result (`crosscheck.report`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from governance_pipeline.crosscheck.check import Role
from governance_pipeline.crosscheck.engine import CheckRun
from governance_pipeline.crosscheck.mutation import SAMPLE_RECORDS, prove
from governance_pipeline.crosscheck.rows import MISSING, ComponentRow, DeclaredRow
from governance_pipeline.crosscheck.sources import SourceAccount, read_source
from governance_pipeline.errors import Fault, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from governance_pipeline.crosscheck.check import Check
    from governance_pipeline.crosscheck.check_set import CheckSet
    from governance_pipeline.crosscheck.mutation import MutationProof
    from governance_pipeline.crosscheck.record import CrossCheckRecord
    from governance_pipeline.crosscheck.source import Source
    from governance_pipeline.crosscheck.sources import SourceRow


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
        records: records by check id, each list in the order of a report.
        proofs: what came of the mutants of each check, by its id.
    """

    check_set: CheckSet
    accounts: Mapping[str, SourceAccount]
    records: Mapping[str, list[CrossCheckRecord]]
    proofs: Mapping[str, MutationProof]


def run_checks(
    check_set: CheckSet,
    on_bytes: Callable[[int], None] = lambda _count: None,
    *,
    proved_records: int | None = SAMPLE_RECORDS,
) -> Batch:
    """Read all sources and return the records of all checks; a pure function of check file and sources.

    Args:
        check_set: an accepted check file.
        on_bytes: told how many bytes were read just now, for progress.
        proved_records: verifiable records each check is proved on by mutation; None proves it on all.

    Raises:
        SourcesUnreadableError: a source cannot be read; holds all of them, and nothing is computed.
    """
    runs = {check.id: CheckRun(check, check_set.policy) for check in check_set.checks}
    accounts: dict[str, SourceAccount] = {}
    declared: dict[str, list[SourceRow]] = {}
    faults: list[Fault] = []
    # By name, so that each check sees its component rows in the order its digest is made of.
    for name in sorted(check_set.sources):
        source, account = check_set.sources[name], accounts.setdefault(name, SourceAccount())
        rows = read_source(source, _columns(check_set, source), account, on_bytes)
        try:
            if source.role is Role.DECLARED:
                declared[name] = list(rows)
            else:
                readers = [run for run in runs.values() if name in run.check.formula.sources]
                _feed(rows, name, readers)
        except UnreadableError as error:
            faults.append(Fault("source_unreadable", source.line, f"source {name}: {error}"))
    if faults:
        raise SourcesUnreadableError(check_set.name, sorted(faults, key=lambda fault: fault.line or 0))
    records, proofs = {}, {}
    for check_id in sorted(runs):
        run = runs.pop(check_id)  # its totals are not needed once there are records and a proof
        records[check_id] = _records(run, declared[run.check.declared_source], accounts)
        proofs[check_id] = prove(run, records[check_id], check_set.policy, proved_records)
    return Batch(check_set, accounts, records, proofs)


def _records(run: CheckRun, rows: list[SourceRow], accounts: Mapping[str, SourceAccount]) -> list[CrossCheckRecord]:
    digest = accounts[run.check.declared_source].sha256
    incomplete = frozenset(name for name, account in accounts.items() if account.quarantined)
    return run.records(_declared_rows(run.check, rows, digest), incomplete=incomplete, declared_file=digest)


def _columns(check_set: CheckSet, source: Source) -> frozenset[str]:
    """The columns of a source that any check looks at."""
    if source.role is Role.DECLARED:
        return frozenset(c.declared_column for c in check_set.checks if c.declared_source == source.name)
    named = (column for check in check_set.checks for column in check.formula.columns)
    return frozenset(column.name for column in named if column.source == source.name)


def _feed(rows: Iterable[SourceRow], name: str, readers: list[CheckRun]) -> None:
    for row in rows:
        if row.key is not None:
            component = ComponentRow(row.key, name, row.line, row.values)
            for reader in readers:
                reader.add(component)


def _declared_rows(check: Check, rows: list[SourceRow], digest: str) -> Iterator[DeclaredRow]:
    column, pointer = check.declared_column, check.pointer
    for row in rows:
        value = row.values.get(column, MISSING)
        yield DeclaredRow(row.key, value, digest, row.line, pointer, is_quarantined=row.key is None)
