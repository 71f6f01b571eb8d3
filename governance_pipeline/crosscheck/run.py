"""A check file run over its sources: every source read once, every check fed as rows come by.

What belongs here: which rows go to which check. What does not: comparing (`crosscheck.engine`) and laying out the
result (`crosscheck.report`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.crosscheck.batch import Batch, SourcesUnreadableError, columns_of
from governance_pipeline.crosscheck.check import Role
from governance_pipeline.crosscheck.engine import CheckRun
from governance_pipeline.crosscheck.mutation import SAMPLE_RECORDS, prove
from governance_pipeline.crosscheck.rows import MISSING, ComponentRow, DeclaredRow
from governance_pipeline.crosscheck.source import size_of
from governance_pipeline.crosscheck.sources import SourceAccount, read_source
from governance_pipeline.errors import Fault, UnreadableError
from governance_pipeline.settings import SETTINGS, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from governance_pipeline.crosscheck.check import Check
    from governance_pipeline.crosscheck.check_set import CheckSet
    from governance_pipeline.crosscheck.record import CrossCheckRecord
    from governance_pipeline.crosscheck.sources import SourceRow


def run_checks(
    check_set: CheckSet,
    on_bytes: Callable[[int], None] = lambda _count: None,
    *,
    proved_records: int | None = SAMPLE_RECORDS,
    spill: Path | None = None,
    settings: Settings = SETTINGS,
) -> Batch:
    """Read all sources and return the records of all checks; a pure function of check file and sources.

    Args:
        check_set: an accepted check file.
        on_bytes: told how many bytes were read just now, for progress.
        proved_records: verifiable records each check is proved on by mutation; None proves it on all.
        spill: folder of the caller for what large sources need; they are worked on in bounded memory then, and the
            records are in files there. Without it everything is held in memory. The records are the same.
        settings: says what is large.

    Raises:
        SourcesUnreadableError: a source cannot be read; holds all of them, and nothing is computed.
    """
    if spill is not None and _bytes(check_set) >= settings.large_check_bytes:
        from governance_pipeline.crosscheck.large_run import run_large  # DuckDB and Arrow, which small sources spare

        return run_large(check_set, on_bytes, proved_records=proved_records, spill=spill)
    return _run_held(check_set, on_bytes, proved_records)


def _run_held(check_set: CheckSet, on_bytes: Callable[[int], None], proved_records: int | None) -> Batch:
    """Run with everything in memory; arguments as `run_checks`."""
    runs = {check.id: CheckRun(check, check_set.policy) for check in check_set.checks}
    accounts: dict[str, SourceAccount] = {}
    declared: dict[str, list[SourceRow]] = {}
    faults: list[Fault] = []
    # By name, so that each check sees its component rows in the order its digest is made of.
    for name in sorted(check_set.sources):
        source, account = check_set.sources[name], accounts.setdefault(name, SourceAccount())
        rows = read_source(source, columns_of(check_set, source), account, on_bytes)
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


def _bytes(check_set: CheckSet) -> int:
    """Bytes of all sources; one nobody can look at counts nothing: the reader says why."""
    return sum(size_of(source) for source in check_set.sources.values())


def _records(run: CheckRun, rows: list[SourceRow], accounts: Mapping[str, SourceAccount]) -> list[CrossCheckRecord]:
    digest = accounts[run.check.declared_source].sha256
    incomplete = frozenset(name for name, account in accounts.items() if account.quarantined)
    return run.records(_declared_rows(run.check, rows, digest), incomplete=incomplete, declared_file=digest)


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
