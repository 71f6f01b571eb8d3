"""The terminal page of a run (rich): mismatches first, then what is unknown, then the checks.

What belongs here: what a person sees. What does not: the report document. Text from sources is hostile: it is escaped
and cut before it reaches the terminal, and never parsed as markup.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from governance_pipeline.crosscheck.mutation import CANNOT_FAIL
from governance_pipeline.crosscheck.record_sets import counts_of, first_mismatches, reasons_of
from governance_pipeline.crosscheck.report import batch_counts
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.numbers import canonical
from governance_pipeline.vocabulary import ExitCode, RecordStatus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from governance_pipeline.crosscheck.batch import Batch
    from governance_pipeline.crosscheck.guardian import Judgement
    from governance_pipeline.crosscheck.mutation import MutationProof
    from governance_pipeline.crosscheck.policy import EpsilonPolicy

MAX_ROWS = 30
"""Records listed one by one; the rest is counted and stands in the report."""

_CELL_CHARACTERS = 44
_STYLES = {
    ExitCode.CLEAN: "bold green",
    ExitCode.FINDINGS: "bold red",
    ExitCode.UNKNOWN: "bold yellow",
    ExitCode.REFUSED: "bold red",
}


def run_page(batch: Batch, judgement: Judgement, code: int) -> RenderableType:
    """Return the page of one run."""
    counts = batch_counts(batch)
    summary = (
        f"{counts['records']} declared numbers: {counts['match']} match, "
        f"{counts['mismatch']} mismatch, {counts['unverifiable']} cannot be verified"
    )
    parts: list[RenderableType] = []
    parts += _mismatches(batch)
    parts += _unknowns(batch)
    parts += _checks(batch)
    if judgement.is_blocked:
        false = ", ".join(name for name, claim in judgement.validation.items() if not claim)
        parts.append(Text(f"The guardian blocks this batch: {false}", style="bold red"))
    parts.append(Text(f"{summary}  (exit {code})", style=_STYLES.get(code, "bold")))
    return Group(*parts)


def proof_page(proofs: Sequence[MutationProof]) -> RenderableType:
    """Return the page of mutation proofs, by check id."""
    table = _table("check", ">records", ">noticed when shifted", "moves with components", "can fail")
    ordered = sorted(proofs, key=lambda proof: proof.check_id)
    for proof in ordered:
        words = ("yes" if holds else "no" for holds in (proof.components_moved, proof.can_fail))
        table.add_row(_cell(proof.check_id), str(proof.records), str(proof.declared_flipped), *words)
    survivors = [Text(_survived(proof), style="bold red") for proof in ordered if not proof.can_fail]
    summary = (
        f"{len(ordered)} checks, {len(ordered) - len(survivors)} killed every mutant, {len(survivors)} cannot fail"
    )
    return Group(table, "", *survivors, Text(summary, style="bold red" if survivors else "bold green"))


def list_page(document: Mapping[str, Any]) -> RenderableType:
    """Return the built-in checks of ``govern/crosscheck-list/v1``, and the declared fields that have none."""
    checks = _table("format", "declared", "parts", "type", "evidence")
    for check in document["checks"]:
        kind = f"{check['data_type']}, {check['unit']}"
        checks.add_row(*map(_cell, (check["format"], check["field"], check["formula"], kind, check["evidence"])))
    excuses = _table("format", "declared", "why there is no check")
    for excuse in document["not_checkable"]:
        excuses.add_row(*map(_cell, (excuse["format"], excuse["field"], excuse["reason"])))
    return Group(checks, Text(""), excuses)


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
    count = batch_counts(batch)[RecordStatus.MISMATCH.value]
    if not count:
        return []
    found = [r for check_id in sorted(batch.records) for r in first_mismatches(batch.records[check_id], MAX_ROWS)]
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
    return [Text(f"Declared and computed differ ({count})", style="bold"), table, *_more(count), ""]


def _unknowns(batch: Batch) -> list[RenderableType]:
    reasons = Counter({(at, reason): n for at in batch.records for reason, n in reasons_of(batch.records[at]).items()})
    if not reasons:
        return []
    table = _table("check", "reason", ">records")
    for (check_id, reason), count in sorted(reasons.items()):
        table.add_row(_cell(check_id), reason, str(count))
    return [Text(f"Cannot be verified ({reasons.total()})", style="bold"), table, ""]


def _checks(batch: Batch) -> list[RenderableType]:
    table = _table("check", "formula", ">records", ">match", ">mismatch", ">unverifiable")
    for check in sorted(batch.check_set.checks, key=lambda check: check.id):
        counts = counts_of(batch.records[check.id])
        table.add_row(_cell(check.id), _cell(check.formula.text), *(str(count) for count in counts.values()))
    lines = [
        f"Check {check_id} looked at nothing: no record."
        for check_id, found in batch.records.items()
        if not counts_of(found)["records"]
    ]
    lines += [_survived(proof) for _, proof in sorted(batch.proofs.items()) if not proof.can_fail]
    lines += [
        f"Source {excerpt(name, 60)}: {account.quarantined} of {account.rows} rows could not be used."
        for name, account in sorted(batch.accounts.items())
        if account.quarantined
    ]
    return [Text("Checks", style="bold"), table, *(Text(line, style="yellow") for line in lines), ""]


def _survived(proof: MutationProof) -> str:
    shifted = f"{proof.declared_flipped} of {proof.records} shifted declared values were noticed"
    moved = "moved" if proof.components_moved else "did not move"
    return f"{CANNOT_FAIL} {excerpt(proof.check_id, 80)}: {shifted}; the computed number {moved} with its components."


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        table.add_column(column.lstrip(">"), justify="right" if column.startswith(">") else "left", overflow="fold")
    return table


def _cell(text: str | None) -> Text:
    return Text("unknown" if text is None else excerpt(text, _CELL_CHARACTERS))


def _more(count: int) -> list[RenderableType]:
    return [Text(f"… and {count - MAX_ROWS} more in the report (--out, --json)")] if count > MAX_ROWS else []
