"""Which rows of the tables are the change events of rounds, as frames: millions of them, none looked at by itself.

What belongs here: which lines or edits are one event, and which files it lists. What does not: steps, and objects
made of rows (`events`). Byte-identical lines of `changes.jsonl` are one event. Only a round without that file takes
its events from its logs: one per run step with edits, numbered from 1 in the order of run id and step of the run.
Source: spec/trajectory.md §1.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pandas as pd

from governance_pipeline.contracts.registry import empty_frame
from governance_pipeline.strict.text_codes import text_codes
from governance_pipeline.trajectory.packed_keys import order_of, packed, places_of, starts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.trajectory.packed_keys import Integers

    Tables = Mapping[str, pd.DataFrame]

CHANGES_FILE: Final = "changes.jsonl"

EVENT_TABLES: Final = ("raw_log_files", "core_changes", "core_file_changes", "core_steps")
"""Tables `event_rows` reads."""

_NUMBERS: Final = ["files_count", "churn_count", "modules_count", "public_count", "entropy_lexeme"]
_PLACE: Final = ["round_id", "run_id", "at", "path", "file_sha256", "line"]
_LISTED: Final = ["file_path", "added_count", "deleted_count", "module"]
_LOG_KEY: Final = ["round_id", "run_id", "step_index"]
_UNKNOWN: Final = -1


class Origin(StrEnum):
    """Where the steps of a round come from."""

    NATIVE = "native"
    LOG = "log"


class EventRows(NamedTuple):
    """The events of all rounds and what they list.

    Attributes:
        events: one row per event, native ones by round, step and line, then those of logs by round and step: round_id,
            step, origin, run_id, at, path, file_sha256, line, run_step (of logs), has_files, and the numbers it carries
            itself as columns of `core_changes`.
        lines: lines that give the step of each event, byte-identical ones included.
        listed: one row per file an event lists, in the order listed: event (position), file_path, added_count,
            deleted_count, module.
    """

    events: pd.DataFrame
    lines: Integers
    listed: pd.DataFrame


def event_rows(tables: Tables) -> EventRows:
    """Find the events of every round in the tables `EVENT_TABLES`."""
    natives, lines = _native(tables["core_changes"])
    files = tables["core_file_changes"]
    is_native = (files["origin"] == Origin.NATIVE).to_numpy(bool)
    listed = [_native_listed(files if is_native.all() else files[is_native], natives)]
    events = [natives]
    if not is_native.all():
        edits = files[~is_native & ~files["round_id"].isin(native_rounds(tables)).to_numpy(bool)]
        logged = _logged(edits, tables["core_steps"])
        listed.append(_log_listed(edits, logged, len(natives)))
        events.append(_as_events(logged))
        lines = np.append(lines, np.ones(len(logged), dtype=np.int64))
    whole = [part for part in listed if len(part)] or listed[:1]
    return EventRows(_together(events), lines, _together(whole))


def native_rounds(tables: Tables) -> set[str]:
    """Give the rounds that have a `changes.jsonl`, an empty or unreadable one included."""
    files = tables["raw_log_files"]
    return {*files.loc[files["path"] == CHANGES_FILE, "round_id"], *tables["core_changes"]["round_id"]}


def _together(parts: list[pd.DataFrame]) -> pd.DataFrame:
    filled = [part for part in parts if len(part)] or parts[:1]
    return filled[0].reset_index(drop=True) if len(filled) == 1 else pd.concat(filled, ignore_index=True)


def _native(changes: pd.DataFrame) -> tuple[pd.DataFrame, Integers]:
    """Distinct lines of `changes.jsonl` by round, step and line; and how many lines give the step of each.

    Byte-identical lines give the same step, so only lines that share one are asked for their digests.
    """
    rounds, paths = text_codes(changes["round_id"])[0], text_codes(changes["path"])[0]
    steps, lines = changes["step_index"].to_numpy(np.int64), changes["line"].to_numpy(np.int64, na_value=_UNKNOWN)
    step, _ = packed([rounds, steps])
    order = order_of(*packed([step, paths, lines]))
    if order is None:
        order = np.arange(len(changes), dtype=np.int64)
    step = step[order]
    starts = starts_of(step)
    of_step = np.diff(starts, append=len(step))
    shared = np.repeat(of_step, of_step)
    asked = np.flatnonzero(shared > 1)
    digest = text_codes(changes["line_sha256"].iloc[order[asked]])[0]
    is_first = np.ones(len(order), dtype=bool)
    is_first[asked] = False
    is_first[asked[np.unique(packed([step[asked], digest])[0], return_index=True)[1]]] = True
    order, shared, step = order[is_first], shared[is_first], step[is_first]
    by_line = order_of(*packed([step, lines[order]]))
    if by_line is not None:
        order, shared = order[by_line], shared[by_line]
    first = changes[[*_PLACE, "step_index", "has_files", *_NUMBERS]].iloc[order]
    return first.assign(step=steps[order], origin=_texts(Origin.NATIVE, len(order)), run_step=_nothing(order)), shared


def _native_listed(files: pd.DataFrame, natives: pd.DataFrame) -> pd.DataFrame:
    """File rows of native events with the position of their event, in the order the event lists them."""
    columns = [*(_codes_of_both(files[name], natives[name]) for name in ("round_id", "path")),
               _numbers_of_both(files["line"], natives["line"])]  # fmt: skip
    key, width = packed(columns)
    event = places_of(key[len(natives) :], key[: len(natives)], width)
    is_listed = event != _UNKNOWN
    rows = None if is_listed.all() else np.flatnonzero(is_listed)
    at = files["change_index"].to_numpy(np.int64, na_value=_UNKNOWN)
    if rows is not None:
        event, at = event[rows], at[rows]
    order = order_of(*packed([event, at]))
    if order is not None:
        event, rows = event[order], order if rows is None else rows[order]
    listed = files[_LISTED]
    return (listed if rows is None else listed.iloc[rows]).assign(event=event)


def _codes_of_both(files: pd.Series, natives: pd.Series) -> Integers:
    """Codes of a text of natives, then of files; a text no native has is a code no native has."""
    code, texts = text_codes(natives)
    place = {text: at for at, text in enumerate(texts)}
    of_files, texts_of_files = text_codes(files)
    known = np.array([*(place.get(text, len(texts)) for text in texts_of_files), len(texts)], dtype=np.int64)
    return np.append(code, known[of_files])


def _numbers_of_both(files: pd.Series, natives: pd.Series) -> Integers:
    return np.append(*(column.to_numpy(np.int64, na_value=_UNKNOWN) for column in (natives, files)))


def _logged(edits: pd.DataFrame, core_steps: pd.DataFrame) -> pd.DataFrame:
    """One row per run step with edits: where its first edit stands, when it was, and the step of the round it makes."""
    coded = edits.assign(run=text_codes(edits["run_id"])[0])
    ordered = coded.sort_values(["round_id", "run", "step_index", "change_index"], kind="stable")
    first = ordered.drop_duplicates(["round_id", "run", "step_index"])
    first = first.assign(step=first.groupby("round_id").cumcount() + 1)
    return first.merge(core_steps[[*_LOG_KEY, "at"]], on=_LOG_KEY, how="left")


def _log_listed(edits: pd.DataFrame, logged: pd.DataFrame, offset: int) -> pd.DataFrame:
    """File rows of logs with the position of the event they belong to, in the order of its edits."""
    positions = logged[_LOG_KEY].assign(event=range(offset, offset + len(logged)))
    joined = edits.merge(positions, on=_LOG_KEY, how="inner")
    return joined.sort_values(["event", "change_index"], kind="stable")[[*_LISTED, "event"]]


def _as_events(logged: pd.DataFrame) -> pd.DataFrame:
    rows = len(logged)
    numbers = empty_frame("core_changes")[_NUMBERS].reindex(range(rows))
    return logged[[*_PLACE, "step_index", "step"]].assign(
        origin=_texts(Origin.LOG, rows),
        run_step=logged["step_index"].array,
        has_files=pd.array(np.ones(rows, dtype=bool), dtype="boolean"),
        **{str(name): numbers[name].array for name in _NUMBERS},
    )


def _texts(text: str, rows: int) -> Any:
    return pd.array(np.full(rows, str(text), dtype=object), dtype="string")


def _nothing(rows: Integers) -> Any:
    return pd.arrays.IntegerArray(np.zeros(len(rows), dtype=np.int64), np.ones(len(rows), dtype=bool))
