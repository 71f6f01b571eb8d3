"""Which findings of a round its parent already had, and where each was first seen.

What belongs here: the walk from a round to its parent. What does not: finding anything. The baseline is made from the
tables of the parent, not from a stored verdict, so it is the same whatever order or chunks rounds are judged in.
Source: spec/verdict.md §4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class Baseline(NamedTuple):
    """What a round is compared with.

    Attributes:
        round_id: its parent; None when it continues none.
        first_seen: fingerprints the parent has -> earliest round that has them (None when that cannot be known). None
            when the parent is not at hand: nothing can then be called known or new.
    """

    round_id: str | None
    first_seen: Mapping[str, str | None] | None

    def is_known(self, fingerprint: str) -> bool | None:
        """Whether the parent has it; None when the parent is not at hand."""
        return None if self.first_seen is None else fingerprint in self.first_seen

    def first_seen_in(self, fingerprint: str, round_id: str) -> str | None:
        """Earliest round that has the finding of `round_id`; None when that cannot be known."""
        return None if self.first_seen is None else self.first_seen.get(fingerprint, round_id)


def baselines(parents: Mapping[str, str | None], fingerprints: Mapping[str, Iterable[str]]) -> dict[str, Baseline]:
    """Find what each round is compared with.

    Args:
        parents: round at hand -> the parent it names. A parent that is not a key is not at hand; a circle of parents
            has no first round, so nobody in it has a baseline.
        fingerprints: round at hand -> fingerprints of its findings.
    """
    found: dict[str, Baseline] = {}
    for round_id in parents:
        for step in reversed(_line(round_id, parents, found)):
            found[step] = _baseline(step, parents, fingerprints, found)
    return found


def ancestors(round_ids: Sequence[str], parent_of: Callable[[str], str | None]) -> list[str]:
    """List the rounds that must be at hand beside `round_ids`, so that known findings are known: parents of parents.

    Args:
        round_ids: rounds to be judged.
        parent_of: the parent a round names; None when it names none or is not stored.
    """
    seen = dict.fromkeys(round_ids)
    beside: list[str] = []
    for round_id in round_ids:
        parent = parent_of(round_id)
        while parent is not None and parent not in seen:
            seen[parent] = None
            beside.append(parent)
            parent = parent_of(parent)
    return beside


def _line(round_id: str, parents: Mapping[str, str | None], found: Mapping[str, Baseline]) -> list[str]:
    """The round and its ancestors up to one that is decided already, youngest first."""
    line: list[str] = []
    step: str | None = round_id
    while step is not None and step in parents and step not in found and step not in line:
        line.append(step)
        step = parents[step]
    return line


def _baseline(
    round_id: str,
    parents: Mapping[str, str | None],
    fingerprints: Mapping[str, Iterable[str]],
    found: Mapping[str, Baseline],
) -> Baseline:
    parent = parents[round_id]
    if parent is None:
        return Baseline(None, {})
    if parent not in found:  # not at hand, or the oldest of a circle
        return Baseline(parent, None)
    older = found[parent]
    return Baseline(parent, {name: older.first_seen_in(name, parent) for name in fingerprints[parent]})
