"""What a person sees of the baselines of cohorts on a terminal (rich): the newest of each, and what was left and why.

What belongs here: layout and words. What does not: any number. Names come from contracts: they are escaped and never
parsed as markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from governance_pipeline.strict.excerpt import escape_unprintable
from governance_pipeline.trajectory.abandoned_chains import ABANDONED_IN_WORDS, AbandonedReason
from governance_pipeline.trajectory.wording import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

_ID_CHARACTERS: Final = 12
_SHOWN: Final = 8
"""Baselines, chains and round ids shown; --json has them all."""

_NUMBERS: Final = ("median", "mad", "q05", "q25", "q75", "q95")
_NOTE: Final = (
    "A baseline is named by what it is made of and never edited; a round is compared with the rounds of its cohort "
    "that ended strictly before it."
)
_ROUND_IN_WORDS: Final = {
    "no_cohort": "it has no cohort: neither declared nor project, task kind and language all known",
    "no_time": "the end of the round is unknown, so nothing is known to be earlier",
    "no_reference": "no round of its cohort ended before it",
}


def cohort_page(document: Mapping[str, Any]) -> RenderableType:
    """Lay out a `govern/cohort-baselines/v1` document."""
    parts: list[RenderableType] = []
    if document["stale_reason"] is not None:
        parts.append(Text(f"not of this moment: {document['stale_reason']}", style="yellow"))
    if document["round"] is not None:
        parts.append(_round(document["round"]))
    for cohort in document["cohorts"]:
        parts += _cohort(cohort)
    parts += _abandoned(document["abandoned"])
    if document["unreadable_versions"]:
        parts.append(
            Text(f"{document['unreadable_versions']} earlier versions of the table cannot be read", style="yellow")
        )
    return Group(*parts, Text(_NOTE, style="dim"))


def _round(about: Mapping[str, Any]) -> Text:
    if about["reason"] is not None:
        return Text(f"{about['round_id']} is compared with nothing: {_ROUND_IN_WORDS[about['reason']]}", style="yellow")
    return Text(f"{about['round_id']}, ended {about['ended_at']}, is compared with baseline {about['baseline_id']}")


def _cohort(cohort: Mapping[str, Any]) -> Iterator[RenderableType]:
    chain = cohort["baselines"]
    yield Text(f"{_name(cohort)}  {cohort['rounds_count']} rounds, {len(chain)} baselines", style="bold")
    if cohort["drifting_features"]:
        names = ", ".join(cohort["drifting_features"])
        yield Text(f"  drifts in {names}: p-values against it raise nothing", style="yellow")
    yield Padding(_newest(chain[-1]), (0, 0, 0, 2), expand=False)
    for baseline in chain[: -_SHOWN - 1 : -1]:
        before = f"supersedes {_short(baseline['supersedes'])}" if baseline["supersedes"] else "the first"
        added = f"{baseline['reason']}: {_some(baseline['added_round_ids'])}"
        yield Text(f"  {_short(baseline['baseline_id'])}  until {baseline['until_at']}  {before}, {added}")
    if len(chain) > _SHOWN:
        yield Text(f"  and {len(chain) - _SHOWN} earlier ones", style="dim")


def _newest(baseline: Mapping[str, Any]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("feature")
    for name in ("known", *_NUMBERS, "ln M"):
        table.add_column(name, justify="right")
    for of in baseline["features"]:
        values = [*(of[name] for name in _NUMBERS), of["log_martingale_max"]]
        known = f"{of['known_count']} of {of['known_count'] + of['unknown_count']}"
        table.add_row(of["feature"], known, *("?" if value is None else number(value) for value in values))
    return table


def _abandoned(chains: Sequence[Mapping[str, Any]]) -> Iterator[Text]:
    for chain in chains[:_SHOWN]:
        count = len(chain["baseline_ids"])
        now = _short(chain["superseded_by"]) if chain["superseded_by"] else "none so early"
        yield Text(
            f"left: {count} {'baseline' if count == 1 else 'baselines'} of {_name(chain)} until "
            f"{chain['last_until_at']} ({_short(chain['baseline_ids'][-1])}), now {now}: "
            f"{ABANDONED_IN_WORDS[AbandonedReason(chain['reason'])]}"
            f"{_listed('came', chain['rounds_came'])}{_listed('left', chain['rounds_left'])}"
        )
    if len(chains) > _SHOWN:
        yield Text(f"and {len(chains) - _SHOWN} more chains that were left", style="dim")


def _listed(verb: str, names: Sequence[str]) -> str:
    return f"; {verb}: {_some(names)}" if names else ""


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return escape_unprintable(", ".join(names[:_SHOWN])) + more


def _name(cohort: Mapping[str, Any]) -> str:
    version = "" if cohort["baseline_version"] is None else f" (version {cohort['baseline_version']})"
    return escape_unprintable(" / ".join(cohort["cohort"]) + version)


def _short(baseline_id: str) -> str:
    return baseline_id[:_ID_CHARACTERS]
