"""The report of a run (govern/cross-check-report/v1) and of a refusal (govern/crosscheck-errors/v1), as JSON text.

What belongs here: the members of both documents and how numbers are written. What does not: how records came about.

The members structural_tests, validation, guardian and can_fail are results of proofs that ran (`crosscheck.guardian`,
`crosscheck.mutation`), never constants. Source: spec/crosscheck.md §7 and §12.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from governance_pipeline.crosscheck.record import as_number
from governance_pipeline.crosscheck.record_sets import counts_of, non_accepted, total_counts
from governance_pipeline.crosscheck.report_text import Written, json_blocks
from governance_pipeline.crosscheck.report_validator import SCHEMA
from governance_pipeline.crosscheck.stored_records import StoredRecords
from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.storage.atomic import AtomicWriter, write_all
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.numbers import canonical
from governance_pipeline.vocabulary import ExitCode, RecordStatus

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal
    from pathlib import Path

    from governance_pipeline.crosscheck.batch import Batch
    from governance_pipeline.crosscheck.check import Check
    from governance_pipeline.crosscheck.guardian import Judgement
    from governance_pipeline.crosscheck.record import CrossCheckRecord
    from governance_pipeline.errors import Fault

ERRORS_SCHEMA = "govern/crosscheck-errors/v1"
REPORT_NAME = "report.json"
_READABLE = 0o644


class FailOn(StrEnum):
    """From what on the exit code is 1."""

    MISMATCH = "mismatch"
    UNVERIFIABLE = "unverifiable"
    NEVER = "never"


def exit_code(batch: Batch, judgement: Judgement, fail_on: FailOn) -> int:
    """Return the exit code of a run (spec/crosscheck.md §9): blocked, a mismatch, only unknowns, or clean.

    The guardian blocks whatever `fail_on` says: a check that looked at nothing or cannot fail is no pass.
    """
    if judgement.is_blocked:
        return ExitCode.REFUSED
    counts = batch_counts(batch)
    if fail_on is FailOn.NEVER:
        return ExitCode.CLEAN
    unknown = counts[RecordStatus.UNVERIFIABLE]
    if counts[RecordStatus.MISMATCH] or (unknown and fail_on is FailOn.UNVERIFIABLE):
        return ExitCode.FINDINGS
    return ExitCode.UNKNOWN if unknown else ExitCode.CLEAN


def report_document(batch: Batch, judgement: Judgement) -> dict[str, Any]:
    """Return the report of a run; without a clock, so the same check file and sources give the same report."""
    members = _members(batch, judgement)
    return {name: list(value) if isinstance(value, Iterator) else value for name, value in members.items()}


def report_blocks(batch: Batch, judgement: Judgement) -> Iterator[bytes]:
    """Yield the text of `report_document` in blocks, with one record in memory at a time."""
    return json_blocks(_members(batch, judgement))


def errors_document(faults: Iterable[Fault]) -> dict[str, Any]:
    """Return the document of a check file or source that is refused, ordered by line."""
    ordered = sorted(faults, key=lambda fault: fault.line or 0)
    return {"schema": ERRORS_SCHEMA, "errors": [fault._asdict() for fault in ordered]}


def all_records(batch: Batch) -> Iterator[CrossCheckRecord]:
    """Yield the records of a run in the order of its report."""
    for check_id in sorted(batch.records):
        yield from batch.records[check_id]


def write_report(batch: Batch, judgement: Judgement, folder: Path) -> Path:
    """Write the report of a run into a folder, whole or not at all, and return its path.

    Raises:
        UsageError: the folder cannot be written, or the file there is a source of the run.
    """
    target = folder / REPORT_NAME
    sources = [source.file for source in batch.check_set.sources.values() if source.file is not None]
    if any(os.path.realpath(target) == os.path.realpath(source) for source in sources):
        raise UsageError(f"{excerpt(str(target))} is a source of this run, and no source is ever written")
    try:
        AtomicWriter(folder).fill(
            target, lambda descriptor: _write(descriptor, report_blocks(batch, judgement)), mode=_READABLE
        )
    except StorageError as error:
        raise UsageError(f"report: {error}; or choose another --out") from None
    return target


def _write(descriptor: int, blocks: Iterable[bytes]) -> None:
    for block in blocks:
        write_all(descriptor, block)


def _members(batch: Batch, judgement: Judgement) -> dict[str, Any]:
    """The members of a report; records and escalations are made when they are asked for."""
    return {
        "schema": SCHEMA,
        "check_set": check_set_member(batch),
        "fields": field_members(batch),
        "records": record_members(batch),
        "escalations": escalation_members(batch),
        "structural_tests": dict(judgement.structural_tests),
        "validation": dict(judgement.validation),
        "guardian": judgement.guardian,
    }


def field_members(batch: Batch) -> list[dict[str, Any]]:
    """Return the member ``fields``: one entry per check, by check id."""
    return [_field(check, batch) for check in sorted(batch.check_set.checks, key=lambda check: check.id)]


def record_members(batch: Batch) -> Iterator[dict[str, Any] | Written]:
    """Yield the member ``records``: objects, or the text of many of them where they are stored."""
    for check_id in sorted(batch.records):
        records = batch.records[check_id]
        if isinstance(records, StoredRecords):
            yield from records.texts()
        else:
            yield from (record.to_json() for record in records)


def escalation_members(batch: Batch) -> Iterator[dict[str, Any]]:
    """Yield the member ``escalations``: one case per record that was not accepted."""
    for check_id in sorted(batch.records):
        yield from map(escalation_member, non_accepted(batch.records[check_id]))


def batch_counts(batch: Batch) -> dict[str, int]:
    """Return how many records a run has, in all and by status."""
    return total_counts(batch.records.values())


def json_text(document: dict[str, Any]) -> str:
    """Return a document as JSON text with a newline at the end; the same document gives the same text."""
    return b"".join(json_blocks(document)).decode()


def check_set_member(batch: Batch) -> dict[str, Any]:
    """Return the member ``check_set``: what was run over what, and the totals."""
    check_set = batch.check_set
    return {
        "checks_sha256": check_set.sha256,
        "epsilon_policy": check_set.policy.to_json(),
        **batch_counts(batch),
        "sources": [
            {
                "name": name,
                "path": check_set.sources[name].path,
                "role": str(check_set.sources[name].role),
                "key": check_set.sources[name].key,
                "sha256": account.sha256,
                "bytes": account.bytes,
                "rows": account.rows,
                "quarantined": account.quarantined,
                "blank": account.blank,
            }
            for name, account in sorted(batch.accounts.items())
        ],
    }


def _field(check: Check, batch: Batch) -> dict[str, Any]:
    return {
        "check_id": check.id,
        "field": check.field,
        "data_type": check.data_type.value,
        "unit": check.unit,
        "declared": check.declared,
        "formula": check.formula.text,
        "formula_digest": check.formula.digest,
        "components": [f"{column.source}.{column.name}" for column in check.formula.columns],
        "epsilon": _given(check.epsilon),
        "epsilon_reason": check.epsilon_reason,
        "epsilon_relative": _given(check.epsilon_relative),
        "epsilon_relative_reason": check.epsilon_relative_reason,
        "no_components": check.no_components.value,
        "no_components_reason": check.no_components_reason,
        "escalate_to": check.escalate_to,
        "independent": batch.check_set.lineage[check.id].is_independent,
        "can_fail": batch.proofs[check.id].can_fail,
        **counts_of(batch.records[check.id]),
    }


def escalation_member(record: CrossCheckRecord) -> dict[str, Any]:
    """Return the case of a record that goes to a person."""
    return {
        "case_id": f"case-{record.record_id}",
        "record_id": record.record_id,
        "assignee": record.escalate_to,
        "reason": record.reason_code.value if record.reason_code else RecordStatus.MISMATCH.value,
        "declared": as_number(record.declared),
        "computed": as_number(record.computed),
        "opened_at": None,
        "age_days": None,
        "state": "open",
    }


def _given(value: Decimal | None) -> Lexeme | None:
    return None if value is None else Lexeme(canonical(value))
