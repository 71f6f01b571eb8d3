"""What a repository adds to the explanation of a round, in words: Y, D in hops, C and S of version 2, and their areas.

Also the columns by which rounds are compared, each with its reason. Rows of the tables are put into words, so that the
explanation cannot tell another story than they do.

What belongs here: sentences of these terms. What does not: the numbers, and the terms of version 1 (`explanation`).
Source: spec/trajectory.md §2 and §4.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trajectory.cohort_tables import COMPARED
from governance_pipeline.trajectory.documents import shortest_number
from governance_pipeline.trajectory.graph_reasons import GRAPH_REASONS_IN_WORDS
from governance_pipeline.trajectory.graph_surface import TERMS
from governance_pipeline.trajectory.reasons import IN_WORDS
from governance_pipeline.trajectory.repositories import REPOSITORY_REASONS_IN_WORDS
from governance_pipeline.trajectory.wording import NAMES_SHOWN, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NAME_CHARACTERS: Final = 80
_COLUMNS: Final = {"Y": "symbols_count", "D": "objective_hops", "C": "centrality_share", "S": "surface_sum"}
_AREAS: Final = {
    "AUS": ("aus_to_step", "sum of S of version 2 over the steps"),
    "AUS_discrete": ("aus_discrete_to_step", "the same, a step without changes counted 0"),
    "S_seconds": ("surface_seconds_to_step", "sum of S times the seconds since the step before; grows with idle time"),
}
_REASON_OF: Final = {"largest_s": "aus_reason"}
_COMPARED_IN_WORDS: Final = {
    "aus_round": "sum of S over the steps",
    "largest_s": "largest S of a step",
    "largest_h": "largest H of a step, in nats",
    "unproven_growth": "growth of S over steps whose E did not rise",
    "rewrite_share": "deleted lines / base lines of the touched files that were there",
}
_MORE_REASONS: Final = {
    "h_unknown": "H of a step is unknown",
    "e_unknown": "E of a step is unknown",
    "path_outside": "a touched file is not named from the root of the repository",
    "no_base_lines": "no touched file was there with a line",
}
_REASONS: Final = {
    **{str(reason): words for reason, words in REPOSITORY_REASONS_IN_WORDS.items()},
    **{str(reason): words for reason, words in GRAPH_REASONS_IN_WORDS.items()},
    **{str(reason): words for reason, words in IN_WORDS.items()},
}


def graph_terms(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give Y, D, C and S of version 2 of a row of `features_graph_surface` in words."""
    unknown = json.loads(row["unknown"])
    words = {"Y": _symbols, "D": _hops, "C": _centrality}
    found = []
    for name, column in _COLUMNS.items():
        value = row[column]
        if value is None:
            missing = ", ".join(letter for letter in TERMS if letter in unknown)
            said = f"unknown: {missing} unknown" if name == "S" else _unknown(unknown[name])
            found.append(_term(name, None, said, None))
        elif name == "S":
            found.append(_term(name, value, f"{' + '.join(TERMS)} = {number(value)}", " ".join(TERMS)))
        else:
            found.append(_term(name, value, words[name](row, value), row["symbols_source"] if name == "Y" else "graph"))
    return found


def graph_areas(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Give the areas of version 2 after the last step, from the rows of a round; none are known without a step."""
    last = rows[-1] if rows else {}
    why = last.get("aus_reason") if rows else "no_steps"
    found = []
    for name, (column, words) in _AREAS.items():
        value = last.get(column)
        lacking = _unknown(why) if why else "unknown: the time, or whether anything changed, is unknown for a step"
        found.append(_term(name, value, lacking if value is None else f"{words}: {number(value)}", value and "S"))
    return found


def compared_columns(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give the columns of a row of `features_round` by which rounds are compared, each with its reason when unknown."""
    found = []
    for column in COMPARED:
        value, reason = row[column], row[_REASON_OF.get(column, f"{column.removesuffix('_round')}_reason")]
        words = _COMPARED_IN_WORDS[column]
        said = f"{words}: {_unknown(reason)}" if value is None else f"{words}: {number(value)}"
        found.append({"column": column, "value": shortest_number(value), "reason": reason, "words": said})
    return found


def _symbols(row: Mapping[str, Any], value: float) -> str:
    names = [excerpt(name, _NAME_CHARACTERS) for name in json.loads(row["changed_symbols"] or "[]")]
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    listed = f": {', '.join(names[:NAMES_SHOWN])}{more}" if names else ""
    return f"{number(value)} {'symbol' if value == 1 else 'symbols'} changed{listed}"


def _hops(row: Mapping[str, Any], value: float) -> str:
    nodes = json.loads(row["changed_nodes"] or "[]")
    if not nodes:
        return "0: nothing changed"
    share = row["unreachable_weight_share"]
    apart = f"; {number(share)} of the weight reaches none and is left out" if share else ""
    files = row["objective_nodes_count"]
    return f"{number(value)} hops to the nearest of {files} objective files, mean weighted by churn{apart}"


def _centrality(row: Mapping[str, Any], value: float) -> str:
    nodes = json.loads(row["changed_nodes"] or "[]")
    if not nodes:
        return "0: nothing changed"
    apart = row["nodes_not_in_graph_count"]
    without = f"; {apart} not in the graph" if apart else ""
    return f"{number(value)}: mean PageRank percentile of {len(nodes)} changed files, weighted by churn{without}"


def _unknown(reason: str) -> str:
    return f"unknown: {_MORE_REASONS.get(reason) or _REASONS[reason]} ({reason})"


def _term(name: str, value: float | None, words: str, taken_from: str | float | None) -> dict[str, Any]:
    return {"term": name, "value": shortest_number(value), "words": words, "taken_from": taken_from or None}
