"""The terminal page of an audit (rich): mismatches first, then what is unknown, then what was read.

Text from logs is hostile: it is escaped and cut before it reaches the terminal, and never parsed as markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from governance_pipeline.report import audit_summary as summary
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.vocabulary import ContractState

if TYPE_CHECKING:
    from rich.console import RenderableType

MAX_ROWS = 30
STYLES = {"verdict_clean": "bold green", "verdict_findings": "bold red"}


def audit_page(document: dict[str, Any], words: dict[str, str], verdict: summary.Verdict) -> RenderableType:
    """Return the whole page as one rich renderable."""
    counts = document["counts"]
    head = words["summary"].format(rounds=counts["rounds"], files=len(document["files"]), declared=counts["declared"])
    parts: list[RenderableType] = [Text(head, style="bold")]
    parts += _mismatches(document, words)
    parts += _hashes(document, words)
    parts += _unverifiable(document, words)
    parts += _coverage(document, words)
    parts += _not_used(document, words)
    parts += _contracts(document, words)
    line = words[verdict.text_key].format(**summary.verdict_values(document))
    style = STYLES.get(verdict.text_key, "bold yellow")
    parts += ["", Text(f"{line}  ({words['exit'].format(code=verdict.exit_code)})", style=style)]
    return Group(*parts)


def _mismatches(document: dict[str, Any], words: dict[str, str]) -> list[RenderableType]:
    rows = summary.mismatches(document)
    if not rows:
        return [Text(words["no_mismatch"])] if document["counts"]["match"] else []
    table = _table(words, "round", "subject", "field", ">declared", ">computed", ">delta", "where")
    for r in rows[:MAX_ROWS]:
        values = (r["round_id"], r["subject_id"], r["field"], r["declared"], r["computed"], r["delta"], _where(r))
        table.add_row(*(_cell(value) for value in values))
    return [_heading(words["mismatches"], len(rows)), Text(words["mismatches_note"], style="dim"), table,
            *_more(rows, words)]  # fmt: skip


def _hashes(document: dict[str, Any], words: dict[str, str]) -> list[RenderableType]:
    rows = [row for row in document["hashes"] if row["status"] == "mismatch"]
    if not rows:
        return []
    table = _table(words, "round", "subject", "step", "declared", "computed")
    for r in rows[:MAX_ROWS]:
        values = (r["round_id"], r["run_id"], str(r["step_index"]), r["declared_hash"], r["computed_hash"])
        table.add_row(*(_cell(value, 24) for value in values))
    return [_heading(words["hashes"], len(rows)), table, *_more(rows, words)]


def _unverifiable(document: dict[str, Any], words: dict[str, str]) -> list[RenderableType]:
    rows = summary.unverifiable(document)
    parts: list[RenderableType] = []
    if rows:
        table = _table(words, "check", "reason", ">count")
        for check, reason, n in rows[:MAX_ROWS]:
            table.add_row(check, reason, str(n))
        parts += [_heading(words["unverifiable"], sum(n for *_, n in rows)),
                  Text(words["unverifiable_note"], style="dim"), table, *_more(rows, words)]  # fmt: skip
    listed = summary.not_checkable(document)
    if listed:
        table = _table(words, "format", "field", "reason", ">count")
        for name, field, reason, n in listed[:MAX_ROWS]:
            table.add_row(name, _cell(field), _cell(reason, 100), str(n))
        parts += [_heading(words["not_checkable"], sum(n for *_, n in listed)), table, *_more(listed, words)]
    return parts


def _coverage(document: dict[str, Any], words: dict[str, str]) -> list[RenderableType]:
    heads = ("format", ">files", ">records", ">accepted", ">quarantined", ">blank", ">duplicates", ">match",
             ">mismatch", ">unknown")  # fmt: skip
    table = _table(words, *heads)
    for row in summary.coverage(document):
        table.add_row(*(str(value) for value in row))
    return [_heading(words["coverage"]), Text(words["coverage_note"], style="dim"), table]


def _not_used(document: dict[str, Any], words: dict[str, str]) -> list[RenderableType]:
    files = [f for f in document["files"] if f["reason"] or f["quarantined"]]
    if not files:
        return []
    table = _table(words, "round", "path", "reason", ">quarantined")
    for f in files[:MAX_ROWS]:
        reason = f["reason"] or document["quarantine_reasons"].get(f"{f['round_id']}/{f['path']}", "")
        table.add_row(_cell(f["round_id"]), _cell(f["path"]), reason, str(f["quarantined"]))
    return [_heading(words["not_used"], len(files)), table, *_more(files, words)]


def _contracts(document: dict[str, Any], words: dict[str, str]) -> list[RenderableType]:
    parts: list[RenderableType] = []
    invalid = [r for r in document["rounds"] if r["contract"] == ContractState.INVALID]
    if invalid:
        table = _table(words, "round", "fault")
        for r in invalid[:MAX_ROWS]:
            table.add_row(_cell(r["round_id"]), _cell(r["contract_fault"], 120))
        parts += [_heading(words["bad_contract"], len(invalid)), table, *_more(invalid, words)]
    absent, total = document["counts"]["rounds_without_contract"], document["counts"]["rounds"]
    if absent:
        parts += ["", Text(words["no_contract"].format(n=absent, total=total), style="dim")]
    return parts


def _table(words: dict[str, str], *heads: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for head in heads:
        table.add_column(words[head.lstrip(">")], justify="right" if head.startswith(">") else "left", overflow="fold")
    return table


def _heading(text: str, n: int | None = None) -> RenderableType:
    return Padding(Text(text if n is None else f"{text}: {n}", style="bold underline"), (1, 0, 0, 0))


def _more(rows: list[Any], words: dict[str, str]) -> list[RenderableType]:
    return [Text(words["and_more"].format(n=len(rows) - MAX_ROWS), style="dim")] if len(rows) > MAX_ROWS else []


def _cell(value: object, length: int = 60) -> Text:
    return Text("-" if value is None else excerpt(str(value), length))


def _where(record: dict[str, Any]) -> str:
    line = record["declared_pointer"]["line"]
    return (
        f"{record['declared_path']}:{line}"
        if line
        else f"{record['declared_path']} {record['declared_pointer']['pointer']}"
    )
