"""The report of a run (govern/cross-check-report/v1) and of a refusal (govern/crosscheck-errors/v1), as JSON text.

What belongs here: the members of both documents and how numbers are written. What does not: how records came about.

The members structural_tests, validation, guardian and can_fail are results of proofs that ran (`crosscheck.guardian`,
`crosscheck.mutation`), never constants. Source: spec/crosscheck.md §7 and §12.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any

from governance_pipeline.crosscheck.record import as_number
from governance_pipeline.crosscheck.report_validator import SCHEMA
from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.storage.atomic import AtomicWriter, write_all
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.numbers import canonical
from governance_pipeline.vocabulary import Action, ExitCode, RecordStatus

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal
    from pathlib import Path

    from governance_pipeline.crosscheck.check import Check
    from governance_pipeline.crosscheck.guardian import Judgement
    from governance_pipeline.crosscheck.record import CrossCheckRecord
    from governance_pipeline.crosscheck.run import Batch
    from governance_pipeline.errors import Fault

ERRORS_SCHEMA = "govern/crosscheck-errors/v1"
REPORT_NAME = "report.json"
_READABLE = 0o644
_BLOCK_CHARACTERS = 2**20


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
    counts = status_counts(all_records(batch))
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
    return _blocks(_members(batch, judgement))


def errors_document(faults: Iterable[Fault]) -> dict[str, Any]:
    """Return the document of a check file or source that is refused, ordered by line."""
    ordered = sorted(faults, key=lambda fault: fault.line or 0)
    return {"schema": ERRORS_SCHEMA, "errors": [fault._asdict() for fault in ordered]}


def all_records(batch: Batch) -> Iterator[CrossCheckRecord]:
    """Yield the records of a run in the order of its report."""
    for check_id in sorted(batch.records):
        yield from batch.records[check_id]


def status_counts(records: Iterable[CrossCheckRecord]) -> dict[str, int]:
    """Return how many records there are, in all and by status."""
    by_status = Counter(record.status for record in records)
    return {"records": by_status.total(), **{status.value: by_status[status] for status in RecordStatus}}


def json_text(document: dict[str, Any]) -> str:
    """Return a document as JSON text: numbers as their exact lexemes, one list item per line, a newline at the end.

    The same document gives the same text. RFC 8785 is not used: it would turn numbers into binary floats. Every
    character beyond printable ASCII is escaped, so that no text of a source steers a terminal.
    """
    return b"".join(_blocks(document)).decode()


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


def record_members(batch: Batch) -> Iterator[dict[str, Any]]:
    """Yield the member ``records``."""
    return (record.to_json() for record in all_records(batch))


def escalation_members(batch: Batch) -> Iterator[dict[str, Any]]:
    """Yield the member ``escalations``: one case per record that was not accepted."""
    return (_escalation(record) for record in all_records(batch) if record.action is not Action.ACCEPT)


def check_set_member(batch: Batch) -> dict[str, Any]:
    """Return the member ``check_set``: what was run over what, and the totals."""
    check_set = batch.check_set
    return {
        "checks_sha256": check_set.sha256,
        "epsilon_policy": check_set.policy.to_json(),
        **status_counts(all_records(batch)),
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
        **status_counts(batch.records[check.id]),
    }


def _escalation(record: CrossCheckRecord) -> dict[str, Any]:
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


def _blocks(members: dict[str, Any]) -> Iterator[bytes]:
    block, size = [], 0
    for piece in _pieces(members):
        block.append(piece)
        size += len(piece)
        if size >= _BLOCK_CHARACTERS:
            yield "".join(block).encode()
            block, size = [], 0
    yield "".join(block).encode()


def _pieces(members: dict[str, Any]) -> Iterator[str]:
    """One list item per line, so that two reports can be compared line by line; any other member on one line."""
    before = "{\n"
    for name, value in members.items():
        yield f"{before}{encode_basestring_ascii(name)}:"
        yield from _items(value) if isinstance(value, list | Iterator) else (_compact(value),)
        before = ",\n"
    yield "\n}\n" if members else "{}\n"


def _items(items: Iterable[Any]) -> Iterator[str]:
    before = "[\n"
    for item in items:
        yield before + _compact(item)
        before = ",\n"
    yield "[]" if before == "[\n" else "\n]"


def _compact(value: Any) -> str:
    if isinstance(value, Lexeme):
        return str(value)
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, dict):
        return (
            "{"
            + ",".join([f"{encode_basestring_ascii(name)}:{_compact(member)}" for name, member in value.items()])
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(_compact, value)) + "]"
    return json.dumps(value)
