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
from governance_pipeline.report.case_page import by_record, explained_line
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

MAX_ROWS = 30
CELL_CHARACTERS = 60
REASON_CHARACTERS = 120
STYLES = {"verdict_clean": "bold green", "verdict_findings": "bold red", "verdict_blocked": "bold red"}


def audit_page(document: dict[str, Any], words: dict[str, str], verdict: summary.Verdict) -> RenderableType:
    """Return the whole page as one rich renderable."""
    counts = document["counts"]
    head = words["summary"].format(rounds=counts["rounds"], files=len(document["files"]), declared=counts["declared"])
    parts: list[RenderableType] = [Text(head, style="bold")]
    parts += _mismatches(document, words)
    parts += _hashes(document, words)
    parts += _findings(document, words)
    parts += _unverifiable(document, words)
    parts += _coverage(document, words)
    parts += _not_used(document, words)
    parts += _contracts(document, words)
    parts += _proof(document, words)
    line = words[verdict.text_key].format(**summary.verdict_values(document))
    style = STYLES.get(verdict.text_key, "bold yellow")
    parts += ["", Text(f"{line}  ({words['exit'].format(code=verdict.exit_code)})", style=style)]
    return Group(*parts)


def _proof(document: dict[str, Any], words: dict[str, str]) -> list[RenderableType]:
    proof, faulty = document.get("proof"), summary.cannot_fail(document)
    if proof is None:
        return []
    line = words["proof"].format(checks=proof["checks"], faulty=len(faulty), digest=proof["catalogue_sha256"])
    named = excerpt(", ".join(faulty), REASON_CHARACTERS)
    return ["", Text(f"{line}: {named}", style="bold red") if faulty else Text(line, style="dim")]


def _mismatches(document: dict[str, Any], words: dict[str, str]) -> list[RenderableType]:
    rows = summary.mismatches(document)
    if not rows:
        return [Text(words["no_mismatch"])] if document["counts"]["match"] else []
    table = _table(words, "round", "subject", "field", ">declared", ">computed", ">delta", "where")
    explanations = by_record(document["explanations"])
    for r in rows[:MAX_ROWS]:
        values = (r["round_id"], r["subject_id"], r["field"], r["declared"], r["computed"], r["delta"])
        told = explained_line(explanations.get((r["round_id"], r["record_id"]), []), words)
        below = Text(f"\n  {excerpt(told, REASON_CHARACTERS)}", style="dim") if told else Text()
        table.add_row(*(_cell(value) for value in values), Text.assemble(_cell(_where(r)), below))
    return [_heading(words["mismatches"], len(rows)), Text(words["mismatches_note"], style="dim"), table,
            *_more(rows, words)]  # fmt: skip


def _hashes(document: dict[str, Any], words: dict[str, str]) -> list[RenderableType]:
    rows = summary.false_hashes(document)
    if not rows:
        return []
    table = _table(words, "round", "subject", "step", "declared", "computed")
    for r in rows[:MAX_ROWS]:
        values = (r["round_id"], r["run_id"], r["step_index"], r["declared_hash"], r["computed_hash"])
        table.add_row(*(_cell(value, 24) for value in values))
    return [_heading(words["hashes"], len(rows)), table, *_more(rows, words)]


def _findings(document: dict[str, Any], words: dict[str, str]) -> list[RenderableType]:
    rows = summary.findings(document)
    if not rows:
        return []
    table = _table(words, "round", "decision", "check", "message")
    for round_id, f in rows[:MAX_ROWS]:
        table.add_row(_cell(round_id), f["decision"], f["code"], _cell(f["message"], 200))
    return [_heading(words["findings"], len(rows)), table, *_more(rows, words)]


def _unverifiable(document: dict[str, Any], words: dict[str, str]) -> list[RenderableType]:
    note = Text(words["unverifiable_note"], style="dim")
    parts: list[RenderableType] = []
    if rows := summary.unverifiable(document):
        parts += [_heading(words["unverifiable"], sum(n for *_, n in rows)), note,
                  _counted(words, ("check", "reason"), rows), *_more(rows, words)]  # fmt: skip
    if hashes := summary.unknown_hashes(document):
        parts += [_heading(words["unknown_hashes"], sum(n for *_, n in hashes)), note,
                  _counted(words, ("reason",), hashes)]  # fmt: skip
    if listed := summary.not_checkable(document):
        parts += [_heading(words["not_checkable"], sum(n for *_, n in listed)),
                  _counted(words, ("format", "field", "reason"), listed), *_more(listed, words)]  # fmt: skip
    return parts


def _coverage(document: dict[str, Any], words: dict[str, str]) -> list[RenderableType]:
    heads = ("format", ">files", ">records", ">accepted", ">quarantined", ">blank", ">duplicates", ">match",
             ">mismatch", ">unknown")  # fmt: skip
    table = _table(words, *heads)
    for row in summary.coverage(document):
        table.add_row(*(_cell(value) for value in row))
    return [_heading(words["coverage"]), Text(words["coverage_note"], style="dim"), table]


def _not_used(document: dict[str, Any], words: dict[str, str]) -> list[RenderableType]:
    files = summary.not_used(document)
    if not files:
        return []
    table = _table(words, "round", "path", "reason", ">quarantined")
    for file, reasons in files[:MAX_ROWS]:
        table.add_row(*(_cell(value) for value in (file["round_id"], file["path"], reasons, file["quarantined"])))
    return [_heading(words["not_used"], len(files)), table, *_more(files, words)]


def _contracts(document: dict[str, Any], words: dict[str, str]) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if invalid := summary.invalid_contracts(document):
        table = _table(words, "round", "fault")
        for round_id, fault in invalid[:MAX_ROWS]:
            table.add_row(_cell(round_id), _cell(fault, REASON_CHARACTERS))
        parts += [_heading(words["bad_contract"], len(invalid)), table, *_more(invalid, words)]
    absent, total = document["counts"]["rounds_without_contract"], document["counts"]["rounds"]
    if absent:
        parts += ["", Text(words["no_contract"].format(n=absent, total=total), style="dim")]
    return parts


def _counted(words: dict[str, str], heads: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> Table:
    """A table of texts with how often each row of them occurs."""
    table = _table(words, *heads, ">count")
    for row in rows[:MAX_ROWS]:
        cells = zip((*heads, "count"), row, strict=True)
        table.add_row(
            *(_cell(value, REASON_CHARACTERS if head == "reason" else CELL_CHARACTERS) for head, value in cells)
        )
    return table


def _table(words: dict[str, str], *heads: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for head in heads:
        table.add_column(words[head.lstrip(">")], justify="right" if head.startswith(">") else "left", overflow="fold")
    return table


def _heading(text: str, n: int | None = None) -> RenderableType:
    return Padding(Text(text if n is None else f"{text}: {n}", style="bold underline"), (1, 0, 0, 0))


def _more(rows: Sequence[Any], words: dict[str, str]) -> list[RenderableType]:
    return [Text(words["and_more"].format(n=len(rows) - MAX_ROWS), style="dim")] if len(rows) > MAX_ROWS else []


def _cell(value: object, length: int = CELL_CHARACTERS) -> Text:
    return Text("-" if value is None else excerpt(str(value), length))


def _where(record: dict[str, Any]) -> str:
    pointer = record["declared_pointer"]
    place = f":{pointer['line']}" if pointer["line"] else f" {pointer['pointer']}"
    return f"{record['declared_path']}{place}"
