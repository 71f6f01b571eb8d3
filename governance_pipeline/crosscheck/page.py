"""The terminal page of a run (rich): mismatches first, then what is unknown, then the checks.

What belongs here: what a person sees. What does not: the report document. Text from sources is hostile: it is escaped
and cut before it reaches the terminal, and never parsed as markup.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from governance_pipeline.crosscheck.report import all_records, status_counts
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.numbers import canonical
from governance_pipeline.vocabulary import ExitCode, RecordStatus

if TYPE_CHECKING:
    from rich.console import RenderableType

    from governance_pipeline.crosscheck.policy import EpsilonPolicy
    from governance_pipeline.crosscheck.run import Batch

MAX_ROWS = 30
"""Records listed one by one; the rest is counted and stands in the report."""

_CELL_CHARACTERS = 44
_STYLES = {ExitCode.CLEAN: "bold green", ExitCode.FINDINGS: "bold red", ExitCode.UNKNOWN: "bold yellow"}


def run_page(batch: Batch, code: int) -> RenderableType:
    """Return the page of one run."""
    counts = status_counts(all_records(batch))
    summary = (
        f"{counts['records']} declared numbers: {counts['match']} match, "
        f"{counts['mismatch']} mismatch, {counts['unverifiable']} cannot be verified"
    )
    parts: list[RenderableType] = []
    parts += _mismatches(batch)
    parts += _unknowns(batch)
    parts += _checks(batch)
    parts.append(Text(f"{summary}  (exit {code})", style=_STYLES.get(code, "bold")))
    return Group(*parts)


def policy_page(policy: EpsilonPolicy) -> RenderableType:
    """Return the epsilon policy in force."""
    table = _table("data type", ">largest epsilon", ">default, at most")
    for name, maximum in policy.maximum.items():
        default = policy.default.get(name)
        # A tightened maximum caps the default too.
        table.add_row(name, canonical(maximum), "" if default is None else canonical(min(default, maximum)))
    note = (
        "An integer is exact. A percent is compared within half of its last declared decimal, at most the largest. "
        f"Decimals beyond the {policy.decimals}th are binary noise. A check file may lower a maximum, never raise it."
    )
    return Group(table, Text(note, style="dim"))


def _mismatches(batch: Batch) -> list[RenderableType]:
    found = [record for record in all_records(batch) if record.status is RecordStatus.MISMATCH]
    if not found:
        return []
    sources = batch.check_set.sources
    paths = {check.id: sources[check.declared_source].path for check in batch.check_set.checks}
    table = _table("check", "subject", ">declared", ">computed", ">delta", ">epsilon", "where")
    for record in found[:MAX_ROWS]:
        where = f"{paths[record.check_id]}:{record.declared_pointer.line}"
        table.add_row(
            _cell(record.check_id),
            _cell(record.subject_id),
            _cell(record.declared),
            _cell(record.computed),
            _cell(record.delta),
            _cell(record.epsilon),
            _cell(where),
        )
    return [Text(f"Declared and computed differ ({len(found)})", style="bold"), table, *_more(len(found)), ""]


def _unknowns(batch: Batch) -> list[RenderableType]:
    reasons = Counter((r.check_id, r.reason_code.value) for r in all_records(batch) if r.reason_code is not None)
    if not reasons:
        return []
    table = _table("check", "reason", ">records")
    for (check_id, reason), count in sorted(reasons.items()):
        table.add_row(_cell(check_id), reason, str(count))
    return [Text(f"Cannot be verified ({reasons.total()})", style="bold"), table, ""]


def _checks(batch: Batch) -> list[RenderableType]:
    table = _table("check", "formula", ">records", ">match", ">mismatch", ">unverifiable")
    for check in sorted(batch.check_set.checks, key=lambda check: check.id):
        counts = status_counts(batch.records[check.id])
        table.add_row(_cell(check.id), _cell(check.formula.text), *(str(count) for count in counts.values()))
    lines = [
        f"Check {check_id} looked at nothing: no record." for check_id, found in batch.records.items() if not found
    ]
    lines += [
        f"Source {excerpt(name, 60)}: {account.quarantined} of {account.rows} rows could not be used."
        for name, account in sorted(batch.accounts.items())
        if account.quarantined
    ]
    return [Text("Checks", style="bold"), table, *(Text(line, style="yellow") for line in lines), ""]


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        table.add_column(column.lstrip(">"), justify="right" if column.startswith(">") else "left", overflow="fold")
    return table


def _cell(text: str | None) -> Text:
    return Text("unknown" if text is None else excerpt(text, _CELL_CHARACTERS))


def _more(count: int) -> list[RenderableType]:
    return [Text(f"… and {count - MAX_ROWS} more in the report (--out, --json)")] if count > MAX_ROWS else []
