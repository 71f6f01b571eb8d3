"""The distinct files of every event, placed by the rules of its round, as arrays.

What belongs here: turning listed files into one entry per event and file. What does not: any term. A path listed
twice, in whatever spelling, is one file: its churn is added, and its module is the first one it is listed with.
Source: spec/trajectory.md §1.

Arrays because there are millions of these: sorting keys and adding up neighbours took 0.35 s for 5 million, a pandas
groupby 2.6 s (research/performance.md W4). Codes follow the order of names, so what is added up within an event is
added in the same order whatever other rounds are at hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from governance_pipeline.rounds.paths import normal_form
from governance_pipeline.strict.text_codes import text_codes
from governance_pipeline.trajectory.frames import plain_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from governance_pipeline.trajectory.rules import RoundRules

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Names = npt.NDArray[np.object_]

CHURN_LIMIT: Final = 2.0**62
"""Lines from which a churn counts as unknown: a larger sum may not fit the 64 bits of its column."""

_UNKNOWN: Final = -1


class PlacedFile(NamedTuple):
    """One file of an event: normal path, module, lines added and deleted (None = unknown), and where it lies."""

    path: str
    module: str
    churn: int | None
    is_outside: bool
    is_public: bool


@dataclass(frozen=True, slots=True)
class EventFiles:
    """Distinct files of events, ordered by event and path; all arrays but the names have one entry per file.

    Attributes:
        events: number of events, those without files included.
        event: position of the event.
        path: code of the path in `paths`, the normal forms.
        module: code of the module in `modules`.
        is_module_named: the event itself names the module.
        churn: lines added and deleted; 0 where unknown.
        is_churn_known: whether it is known.
        is_outside: outside the declared scope; meaningless without one.
        is_public: a public boundary; meaningless where none is declared.
    """

    events: int
    event: Integers
    path: Integers
    module: Integers
    is_module_named: Flags
    churn: Integers
    is_churn_known: Flags
    is_outside: Flags
    is_public: Flags
    paths: Names
    modules: Names

    @property
    def starts(self) -> Integers:
        """Position of the first file of each event that has files."""
        return starts_of(self.event)

    def of_event(self, position: int) -> list[PlacedFile]:
        """Give the files of one event, ordered by path."""
        first, last = np.searchsorted(self.event, [position, position + 1]).tolist()
        return [
            PlacedFile(
                path=self.paths[self.path[at]],
                module=self.modules[self.module[at]],
                churn=int(self.churn[at]) if self.is_churn_known[at] else None,
                is_outside=bool(self.is_outside[at]),
                is_public=bool(self.is_public[at]),
            )
            for at in range(first, last)
        ]


def starts_of(key: Integers) -> Integers:
    """Give where each run of equal neighbours begins; an array of positions."""
    return np.flatnonzero(np.diff(key, prepend=-1)).astype(np.int64)


def event_files(listed: pd.DataFrame, rules: Sequence[RoundRules]) -> EventFiles:
    """Find the distinct files of every event.

    Args:
        listed: `Events.listed`: rows ordered by event, then as listed.
        rules: for each event, the rules of its round.
    """
    event = listed["event"].to_numpy(np.int64)
    path, paths = _normal_paths(listed["file_path"])
    order = np.lexsort((path, event))  # stable: a file's listings stay in the order of the event
    event, path = event[order], path[order]
    starts = starts_of(event * (len(paths) + 1) + path)
    churn, is_known = _churn(listed, order, starts)
    named = _first_named(_names(listed["module"])[order], starts)
    event, path = event[starts], path[starts]
    placed, is_outside, is_public = _places(event, path, paths, rules)
    is_named = _is_named(named)
    module, modules = text_codes(np.where(is_named, named, placed))
    return EventFiles(
        events=len(rules),
        event=event,
        path=path,
        module=module,
        is_module_named=is_named,
        churn=churn,
        is_churn_known=is_known,
        is_outside=is_outside,
        is_public=is_public,
        paths=paths,
        modules=_objects(modules),
    )


def _names(column: pd.Series) -> Names:
    """A text column as objects, null as None."""
    return _objects(plain_column(column))


def _normal_paths(column: pd.Series) -> tuple[Integers, Names]:
    """Code of each row's path, and the distinct normal forms in order."""
    spelling, spellings = text_codes(column)
    code, paths = text_codes(_objects([normal_form(path) for path in spellings]))
    return code[spelling], _objects(paths)


def _churn(listed: pd.DataFrame, order: Integers, starts: Integers) -> tuple[Integers, Flags]:
    """Churn of each file and whether it is known: all its listings are, and their sum fits."""
    added = listed["added_count"].to_numpy(np.int64, na_value=_UNKNOWN)[order]
    deleted = listed["deleted_count"].to_numpy(np.int64, na_value=_UNKNOWN)[order]
    if not len(starts):
        return added, np.zeros(0, dtype=bool)
    is_known = np.logical_and.reduceat((added != _UNKNOWN) & (deleted != _UNKNOWN), starts)
    is_known &= np.add.reduceat(added.astype(float) + deleted, starts) < CHURN_LIMIT
    return np.where(is_known, np.add.reduceat(added + deleted, starts), 0), is_known


def _first_named(module: Names, starts: Integers) -> Names:
    """The first module each file is listed with; None when its listings name none."""
    if not len(starts):
        return module
    rows = len(module)
    position = np.where(_is_named(module), np.arange(rows), rows)
    first = np.minimum.reduceat(position, starts)
    return np.append(module, [None])[first]


def _is_named(module: Names) -> Flags:
    return np.array([name is not None for name in module], dtype=bool)


def _places(event: Integers, path: Integers, paths: Names, rules: Sequence[RoundRules]) -> tuple[Names, Flags, Flags]:
    """Module, outside and public of each file; each path is asked about once per contract that places files alike."""
    codes: dict[tuple[str | None, ...], int] = {}
    alike_of_event = np.array([codes.setdefault(of.placing, len(codes)) for of in rules], dtype=np.int64)
    rule_of = dict(zip(alike_of_event.tolist(), rules, strict=True))
    key = alike_of_event[event] * (len(paths) + 1) + path if len(event) else event
    distinct, place = np.unique(key, return_inverse=True)
    code, path_code = np.divmod(distinct, len(paths) + 1)
    asked = [_place(rule_of[of], paths[at]) for of, at in zip(code.tolist(), path_code.tolist(), strict=True)]
    module = _objects([one[0] for one in asked])
    outside = np.array([one[1] for one in asked], dtype=bool)
    public = np.array([one[2] for one in asked], dtype=bool)
    return module[place], outside[place], public[place]


def _place(rules: RoundRules, path: str) -> tuple[str, bool, bool]:
    is_outside = rules.include is not None and not rules.include.match(path)
    is_public = rules.public is not None and rules.public.match(path)
    return rules.modules.module(path), is_outside, is_public


def _objects(values: Sequence[Any]) -> Names:
    array: Names = np.empty(len(values), dtype=object)
    array[:] = values
    return array
