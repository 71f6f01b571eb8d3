"""What a person sees of trajectory features on a terminal (rich): tables of steps, and terms in words.

What belongs here: layout. What does not: any number or sentence. Text from logs is hostile: it is escaped and never
parsed as markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from governance_pipeline.strict.excerpt import escape_unprintable
from governance_pipeline.trajectory.reasons import IN_WORDS, AusReason, Reason
from governance_pipeline.trajectory.wording import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import RenderableType

_COLUMNS: Final = ("F", "L", "M", "P", "D", "H", "S", "E", "J")
_NOTE: Final = "S adds up mixed units: it describes, and is no risk and no probability. D is a proxy of distance."
_UNKNOWN: Final = "?"

STEPS_NAMED: Final = 8
"""Steps named in a remark; the rest is counted."""


def features_page(documents: Iterable[Mapping[str, Any]]) -> RenderableType:
    """Lay out `govern/features/v1` documents: one table of steps per round, what is unknown, and what contradicts."""
    parts: list[RenderableType] = []
    for document in documents:
        parts += [_heading(document), _steps(document), *_remarks(document), _round(document["round"]), Text()]
    return Group(*parts, Text(_NOTE, style="dim"))


def explain_page(document: Mapping[str, Any]) -> RenderableType:
    """Lay out a `govern/features-explain/v1` document: every term of every step in words."""
    parts: list[RenderableType] = [_heading(document)]
    for step in document["steps"]:
        parts += [Text(f"step {step['step']}  {_source(step['source'])}", style="bold"), _terms(step["terms"])]
        parts += [Text("  in the repository graph (version 2)", style="dim"), _terms(step["graph_terms"])]
    parts += [Text("round", style="bold"), _terms(document["round"])]
    parts += [Text("  in the repository graph (version 2)", style="dim"), _terms(document["graph_round"])]
    compared = [{**column, "term": column["column"]} for column in document["compared"]]
    parts += [Text("compared with earlier rounds of its cohort", style="bold"), _terms(compared)]
    parts.append(Text(_NOTE, style="dim"))
    return Group(*parts)


def formulas_page(document: Mapping[str, Any]) -> RenderableType:
    """Lay out a `govern/features-formulas/v1` document."""
    table = _table("term", "column", "unit", "formula", "unknown when")
    for term in document["terms"]:
        column = f"{term['table']}.{term['column']}"
        table.add_row(term["term"], column, term["unit"], term["formula"], term["unknown_when"])
    about = f"{document['feature_version']}, epsilon {number(document['epsilon'])}, code {document['code_digest']}"
    return Group(table, Text(about, style="dim"))


def _heading(document: Mapping[str, Any]) -> Text:
    rule = f", modules by {document['module_rule']}" if document.get("module_rule") else ""
    return Text(f"{document['round_id']}  contract {document['contract']}{rule}", style="bold")


def _steps(document: Mapping[str, Any]) -> Table:
    table = _table(">step", *(f">{name}" for name in _COLUMNS))
    for step in document["steps"]:
        table.add_row(str(step["step"]), *(_cell(step[name]) for name in _COLUMNS))
    return table


def _remarks(document: Mapping[str, Any]) -> list[Text]:
    unknown: dict[tuple[str, str], list[str]] = {}
    lines = []
    for step in document["steps"]:
        for reason in dict.fromkeys(step["unknown"].values()):
            terms = " ".join(term for term, why in step["unknown"].items() if why == reason)
            unknown.setdefault((terms, reason), []).append(str(step["step"]))
        for found in step["mismatches"]:
            sides = f"the event says {number(found['declared'])}, its files give {number(found['computed'])}"
            lines.append(Text(f"step {step['step']}: {found['field']}: {sides}", style="red"))
    for (terms, reason), steps in unknown.items():
        lines.append(Text(f"{terms} unknown in step {_some(steps)}: {IN_WORDS[Reason(reason)]}", style="yellow"))
    return lines


def _some(names: list[str]) -> str:
    more = f" and {len(names) - STEPS_NAMED} more" if len(names) > STEPS_NAMED else ""
    return f"{', '.join(names[:STEPS_NAMED])}{more}"


def _round(of: Mapping[str, Any]) -> Text:
    if of["AUS_round"] is None:
        aus = f"AUS unknown: {IN_WORDS[AusReason(of['aus_reason'])]} ({of['aus_known_steps']} of {of['steps']} S known)"
    else:
        aus = f"AUS {number(of['AUS_round'])} over {of['steps']} steps"
    if of["E"] is None:
        return Text(f"{aus}; E unknown: {IN_WORDS[Reason(of['e_reason'])]}")
    return Text(f"{aus}; E {number(of['E'])} ({of['proven_required']} of {of['required']} required criteria proven)")


def _source(source: Mapping[str, Any]) -> str:
    line = "" if source["line"] is None else f":{source['line']}"
    step = "" if source["run_step"] is None else f", step {source['run_step']} of run {source['run_id']}"
    more = "" if source["lines"] == 1 else f", first of {source['lines']} lines"
    return escape_unprintable(f"({source['path']}{line}{step}{more})")


def _terms(terms: Iterable[Mapping[str, Any]]) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    for term in terms:
        style = "yellow" if term["value"] is None else ""
        table.add_row(Text(term["term"]), Text(escape_unprintable(term["words"]), style=style))
    return Padding(table, (0, 0, 0, 2), expand=False)


def _cell(value: float | None) -> Text:
    return Text(_UNKNOWN, style="yellow") if value is None else Text(number(value))


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        table.add_column(column.lstrip(">"), justify="right" if column.startswith(">") else "left", overflow="fold")
    return table
