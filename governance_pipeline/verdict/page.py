"""Terminal pages of a verdict (rich): what blocks first, then what is unknown, then what was verified.

What belongs here: what a person sees. What does not: the documents. Text of rounds is hostile: it is escaped and cut
before it reaches the terminal, and never parsed as markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.console import Group
from rich.table import Table
from rich.text import Text

from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from governance_pipeline.verdict.controls import ControlResult

    Document = Mapping[str, Any]

MAX_ROWS: Final = 30
"""Findings or checks listed one by one; the rest is counted and stands in the document."""

_STYLES: Final = {
    "block": "bold red",
    "unknown": "bold yellow",
    "warn": "yellow",
    "pause": "yellow",
    "pass": "bold green",
}
_WORST_FIRST: Final = ("block", "unknown", "pause", "warn", "proposal", "record", "dismissed")


def verdict_page(document: Document) -> RenderableType:
    """Return the page of one `govern/verdict/v1` document."""
    contract = document["contract"]
    head = f"{document['round_id']}: {document['status']}"
    parts: list[RenderableType] = [Text(head, style=_STYLES[document["status"]])]
    fault = f" ({excerpt(contract['fault'])})" if contract["fault"] else ""
    parts.append(Text(f"mode {document['mode']}, contract {contract['state']}{fault}", style="dim"))
    if document["requires_justification"]:
        parts.append(Text("A person must justify this round before it goes on.", style="bold"))
    parts += _findings("New findings", document["new_findings"])
    parts += _findings("Known from the parent round", document["known_findings"])
    parts += _criteria(document["criteria"])
    parts += _impact(document["impact"])
    parts += _checks(document)
    parts += [Text(f"not deciding: {row['reason']}: {excerpt(row['about'])}", style="dim")
              for row in document["unknowns"] if row["finding_id"] is None]  # fmt: skip
    policy = document["policy"]
    parts.append(
        Text(f"policy {policy['version']} {policy['digest']}, inputs {document['inputs_digest']}", style="dim")
    )
    parts.append(Text(f"reproduce: {document['reproduce']}", style="dim"))
    return Group(*parts)


def decision_page(document: Document) -> RenderableType:
    """Return the page of one `govern/decision/v1` document."""
    table = _table("id", "class", "code", "decision", "reason")
    for row in document["findings"][:MAX_ROWS]:
        table.add_row(*(_cell(row[name]) for name in ("id", "class", "code", "decision", "reason")))
    line = f"{document['status']}" + (", justification required" if document["requires_justification"] else "")
    parts: list[RenderableType] = [Text(line, style=_STYLES[document["status"]])]
    if document["findings"]:
        parts += [table, *_more(document["findings"])]
    goal = document["goal_substitution"]
    if goal is not None:
        parts.append(Text("goal substitution: " + ", ".join(f"{name} {_said(goal[name])}" for name in goal)))
    return Group(*parts, Text(f"policy {document['policy_digest']}", style="dim"))


def finding_page(round_id: str, entry: Document, *, is_reproduced: bool) -> RenderableType:
    """Return the page of one finding that was looked for again."""
    said = "found again" if is_reproduced else "not found again: its inputs are no longer those it was found in"
    parts: list[RenderableType] = [
        Text(f"{round_id}: {entry['code']} ({entry['class']}): {said}", style=_STYLES.get(entry["decision"], "bold")),
        Text(", ".join(f"{name} {entry[name]}" for name in ("decision", "severity", "reason") if entry[name])),
        Text(excerpt(entry["message"], 400)),
    ]
    if entry["evidence"] is not None:
        parts.append(Text(f"evidence {_where(entry['evidence'])} sha256 {entry['evidence']['file_sha256']}"))
    if entry["dismissed"] is not None:
        parts.append(Text(excerpt(_dismissed(entry).strip(), 400)))
    parts += [Text(f"  {name}: {excerpt(_said(value))}") for name, value in entry["factors"].items()]
    return Group(*parts)


def selftest_page(results: Sequence[ControlResult]) -> RenderableType:
    """Return the page of a self-test: one row per detector and control."""
    table = _table("detector", "control", "result")
    for result in results:
        table.add_row(result.code, result.control, "ok" if result.is_as_expected else "FAILED")
    failed = sum(not result.is_as_expected for result in results)
    line = f"{len(results)} controls, {failed} failed"
    return Group(table, Text(line, style=_STYLES["block" if failed else "pass"]))


def _findings(title: str, entries: Sequence[Document]) -> list[RenderableType]:
    if not entries:
        return []
    table = _table("decision", "code", "what", "where", "finding")
    ordered = sorted(entries, key=lambda entry: _WORST_FIRST.index(entry["decision"]))
    for entry in ordered[:MAX_ROWS]:
        decision = Text(entry["decision"], style=_STYLES.get(entry["decision"], ""))
        where = "-" if entry["evidence"] is None else _where(entry["evidence"])
        what = _cell(f"{entry['message']}{_dismissed(entry)}", 400)
        table.add_row(decision, entry["code"], what, where, entry["finding_id"][:12])
    return [Text(f"\n{title}: {len(entries)}", style="bold underline"), table, *_more(entries)]


def _dismissed(entry: Document) -> str:
    dismissed = entry["dismissed"]
    if dismissed is None:
        return ""
    until = "" if dismissed["until"] is None else f" until {dismissed['until']}"
    return f" (dismissed by {dismissed['by']}{until}, would be {dismissed['decision']}: {dismissed['reason']})"


def _criteria(criteria: Sequence[Document]) -> list[RenderableType]:
    if not criteria:
        return []
    table = _table("criterion", "required", "state", "check", "seen in the logs")
    for row in criteria[:MAX_ROWS]:
        values = (row["criterion_id"], row["required"], row["state"], row["check"], row["check_was_seen"])
        table.add_row(*(_cell(_said(value)) for value in values))
    return [Text(f"\nCriteria: {len(criteria)}", style="bold underline"), table, *_more(criteria)]


def _impact(units: Sequence[Document]) -> list[RenderableType]:
    if not units:
        return []
    table = _table("touched unit", "impact before", "impact after", "signals")
    for row in units[:MAX_ROWS]:
        sides = (
            "not there" if side is None else _said(side["impact_count"]) for side in (row["baseline"], row["candidate"])
        )
        signals = ", ".join(name for name, value in row["signals"].items() if value) or "none"
        table.add_row(_cell(row["unit"]), *sides, signals)
    return [Text(f"\nImpact: {len(units)}", style="bold underline"), table, *_more(units)]


def _checks(document: Document) -> list[RenderableType]:
    verified = ", ".join(f"{row['count']} x {row['id']}" for row in document["checks_run"]) or "nothing"
    parts: list[RenderableType] = ["", Text(f"verified: {verified}")]
    skipped = document["checks_skipped"]
    parts += [Text(f"left out: {excerpt(row['id'])}: {row['reason']}") for row in skipped[:MAX_ROWS]]
    return [*parts, *_more(skipped)]


def _where(evidence: Document) -> str:
    line = "" if evidence["line"] is None else f":{evidence['line']}"
    return excerpt(f"{evidence['path']}{line}{evidence['pointer'] or ''}", 80)


def _said(value: object) -> str:
    if value is None:
        return "unknown"
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _cell(value: object, length: int = 80) -> Text:
    return Text("-" if value is None else excerpt(str(value), length))


def _table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for head in heads:
        table.add_column(head, overflow="fold")
    return table


def _more(rows: Sequence[object]) -> list[RenderableType]:
    return [Text(f"and {len(rows) - MAX_ROWS} more in the document", style="dim")] if len(rows) > MAX_ROWS else []
