"""Chains of baselines that are in force no more: what took their place, and why.

A baseline is never edited, so a round that comes late, leaves or is measured again gives it and all after it another
name, and the old ones stay behind in the earlier versions of the table, where a verdict made meanwhile may name them.

What belongs here: which chains those are and why they were left. What does not: reading the versions
(`stored_cohorts`) and how it is shown (`cohort_document`). Source: spec/trajectory.md §4.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.trajectory.frames import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    import pandas as pd

LINK_COLUMNS: Final = (
    "baseline_id", "cohort", "baseline_version", "until_at", "supersedes_baseline_id", "added_round_ids",
    "feature_version", "epsilon",
)  # fmt: skip
"""Columns of `features_cohort_baseline` that chains are made of; the same in every row of a baseline."""


class AbandonedReason(StrEnum):
    """Why a chain is in force no more."""

    OTHER_FORMULAS = "other_formulas"
    ROUNDS_CAME = "rounds_came"
    ROUNDS_LEFT = "rounds_left"
    ROUNDS_CAME_AND_LEFT = "rounds_came_and_left"
    MEASURED_AGAIN = "measured_again"


ABANDONED_IN_WORDS: Final = {
    AbandonedReason.OTHER_FORMULAS: "other formulas are in force",
    AbandonedReason.ROUNDS_CAME: "rounds that ended earlier came later",
    AbandonedReason.ROUNDS_LEFT: "rounds left the cohort, or ended at another time",
    AbandonedReason.ROUNDS_CAME_AND_LEFT: "rounds came later and others left",
    AbandonedReason.MEASURED_AGAIN: "rounds were measured again and gave other values",
}
"""Each reason as the end of a sentence."""


class Link(NamedTuple):
    """One baseline as a chain sees it."""

    cohort: str
    version: str | None
    until: datetime
    supersedes: str | None
    added: tuple[str, ...]
    formulas: tuple[str, float]


class AbandonedChain(NamedTuple):
    """A chain of baselines that was left.

    Attributes:
        cohort: JSON list, as in the table.
        version: baseline version of its rounds.
        forked_after: the last baseline of it that is in force; None when not even the first is.
        baseline_ids: those that are not, in order of time.
        first_until: end of the rounds of the first of them.
        last_until: end of the rounds of the last.
        superseded_by: the baseline in force at that time; None when the cohort has none so early.
        reason: why it was left.
        came: rounds in force in that time which it has not.
        left: rounds of it which are not in force in that time.
    """

    cohort: str
    version: str | None
    forked_after: str | None
    baseline_ids: tuple[str, ...]
    first_until: datetime
    last_until: datetime
    superseded_by: str | None
    reason: AbandonedReason
    came: tuple[str, ...]
    left: tuple[str, ...]


def links(baselines: pd.DataFrame) -> dict[str, Link]:
    """Give the baselines of a version of `features_cohort_baseline` by id, in its order."""
    found = {}
    for row in rows_of(baselines.drop_duplicates("baseline_id"), LINK_COLUMNS):
        found[row["baseline_id"]] = Link(
            row["cohort"],
            row["baseline_version"],
            row["until_at"],
            row["supersedes_baseline_id"],
            tuple(json.loads(row["added_round_ids"])),
            (row["feature_version"], row["epsilon"]),
        )
    return found


def abandoned_chains(in_force: Mapping[str, Link], earlier: Mapping[str, Link]) -> list[AbandonedChain]:
    """List the chains of earlier versions that were left, by cohort and time.

    Args:
        in_force: the baselines in force.
        earlier: those of earlier versions of the table, each version whole; ones in force among them play no part.
    """
    gone = {name: link for name, link in earlier.items() if name not in in_force}
    tips = gone.keys() - {link.supersedes for link in gone.values()}
    found = [_chain(tip, gone, in_force) for tip in sorted(tips)]
    return sorted(found, key=lambda one: (one.cohort, one.version or "", one.last_until, one.baseline_ids))


def _chain(tip: str, gone: Mapping[str, Link], in_force: Mapping[str, Link]) -> AbandonedChain:
    ids = list(_down(tip, gone))[::-1]
    last, first = gone[tip], gone[ids[0]]
    fork = first.supersedes if first.supersedes in in_force else None
    since = None if fork is None else in_force[fork].until
    rivals = {
        name: link
        for name, link in in_force.items()
        if (link.cohort, link.version) == (last.cohort, last.version) and _lies(link.until, since, last.until)
    }
    ours, theirs = _rounds(gone[name] for name in ids), _rounds(rivals.values())
    came, left = tuple(sorted(theirs - ours)), tuple(sorted(ours - theirs))
    now = {link.formulas for link in in_force.values()}
    return AbandonedChain(
        last.cohort, last.version, fork, tuple(ids), first.until, last.until,
        next(reversed(rivals), fork), _reason(came, left, is_other=bool(now) and last.formulas not in now), came, left,
    )  # fmt: skip


def _down(tip: str, gone: Mapping[str, Link]) -> Iterator[str]:
    at: str | None = tip
    while at is not None and at in gone:
        yield at
        at = gone[at].supersedes


def _lies(at: datetime, since: datetime | None, until: datetime) -> bool:
    return (since is None or at > since) and at <= until


def _rounds(chain: Iterable[Link]) -> set[str]:
    return {round_id for link in chain for round_id in link.added}


def _reason(came: tuple[str, ...], left: tuple[str, ...], *, is_other: bool) -> AbandonedReason:
    if is_other:
        return AbandonedReason.OTHER_FORMULAS
    if came and left:
        return AbandonedReason.ROUNDS_CAME_AND_LEFT
    if came or left:
        return AbandonedReason.ROUNDS_CAME if came else AbandonedReason.ROUNDS_LEFT
    return AbandonedReason.MEASURED_AGAIN
