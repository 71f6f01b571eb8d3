"""A verdict as Markdown that a code host shows: for a comment on a pull request.

What belongs here: the page. What does not: finding anything. Every text of a round stands in a code span, where no
link, image, HTML, mention or issue number is made of it; the span is fenced by more backticks than it holds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Document = Mapping[str, Any]

MAX_ROWS: Final = 50
"""Rows of one table; the rest is counted and stands in the document."""
_WORST_FIRST: Final = ("block", "unknown", "pause", "warn", "proposal", "record", "dismissed")
_TEXT_CHARACTERS: Final = 300
_BACKTICKS: Final = re.compile("`+")


def verdict_markdown(document: Document) -> str:
    """Give a `govern/verdict/v1` document as a Markdown page, with a final line feed."""
    contract = document["contract"]
    fault = f" ({code(contract['fault'])})" if contract["fault"] else ""
    lines = [
        f"## Verdict of {code(document['round_id'])}: **{document['status']}**",
        "",
        f"Mode {document['mode']}, contract {contract['state']}{fault}. It speaks of the checks that ran, no more.",
    ]
    if document["requires_justification"]:
        lines += ["", "**A person must justify this round before it goes on.**"]
    lines += _findings("New findings", document["new_findings"])
    lines += _findings("Known from the parent round", document["known_findings"])
    lines += _criteria(document["criteria"])
    lines += _impact(document["impact"])
    lines += _checks(document)
    policy = document["policy"]
    return "\n".join(
        [
            *lines,
            "",
            f"Policy {code(policy['version'])} {code(policy['digest'])}, inputs {code(document['inputs_digest'])}.",
            f"Reproduce: {code(document['reproduce'])}",
            "",
        ]
    )


def code(value: object) -> str:
    """Give a value as a code span; unknown and empty are words of ours."""
    if value is None:
        return "unknown"
    text = excerpt(str(value), _TEXT_CHARACTERS)
    if not text.strip():
        return "(blank)" if text else "(empty)"
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _findings(title: str, findings: Sequence[Document]) -> list[str]:
    if not findings:
        return []
    ordered = sorted(findings, key=lambda finding: _WORST_FIRST.index(finding["decision"]))
    rows = (
        [f"**{one['decision']}**", one["code"], code(one["message"]) + _dismissed(one), _where(one["evidence"]),
         code(one["finding_id"][:12])]
        for one in ordered[:MAX_ROWS]
    )  # fmt: skip
    heads = ("decision", "code", "what", "where", "finding")
    return ["", f"### {title}: {len(findings)}", "", *_table(heads, rows), *_more(findings)]


def _dismissed(finding: Document) -> str:
    dismissed = finding["dismissed"]
    return "" if dismissed is None else f"<br>dismissed by {code(dismissed['by'])}: {code(dismissed['reason'])}"


def _criteria(criteria: Sequence[Document]) -> list[str]:
    if not criteria:
        return []
    rows = (
        [code(row["criterion_id"]), _said(row["required"]), row["state"],
         "none" if row["check"] is None else code(row["check"]), _said(row["check_was_seen"])]
        for row in criteria[:MAX_ROWS]
    )  # fmt: skip
    heads = ("criterion", "required", "state", "check", "seen in the logs")
    return ["", f"### Criteria: {len(criteria)}", "", *_table(heads, rows), *_more(criteria)]


def _impact(units: Sequence[Document]) -> list[str]:
    """The touched units: how far each reaches before and after, and which signals it raises."""
    if not units:
        return []
    rows = (
        [code(row["unit"]), _reach(row["baseline"]), _reach(row["candidate"]),
         ", ".join(name for name, value in row["signals"].items() if value) or "none"]
        for row in units[:MAX_ROWS]
    )  # fmt: skip
    heads = ("touched unit", "impact before", "impact after", "signals")
    return ["", f"### Impact: {len(units)}", "", *_table(heads, rows), *_more(units)]


def _reach(side: Document | None) -> str:
    return "not there" if side is None else code(side["impact_count"])


def _checks(document: Document) -> list[str]:
    verified = ", ".join(f"{row['count']} x {code(row['id'])}" for row in document["checks_run"]) or "nothing"
    skipped = document["checks_skipped"]
    lines = ["", "### Checks", "", f"Verified: {verified}"]
    if skipped:
        lines += ["", "Left out:", "", *(f"- {code(row['id'])}: {row['reason']}" for row in skipped[:MAX_ROWS])]
    silent = [row for row in document["unknowns"] if row["finding_id"] is None]
    if silent:
        lines += ["", "Unknown, and not deciding:", ""]
        lines += [f"- {row['reason']}: {code(row['about'])}" for row in silent[:MAX_ROWS]]
    return [*lines, *_more(skipped), *_more(silent)]


def _where(evidence: Document | None) -> str:
    if evidence is None:
        return "-"
    line = "" if evidence["line"] is None else f":{evidence['line']}"
    return code(f"{evidence['path']}{line}{evidence['pointer'] or ''}")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [_row(heads), _row(["---"] * len(heads)), *map(_row, rows)]


def _row(cells: Sequence[str]) -> str:
    shown = (cell.replace("|", "\\|") for cell in cells)  # else a bar of a log would begin another cell
    return f"| {' | '.join(shown)} |"


def _said(value: bool | None) -> str:
    return "unknown" if value is None else "yes" if value else "no"


def _more(rows: Sequence[object]) -> list[str]:
    return ["", f"And {len(rows) - MAX_ROWS} more in the document."] if len(rows) > MAX_ROWS else []
