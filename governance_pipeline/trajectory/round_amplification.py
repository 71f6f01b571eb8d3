"""The amplification of the files a round touched: both factors at its base and after it.

What belongs here: asking the two providers (history and graph) about a round. What does not: the signals
(`amplification`) and rows (`amplification_rows`). Only files the round changed are parsed anew and only touched files
are asked about after the round; the history before it and the graph at its base are the baseline.
Source: spec/trajectory.md §6.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import UnreadableError
from governance_pipeline.trajectory.amplification import AmplificationRule, Factors, Region, Unit, region_of
from governance_pipeline.trajectory.commit_changes import MOST_HISTORY
from governance_pipeline.trajectory.impact_surface import MOST_UNITS, Impact, impacts, units_of
from governance_pipeline.trajectory.repositories import RepositoryReason, RoundBase
from governance_pipeline.trajectory.touch_frequency import History, read_history

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import pygit2

    from governance_pipeline.trajectory.repositories import OpenRepository, Repositories
    from governance_pipeline.trajectory.repository_graph import RepositoryGraph

RULE: Final = AmplificationRule()
"""The thresholds of spec/trajectory.md §9."""

HISTORY_PROVIDER: Final[dict[str, Any]] = {
    "provenance": "git history along first parents, up to the base commit",
    "units": "files by path; a renamed file begins anew",
    "counts": "commits that touch the path",
    "gaps": f"commits of more than {RULE.max_files} files are left out and counted; at most {MOST_HISTORY} are read",
    "confidence": "is_whole_history and commits_left_out_count of the same row",
}
"""What the history says of its counts."""


@dataclass(frozen=True, slots=True)
class TouchedUnit:
    """One touched file: its unit for the signals, and its impacts at the base and after the round."""

    unit: Unit
    before: Impact | None
    after: Impact | None


@dataclass(frozen=True, slots=True)
class RoundAmplification:
    """The touched files of a round; with a `reason` nothing but their names is known."""

    reason: RepositoryReason | None
    units: tuple[TouchedUnit, ...]
    region: Region | None = None
    history: History | None = None
    is_whole_history: bool | None = None
    base: str | None = None
    candidate: str | None = None
    made: RepositoryGraph | None = None


def round_amplification(
    row: Mapping[str, Any], touched: Sequence[str], commits: Sequence[str | None], repositories: Repositories
) -> RoundAmplification:
    """Measure the files a round touched.

    Args:
        row: the round in `core_rounds`.
        touched: paths in normal form.
        commits: for each step in order, the commit it is; None where no log says so.
        repositories: opens the repository.

    Raises:
        StorageError: a graph cannot be kept.
    """
    base = repositories.base(row)
    if not isinstance(base, RoundBase):
        return _nothing(touched, base)
    try:
        return _measured(base, touched, commits)
    except UnreadableError:
        return _nothing(touched, RepositoryReason.REPO_INCOMPLETE)


def _nothing(touched: Sequence[str], reason: RepositoryReason) -> RoundAmplification:
    return RoundAmplification(reason, tuple(TouchedUnit(Unit(path, True, None, None), None, None) for path in touched))


def _measured(base: RoundBase, touched: Sequence[str], shas: Sequence[str | None]) -> RoundAmplification:
    repository = base.repository
    made = repository.graph(base.commit)
    paths = repository.tree(base.commit).files
    history, is_whole = _history(repository, base.commit)
    every = units_of(made.graph)
    before = impacts(made.graph, every if len(every) <= MOST_UNITS else touched)
    commits = [None if sha is None else repository.commits.commit(sha) for sha in shas]
    known = [commit for commit in commits if commit is not None]
    is_known = bool(known) and len(known) == len(commits)
    last = known[-1] if is_known else None
    after = impacts(repository.graph(last).graph, touched) if last is not None else {}
    later = None if last is None else repository.tree(last).files
    rounds = [found for one in known if (found := repository.commits.touched(one)) is not None]
    following = read_history(rounds, RULE.max_files) if is_known and len(rounds) == len(known) else None
    units = tuple(_unit(path, paths, later, before, after, history, following) for path in touched)
    others = [_reference(path, before, history) for path in every if path in before] if len(every) <= MOST_UNITS else []
    return RoundAmplification(
        None, units, region_of(others, RULE), history, is_whole, str(base.commit.id),
        None if last is None else str(last.id), made,
    )  # fmt: skip


def _history(repository: OpenRepository, base: pygit2.Commit) -> tuple[History | None, bool]:
    """Frequencies up to the base, None when a commit cannot be read, and whether the history was read to its start."""
    found, is_whole = repository.commits.history(base)
    touched = [repository.commits.touched(commit) for commit in reversed(found)]
    paths = [one for one in touched if one is not None]
    return (read_history(paths, RULE.max_files) if len(paths) == len(touched) else None), is_whole


def _unit(
    path: str,
    paths: Collection[str],
    later: Collection[str] | None,
    before: Mapping[str, Impact],
    after: Mapping[str, Impact],
    history: History | None,
    following: History | None,
) -> TouchedUnit:
    frequency = None if history is None else history.frequency([path])
    total = None if frequency is None or following is None else frequency + following.frequency([path])
    baseline = _factors(frequency, before.get(path)) if path in paths else None
    is_gone = later is not None and path not in later
    candidate = None if is_gone else _factors(total, after.get(path))
    return TouchedUnit(Unit(path, True, baseline, candidate), before.get(path), after.get(path))


def _reference(path: str, before: Mapping[str, Impact], history: History | None) -> Unit:
    frequency = None if history is None else history.frequency([path])
    return Unit(path, False, _factors(frequency, before[path]), None)


def _factors(frequency: int | None, impact: Impact | None) -> Factors:
    return Factors(
        None if frequency is None else Fraction(frequency), None if impact is None else Fraction(impact.files)
    )
