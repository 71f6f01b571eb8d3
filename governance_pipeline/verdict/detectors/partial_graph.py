"""`partial-impact-graph`: the round names its repository, and the graph its impact is read from is not whole.

Needed only where the contract has `[repo]`: without it nobody promised a graph. A graph is whole when it could be made
at the base commit and every file of a language with a provider was read; what a file's imports and calls lead to is
another question, whose shares stand in the factors and in `features_graph_surface`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.verdict.detector import Detector, Hit, contract_place
from governance_pipeline.verdict.signals import GapReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.verdict.round_view import RoundView

_SHARES: Final = ("read_files_share", "known_imports_share", "known_calls_share", "known_bases_share")


def _detect(view: RoundView) -> Iterator[Hit]:
    rows = view.rows("features_graph_surface")
    if view.promised("repo_path") is None or not rows:
        return
    without = [row for row in rows if row["graph_nodes_count"] is None]
    partial = [row for row in rows if row["read_files_share"] is not None and row["read_files_share"] < 1]
    worst = next(iter(without or partial), None)
    if worst is not None:
        share = None if without else min(row["read_files_share"] for row in partial)
        said = "no graph of it could be made" if without else f"only {share:.0%} of its files could be read"
        yield Hit(
            (),
            f"the impact of the round on its repository is not known whole: {said}",
            {"steps": len(rows), "steps_without_graph": len(without), **_shares(worst)},
            contract_place(view),
            reason=GapReason.PARTIAL_GRAPH,
        )


def _shares(row: dict[str, Any]) -> dict[str, Any]:
    return {"base_commit_id": row["base_commit_id"], **{name: row[name] for name in _SHARES}}


_REPOSITORY: Final = [{"repo_path": "../repo", "repo_base_id": "a" * 40}]
_WHOLE: Final = {"graph_nodes_count": 12, "graph_edges_count": 20, "read_files_share": 1.0, "known_imports_share": 0.9}

DETECTOR: Final = Detector(
    code="partial-impact-graph",
    rule="the contract names a repository, and its graph could not be made or not all of its files were read",
    reads=("features_graph_surface",),
    detect=_detect,
    fires_on={"core_rounds": _REPOSITORY, "features_graph_surface": [{**_WHOLE, "read_files_share": 0.5}]},
    silent_on={"core_rounds": _REPOSITORY, "features_graph_surface": [_WHOLE]},
)
