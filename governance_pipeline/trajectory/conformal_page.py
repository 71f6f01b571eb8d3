"""What a person sees of conformal p-values on a terminal (rich): one table, and how to read it.

What belongs here: layout and words. What does not: any number. Names come from a file: they are escaped and never
parsed as markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.console import Group
from rich.table import Table
from rich.text import Text

from governance_pipeline.strict.excerpt import escape_unprintable
from governance_pipeline.trajectory.conformal import ConformalReason
from governance_pipeline.trajectory.wording import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

_NOTE: Final = (
    "p: how extreme a round is among the comparable rounds before it; never a probability of being wrong. "
    "adjusted: after Benjamini-Hochberg over the batch."
)
_COLUMNS: Final = ("value", "n", "median", "mad", "robust_z", "p", "p_adjusted")

IN_WORDS: Final = {
    ConformalReason.NO_COHORT: "no cohort: neither declared nor project, task kind and language all known",
    ConformalReason.NO_TIME: "the end of the round is unknown, so nothing is known to be earlier",
    ConformalReason.VALUE_UNKNOWN: "its value is unknown",
    ConformalReason.TOO_FEW: "too few earlier rounds to reach the level",
    ConformalReason.MAD_ZERO: "no feature of the vector varies",
    ConformalReason.EXCHANGEABILITY_SUSPECT: "the cohort drifts, so p can raise nothing",
}


def conformal_page(document: Mapping[str, Any]) -> RenderableType:
    """Lay out a `govern/conformal/v1` document."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("round", "feature"):
        table.add_column(name, overflow="fold")
    for name in _COLUMNS:
        table.add_column(name.replace("_", " "), justify="right")
    table.add_column("result", overflow="fold")
    for result in document["results"]:
        names = (Text(escape_unprintable(result[name])) for name in ("round_id", "feature"))
        table.add_row(*names, *(_cell(result[name]) for name in _COLUMNS), _outcome(result))
    level, bound = number(document["alpha"]), number(document["martingale_bound"])
    about = f"level {level}, batch of {document['batch']}, a cohort is suspect from a martingale of {bound}"
    return Group(table, Text(about, style="dim"), Text(_NOTE, style="dim"))


def _outcome(result: Mapping[str, Any]) -> Text:
    if result["reason"] is not None:
        reason = ConformalReason(result["reason"])
        return Text(f"{'unknown' if result['p'] is None else 'not judged'}: {IN_WORDS[reason]}", style="yellow")
    return Text("extreme", style="red") if result["is_extreme"] else Text("not extreme")


def _cell(value: float | None) -> Text:
    return Text("?", style="yellow") if value is None else Text(number(value))
