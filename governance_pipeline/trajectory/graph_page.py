"""What a person sees of a `govern/graph/v1` document on a terminal (rich).

What belongs here: layout. What does not: any number. Node ids come from repositories: they are escaped and never parsed
as markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.console import Group
from rich.table import Table
from rich.text import Text

from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trajectory.graph_reasons import GRAPH_REASONS_IN_WORDS, GraphReason
from governance_pipeline.trajectory.wording import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

_COLUMNS: Final = ("step", "Y", "D", "C", "out of reach", "nodes", "not in graph")
_NOTE: Final = "D counts hops to the objective, C is a mean percentile of PageRank. Neither is a risk or a probability."
_ID_CHARACTERS: Final = 80

NAMES_SHOWN: Final = 6
"""Nodes named in a remark; the rest is counted."""


def graph_page(document: Mapping[str, Any]) -> RenderableType:
    """Lay out the document: one row per step, and in words what is unknown and what the graph lacks."""
    way = "along edges" if document["directed"] else "either way"
    found, lost = document["objective_in_graph"], document["objective_not_in_graph"]
    heading = (
        f"{document['nodes']} nodes, {document['edges']} edges, distance {way}; "
        f"objective set: {found} in the graph, {lost} not"
    )
    remarks = [remark for step in document["steps"] for remark in _remarks(step)]
    return Group(Text(heading, style="bold"), _steps(document), *remarks, Text(_NOTE, style="dim"))


def _steps(document: Mapping[str, Any]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in _COLUMNS:
        table.add_column(column, justify="right")
    for step in document["steps"]:
        values = (step["Y"], step["D"], step["C"], step["unreachable_weight_share"])
        table.add_row(str(step["step"]), *map(_cell, values), str(len(step["nodes"])), str(len(step["not_in_graph"])))
    return table


def _remarks(step: Mapping[str, Any]) -> list[Text]:
    remarks = [
        Text(f"step {step['step']}: {term} unknown: {GRAPH_REASONS_IN_WORDS[GraphReason(reason)]}", style="yellow")
        for term, reason in step["unknown"].items()
    ]
    lost = step["not_in_graph"]
    if lost:
        names = ", ".join(excerpt(id_, _ID_CHARACTERS) for id_ in lost[:NAMES_SHOWN])
        more = f" and {len(lost) - NAMES_SHOWN} more" if len(lost) > NAMES_SHOWN else ""
        remarks.append(Text(f"step {step['step']}: not in the graph: {names}{more}", style="yellow"))
    return remarks


def _cell(value: float | None) -> Text:
    return Text("?", style="yellow") if value is None else Text(number(value))
