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
from governance_pipeline.trajectory.packed_keys import Flags, Integers, distinct_of, order_of, packed, starts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from governance_pipeline.trajectory.rules import RoundRules

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


def event_files(listed: pd.DataFrame, rules: Sequence[RoundRules]) -> EventFiles:
    """Find the distinct files of every event.

    Args:
        listed: `Events.listed`: rows ordered by event, then as listed.
        rules: for each event, the rules of its round.
    """
    codes: dict[str, int] = {}
    round_of = np.array([codes.setdefault(of.round_id, len(codes)) for of in rules], dtype=np.int64)
    return files_of_rounds(listed, round_of, list({of.round_id: of for of in rules}.values()))


def files_of_rounds(listed: pd.DataFrame, round_of: Integers, rules: Sequence[RoundRules]) -> EventFiles:
    """Find the distinct files of every event.

    Args:
        listed: `Events.listed`: rows ordered by event, then as listed.
        round_of: for each event, the position of the rules of its round.
        rules: of each round.
    """
    path, paths = _normal_paths(listed["file_path"])
    named, names = text_codes(listed["module"])
    files = distinct_files(
        listed["event"].to_numpy(np.int64),
        path,
        named,
        listed["added_count"].to_numpy(np.int64, na_value=_UNKNOWN),
        listed["deleted_count"].to_numpy(np.int64, na_value=_UNKNOWN),
    )
    placed, is_outside, is_public = _places(files, paths, round_of, rules)
    is_named = files.module != _UNKNOWN
    module, modules = _modules(files.module, names, is_named, placed)
    return EventFiles(
        events=len(round_of),
        event=files.event,
        path=files.path,
        module=module,
        is_module_named=is_named,
        churn=files.churn,
        is_churn_known=files.is_churn_known,
        is_outside=is_outside,
        is_public=is_public,
        paths=paths,
        modules=modules,
    )


class DistinctFiles(NamedTuple):
    """Distinct files of events, ordered by event and path: codes, the first module named (-1: none), and churn."""

    event: Integers
    path: Integers
    module: Integers
    churn: Integers
    is_churn_known: Flags


def distinct_files(
    event: Integers, path: Integers, module: Integers, added: Integers, deleted: Integers
) -> DistinctFiles:
    """Make one entry per event and path of rows in the order listed; -1 stands for an unknown number or module."""
    key, width = packed([event, path])
    order = order_of(key, width)
    if order is not None:
        key, event, path, module, added, deleted = (
            column[order] for column in (key, event, path, module, added, deleted)
        )
    is_known = (added != _UNKNOWN) & (deleted != _UNKNOWN)
    rough = added.astype(float) + deleted
    is_known &= rough < CHURN_LIMIT
    churn = np.where(is_known, added + deleted, 0)
    starts = starts_of(key)
    if len(starts) == len(key):
        return DistinctFiles(event, path, module, churn, is_known)
    is_known = np.logical_and.reduceat(is_known, starts)
    is_known &= np.add.reduceat(rough, starts) < CHURN_LIMIT
    churn = np.where(is_known, np.add.reduceat(churn, starts), 0)
    return DistinctFiles(event[starts], path[starts], _first_named(module, starts), churn, is_known)


def _normal_paths(column: pd.Series) -> tuple[Integers, Names]:
    """Code of each row's path, and the distinct normal forms in order."""
    spelling, spellings = text_codes(column)
    code, paths = text_codes(_objects([normal_form(path) for path in spellings]))
    return code[spelling], _objects(paths)


def _first_named(module: Integers, starts: Integers) -> Integers:
    """The first module each file is listed with; -1 when its listings name none."""
    rows = len(module)
    position = np.where(module != _UNKNOWN, np.arange(rows), rows)
    return np.append(module, _UNKNOWN)[np.minimum.reduceat(position, starts)]


def _modules(named: Integers, names: list[str], is_named: Flags, placed: _Placed) -> tuple[Integers, Names]:
    """Code of each file's module, the one it is named with before the one it is placed in, and all names in order."""
    modules = sorted({*names, *placed.modules})
    place = {name: at for at, name in enumerate(modules)}
    of_names = np.array([*(place[name] for name in names), _UNKNOWN], dtype=np.int64)
    of_placed = np.array([place[name] for name in placed.modules], dtype=np.int64)
    if is_named.all():
        return of_names[named], _objects(modules)
    return np.where(is_named, of_names[named], of_placed[placed.code]), _objects(modules)


class _Placed(NamedTuple):
    """Module of each file by the rules: a code per file, and the name of each code."""

    code: Integers
    modules: list[str]


def _places(
    files: DistinctFiles, paths: Names, round_of: Integers, rules: Sequence[RoundRules]
) -> tuple[_Placed, Flags, Flags]:
    """Module, outside and public of each file; each path is asked about once per contract that places files alike."""
    codes: dict[tuple[str | None, ...], int] = {}
    alike_of_round = np.array([codes.setdefault(of.placing, len(codes)) for of in rules], dtype=np.int64)
    rule_of = dict(zip(alike_of_round.tolist(), rules, strict=True))
    key = files.path
    if len(codes) > 1:
        key = alike_of_round[round_of[files.event]] * len(paths) + files.path
    distinct, place = distinct_of(key, len(codes) * len(paths))
    code, path_code = np.divmod(distinct, max(len(paths), 1))
    asked = [_place(rule_of[of], paths[at]) for of, at in zip(code.tolist(), path_code.tolist(), strict=True)]
    outside = np.array([one[1] for one in asked], dtype=bool)
    public = np.array([one[2] for one in asked], dtype=bool)
    return _Placed(place, [one[0] for one in asked]), outside[place], public[place]


def _place(rules: RoundRules, path: str) -> tuple[str, bool, bool]:
    is_outside = rules.include is not None and not rules.include.match(path)
    is_public = rules.public is not None and rules.public.match(path)
    return rules.modules.module(path), is_outside, is_public


def _objects(values: Sequence[Any]) -> Names:
    array: Names = np.empty(len(values), dtype=object)
    array[:] = values
    return array
