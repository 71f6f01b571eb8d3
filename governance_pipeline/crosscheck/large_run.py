"""A check file run over large sources in bounded memory: the same batch as `run.run_checks`, its records in files.

What belongs here: which check goes which way (`crosscheck.set_plan` where SQL is exact, `crosscheck.staged_records`
elsewhere), and the files. What does not: making records and judging them.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from governance_pipeline.crosscheck.batch import Batch, SourcesUnreadableError, columns_of
from governance_pipeline.crosscheck.mutation import SAMPLE_RECORDS, Flipped, MutationProof, prove
from governance_pipeline.crosscheck.record_sets import VERIFIABLE
from governance_pipeline.crosscheck.set_plan import opened_set
from governance_pipeline.crosscheck.sources import SourceAccount, read_source
from governance_pipeline.crosscheck.staged_records import Staged, StagedRecords, staged
from governance_pipeline.crosscheck.stored_records import MEMORY, STORED, StoredRecords, ordered_records
from governance_pipeline.errors import Fault, UnreadableError
from governance_pipeline.strict.files import FileRefused, digest_file
from governance_pipeline.strict.sql_session import open_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path

    import duckdb

    from governance_pipeline.crosscheck.check import Check
    from governance_pipeline.crosscheck.check_set import CheckSet
    from governance_pipeline.crosscheck.set_records import SetRecords


@dataclass(slots=True)
class _Run:
    check_set: CheckSet
    spill: Path
    limit: int | None
    on_bytes: Callable[[int], None]
    session: duckdb.DuckDBPyConnection
    accounts: dict[str, SourceAccount] = field(default_factory=dict)
    staged: dict[str, Staged] = field(default_factory=dict)
    records: dict[str, StoredRecords] = field(default_factory=dict)
    proofs: dict[str, MutationProof] = field(default_factory=dict)
    unread: dict[str, int] = field(default_factory=dict)
    """Bytes of sources that SQL reads while records are made: progress counts them then."""


def run_large(
    check_set: CheckSet,
    on_bytes: Callable[[int], None] = lambda _count: None,
    *,
    proved_records: int | None = SAMPLE_RECORDS,
    spill: Path,
) -> Batch:
    """Return the records of all checks as files in a folder of the caller; arguments and errors as `run_checks`."""
    with closing(open_session(folders=[spill], spill=spill, memory=MEMORY)) as session:
        run = _Run(check_set, spill, proved_records, on_bytes, session)
        # Only asked here, and opened again when it is the turn of a check: sessions of many would not fit in memory.
        row_wise = {name for check in check_set.checks if not _is_set(run, check) for name in _sources_of(check)}
        by_set = {name for check in check_set.checks for name in _sources_of(check)} - row_wise
        _read(run, by_set)
        for check in sorted(check_set.checks, key=lambda check: check.id):
            _check(run, check)
    accounts = dict(sorted(run.accounts.items()))
    return Batch(check_set, accounts, run.records, run.proofs)


def _opened(run: _Run, check: Check) -> AbstractContextManager[SetRecords | None]:
    sources = run.check_set.sources
    components = sources[min(check.formula.sources)]
    return opened_set(check, sources[check.declared_source], components, run.check_set.policy, run.spill)


def _is_set(run: _Run, check: Check) -> bool:
    with _opened(run, check) as found:
        return found is not None


def _sources_of(check: Check) -> set[str]:
    return {check.declared_source, *check.formula.sources}


def _read(run: _Run, by_set: Iterable[str]) -> None:
    """Account for every source; stage those that SQL does not read where they lie."""
    faults: list[Fault] = []
    for name in sorted(run.check_set.sources):
        source = run.check_set.sources[name]
        try:
            if name in by_set and source.file is not None:
                _hash(run, name, source.file)
            else:
                _stage(run, name)
        except UnreadableError as error:
            faults.append(Fault("source_unreadable", source.line, f"source {name}: {error}"))
    if faults:
        raise SourcesUnreadableError(run.check_set.name, sorted(faults, key=lambda fault: fault.line or 0))


def _hash(run: _Run, name: str, file: Path) -> None:
    found = digest_file(file)
    try:
        rows = pq.read_metadata(file).num_rows
    except (pa.ArrowException, OSError):  # it was Parquet when the check was looked at
        raise FileRefused("changed_while_read", file) from None
    run.accounts[name] = SourceAccount(found.sha256, found.size, rows)
    run.unread[name] = found.size


def _stage(run: _Run, name: str) -> None:
    source, account = run.check_set.sources[name], SourceAccount()
    columns = columns_of(run.check_set, source)
    path = run.spill / f"source-{len(run.staged)}.parquet"
    run.staged[name] = staged(read_source(source, columns, account, run.on_bytes), columns, path)
    run.accounts[name] = account


def _check(run: _Run, check: Check) -> None:
    """Make records and proof of one check."""
    import duckdb

    number = len(run.records)
    unordered, ordered = (run.spill / f"{kind}-{number}.parquet" for kind in ("unordered", "records"))
    with _opened(run, check) as found:
        made: SetRecords | StagedRecords
        try:
            made = found if found is not None else _staged_records(run, check)
            counted = _written(run, check, made, unordered)
        except duckdb.Error:
            if found is None:
                raise
            # A page that cannot be decoded, a text that is not UTF-8: the row-wise reader says which or passes over.
            made = _staged_records(run, check)
            counted = _written(run, check, made, unordered)
        ordered_records(run.session, unordered, ordered)
        unordered.unlink()
        records = run.records[check.id] = StoredRecords(ordered, check, run.accounts[check.declared_source].sha256)
        sample = records.smallest(SAMPLE_RECORDS, VERIFIABLE)
        limit = SAMPLE_RECORDS if run.limit is None else run.limit
        subjects = [record.subject_id for record in sample if record.subject_id is not None]
        run.proofs[check.id] = prove(made.run_of(subjects), sample, run.check_set.policy, limit, counted)


def _written(run: _Run, check: Check, made: SetRecords | StagedRecords, target: Path) -> Flipped | None:
    """Write the records, unordered; what shifting all of them gave, None when only a sample is proved."""
    size = sum(run.unread.pop(name, 0) for name in _sources_of(check))
    digest, is_proved = run.accounts[check.declared_source].sha256, run.limit is None
    with pq.ParquetWriter(target, STORED, compression="zstd", compression_level=1) as writer:
        counted = made.write(
            writer, digest, is_proved=is_proved, on_part=lambda share: run.on_bytes(round(size * share))
        )
    return counted if is_proved else None


def _staged_records(run: _Run, check: Check) -> StagedRecords:
    _stage_rest(run, check)
    incomplete = frozenset(name for name, account in run.accounts.items() if account.quarantined)
    return StagedRecords(run.session, check, run.check_set.policy, run.staged, incomplete)


def _stage_rest(run: _Run, check: Check) -> None:
    faults = []
    for name in sorted(_sources_of(check) - run.staged.keys()):
        try:
            _stage(run, name)
        except UnreadableError as error:
            faults.append(Fault("source_unreadable", run.check_set.sources[name].line, f"source {name}: {error}"))
    if faults:
        raise SourcesUnreadableError(run.check_set.name, sorted(faults, key=lambda fault: fault.line or 0))
