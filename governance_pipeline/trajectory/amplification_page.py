"""What a person sees of change amplification on a terminal (rich): the region, then the touched units.

What belongs here: layout and the words for reasons. What does not: any number. Ids come from outside: they are escaped
and never parsed as markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.console import Group
from rich.table import Table
from rich.text import Text

from governance_pipeline.strict.excerpt import escape_unprintable
from governance_pipeline.trajectory.amplification import Signal, SignalReason
from governance_pipeline.trajectory.wording import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

IN_WORDS: Final = {
    SignalReason.NO_BASELINE: "the unit is new in this round",
    SignalReason.NO_CANDIDATE: "the unit is gone in this round",
    SignalReason.TOO_FEW: "too few units have a known baseline to tell what an outlier is",
    SignalReason.MAD_ZERO: "more than half of the units have the same product, so nothing tells what an outlier is",
    SignalReason.FACTOR_UNKNOWN: "a frequency or an impact is unknown",
}
"""Each reason as the end of a sentence."""

_SHOWN_AS: Final = {
    Signal.TOUCHED_OUTLIER: "was an outlier before (context)",
    Signal.IMPACT_INCREASE: "impact grew materially",
    Signal.OUTLIER_CROSSING: "became an outlier",
    Signal.FREQUENCY_ONLY_CROSSING: "became one by frequency alone (reported only)",
}
_NOTE: Final = (
    "Amplification = frequency x impact surface. Passive telemetry: it describes, and blocks nothing by itself."
)
_UNKNOWN: Final = "?"


def amplification_page(document: Mapping[str, Any]) -> RenderableType:
    """Lay out a `govern/amplification/v1` document: one row per touched unit, and what is unknown with its reason."""
    touched = [unit for unit in document["units"] if unit["touched"]]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("unit", overflow="fold")
    for column in ("frequency", "impact", "amplification", "robust z"):
        table.add_column(column, justify="right", overflow="fold")
    table.add_column("signals", overflow="fold")
    for unit in touched:
        columns = ("frequency", "impact", "amplification", "robust_z")
        table.add_row(_shown(unit["id"]), *(_change(unit, column) for column in columns), _signals(unit))
    remarks = [_unknown(unit) for unit in touched if unit["unknown"]]
    rest = len(document["units"]) - len(touched)
    about = f"{len(touched)} touched units, {rest} others; {_history(document)}"
    return Group(_region(document), table, *remarks, Text(about), Text(_NOTE, style="dim"))


def _region(document: Mapping[str, Any]) -> Text:
    made_of = f"{document['reference_units']} units with a known baseline"
    if document["region_reason"] is not None:
        why = IN_WORDS[SignalReason(document["region_reason"])]
        return Text(f"outlier region unknown: {why} ({made_of})", style="yellow")
    median, mad = number(document["median"]), number(document["mad"])
    above = number(document["threshold"])
    return Text(f"outlier region: amplification above {above} (median {median}, MAD {mad}, {made_of})", style="bold")


def _history(document: Mapping[str, Any]) -> str:
    if document["commits_used"] is None:
        return "frequencies as given"
    left_out = f"{document['commits_left_out']} left out (more than {document['rule']['max_files']} files)"
    return f"{document['commits_used']} commits counted, {left_out}"


def _change(unit: Mapping[str, Any], column: str) -> Text:
    before, after = (_value(unit[side], column) for side in ("baseline", "candidate"))
    return Text(
        before if before == after else f"{before} > {after}", style="yellow" if _UNKNOWN in before + after else ""
    )


def _value(side: Mapping[str, Any] | None, column: str) -> str:
    if side is None:
        return "-"
    return _UNKNOWN if side[column] is None else number(side[column])


def _signals(unit: Mapping[str, Any]) -> Text:
    shown = [words for signal, words in _SHOWN_AS.items() if unit["signals"][signal]]
    return Text("; ".join(shown))


def _unknown(unit: Mapping[str, Any]) -> Text:
    names: dict[str, list[str]] = {}
    for signal, reason in unit["unknown"].items():
        names.setdefault(reason, []).append(signal)
    whys = [f"{' '.join(signals)} unknown: {IN_WORDS[SignalReason(reason)]}" for reason, signals in names.items()]
    return Text(f"{escape_unprintable(unit['id'])}: {'; '.join(whys)}", style="yellow")


def _shown(id_: str) -> Text:
    return Text(escape_unprintable(id_))
