"""Events put into groups, each group in the order of the fold, and what came earlier in it.

What belongs here: sorting, first places and streaks as array operations. What does not: rules of scoring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    Ints = np.ndarray[Any, np.dtype[Any]]

NEVER: Final = np.iinfo(np.int64).max
"""A place after every event."""
DAYS: Final = 1 << 22
"""More than any day there is, so that a group and a day make one number."""


def in_order(codes: Ints) -> tuple[Ints, Ints]:
    """Return codes (0 and more, below 2**31) in ascending order, and the places they had; equal ones as they stood.

    Code and place are sorted as one number: numpy sorts whole 64-bit numbers several times faster than an index.
    """
    bits = len(codes).bit_length()
    packed = codes.astype(np.int64)
    packed <<= bits
    packed |= np.arange(len(codes), dtype=np.int64)
    packed.sort()
    places = packed & ((1 << bits) - 1)
    packed >>= bits
    return packed, places


class Groups(NamedTuple):
    """Events sorted by group.

    Attributes:
        places: of the events, in the order of their groups.
        group: of each, ascending.
        starts: where in `places` each group that has any begins.
        names: the group of each start.
        sizes: events of each.
    """

    places: Ints
    group: Ints
    starts: Ints
    names: Ints
    sizes: Ints

    def spread(self, values: Ints) -> Ints:
        """Give each event the value of its group."""
        return np.repeat(values, self.sizes)

    def last(self, values: Ints) -> Ints:
        """Give each group the value of its last event."""
        found: Ints = values[self.starts + self.sizes - 1]
        return found

    def sum(self, amounts: Ints) -> Ints:
        """Add up each group."""
        if not len(self.starts):
            return np.zeros(0, dtype=np.int64)
        return np.add.reduceat(amounts, self.starts, dtype=np.int64)

    def before(self, amounts: Ints) -> Ints:
        """Add up what came earlier in the group of each event."""
        total = np.cumsum(amounts, dtype=np.int64) - amounts
        return total - self.spread(total[self.starts])


def grouped(codes: Ints, places: Ints | None = None) -> Groups:
    """Group events by a code of 0 or more; `places` are those of the events, by default their order here."""
    group, order = in_order(codes)
    return runs(group, order if places is None else places[order])


def runs(group: Ints, places: Ints) -> Groups:
    """Take events that stand group after group already."""
    is_start = np.empty(len(group), dtype=np.bool_)
    is_start[:1] = True
    np.not_equal(group[1:], group[:-1], out=is_start[1:])
    starts = np.flatnonzero(is_start)
    return Groups(places, group, starts, group[starts], np.diff(starts, append=len(group)))


def streaks_before(groups: Groups, is_correct: Ints, is_error: Ints, initial: Ints) -> Ints:
    """Return the streak of its group before each event: correct ones since the last error.

    Args:
        groups: the groups; everything here is in their order.
        is_correct: events that lengthen it.
        is_error: events that end it.
        initial: streak of each group before its first event.
    """
    earlier = np.cumsum(is_correct, dtype=np.int64) - is_correct + groups.spread(np.cumsum(initial))
    since = np.zeros(len(earlier), dtype=np.int64)
    ended = np.flatnonzero(is_error[:-1]) + 1
    since[ended] = earlier[ended]
    since[groups.starts] = earlier[groups.starts] - initial
    return earlier - np.maximum.accumulate(since)


class FirstPlaces:
    """Events that are compared by a key; tells the first one that counts.

    Attributes:
        keys: the different keys, ascending.
    """

    def __init__(self, keys: Ints, places: Ints) -> None:
        self.keys, self._inverse = np.unique(keys, return_inverse=True)
        self._places = places

    def of_keys(self, counts: Ints) -> Ints:
        """Return for each key the place of the first event that counts; NEVER without one."""
        first = np.full(len(self.keys), NEVER, dtype=np.int64)
        backwards = np.flatnonzero(counts)[::-1]
        first[self._inverse[backwards]] = self._places[backwards]  # the last one written is the earliest
        return first

    def spread(self, values: Ints) -> Ints:
        """Give each event the value of its key."""
        return values[self._inverse]
