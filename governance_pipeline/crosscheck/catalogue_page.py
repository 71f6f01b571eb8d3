"""The built-in checks for people and programs: the list, and the page `docs/checks.md`.

What belongs here: laying the catalogue out. What does not: the checks (catalogue) and running them (builtin).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.crosscheck.catalogue import ANY_FIELD, catalogue
from governance_pipeline.crosscheck.check import NoComponents
from governance_pipeline.rounds.change_checks import CHANGE_CHECKS
from governance_pipeline.rounds.change_checks import FORMAT as CHANGES_FORMAT

if TYPE_CHECKING:
    from governance_pipeline.crosscheck.catalogue import CatalogueEntry
    from governance_pipeline.rounds.change_checks import ChangeCheck

LIST_SCHEMA: Final = "govern/crosscheck-list/v1"
UNSURE: Final = ("assumed", "to_be_confirmed")
"""Evidence that every page of a record must name: the meaning of the declared number is not established."""

_OPENING: Final = """\
# Built-in checks

Generated from the catalogue (`govern crosscheck list --markdown`); a test holds it equal.

A check compares one declared field of a log format with what its parts add up to. *Evidence* says how sure the meaning
of the declared field is: `documented`, read from `code` or `configuration`, `inferred` from logs, `assumed`, or
`to_be_confirmed`; a record that rests on the last two says so wherever it is shown.
"""


def list_document(format_name: str | None = None) -> dict[str, Any]:
    """Return ``govern/crosscheck-list/v1``: the checks, and the declared fields that have none, with the reason.

    Args:
        format_name: only of this log format; None means all.
    """
    shipped = catalogue()
    entries = [entry for entry in shipped.entries if format_name in (None, entry.format)]
    changes = CHANGE_CHECKS.values() if format_name in (None, CHANGES_FORMAT) else ()
    excuses = [item for item in shipped.not_checkable.items() if format_name in (None, item[0][0])]
    return {
        "schema": LIST_SCHEMA,
        "checks": [
            *(_entry(entry, shipped.versions[entry.format]) for entry in entries),
            *(_change(check, shipped.versions[CHANGES_FORMAT]) for check in changes),
        ],
        "not_checkable": [{"format": name, "field": field, "reason": reason} for (name, field), reason in excuses],
    }


def markdown() -> str:
    """Return the page of all built-in checks, one section per log format."""
    document = list_document()
    formats = sorted({item["format"] for item in (*document["checks"], *document["not_checkable"])})
    parts = [_OPENING, f"{len(document['checks'])} checks of {len(formats)} formats.\n"]
    for name in formats:
        checks = [check for check in document["checks"] if check["format"] == name]
        excuses = [excuse for excuse in document["not_checkable"] if excuse["format"] == name]
        parts.append(_section(name, catalogue().versions[name], checks, excuses))
    return "\n".join(parts)


def _entry(entry: CatalogueEntry, versions: str) -> dict[str, Any]:
    check = entry.check
    return {
        "check_id": check.id,
        "format": entry.format,
        "versions": versions,
        "field": check.field,
        "data_type": str(check.data_type),
        "unit": check.unit,
        "formula": check.formula.text,
        "epsilon_reason": check.epsilon_reason,
        "no_components": str(check.no_components),
        "escalate_to": check.escalate_to,
        "evidence": entry.evidence,
        "semantics": entry.semantics,
    }


def _change(check: ChangeCheck, versions: str) -> dict[str, Any]:
    """A number of a change event: compared with the files of its own line, by the trajectory."""
    names = ("check_id", "field", "unit", "formula", "epsilon_reason", "escalate_to", "evidence", "semantics")
    return {
        **{name: getattr(check, name) for name in names},
        "format": CHANGES_FORMAT,
        "versions": versions,
        "data_type": str(check.data_type),
        "no_components": str(NoComponents.UNVERIFIABLE),
    }


def _section(name: str, versions: str, checks: list[dict[str, Any]], excuses: list[dict[str, Any]]) -> str:
    lines = [f"## {name}", "", f"Versions: {versions}.", ""]
    if checks:
        lines += [
            "| check | declared | parts | type | evidence | where the meaning comes from |",
            "|---|---|---|---|---|---|",
        ]
        lines += map(_line, checks)
        lines.append("")
    if excuses:
        lines += ["Declared, but without parts:", ""]
        lines += [f"- {_field(excuse['field'])}: {excuse['reason']}" for excuse in excuses]
        lines.append("")
    return "\n".join(lines)


def _line(check: dict[str, Any]) -> str:
    names = " | ".join(f"`{check[name]}`" for name in ("check_id", "field", "formula"))
    kind = f"{check['data_type']}, {check['unit']}"
    return f"| {names} | {kind} | {_evidence(check['evidence'])} | {_cell(check['semantics'])} |"


def _evidence(tag: str) -> str:
    return f"**{tag}**" if tag in UNSURE else tag


def _field(name: str) -> str:
    return "every other field" if name == ANY_FIELD else f"`{name}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
