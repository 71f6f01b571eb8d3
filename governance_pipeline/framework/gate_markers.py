"""Marks between the stages of a run: what a stage read and made, derived again before the next one begins.

What belongs here: writing a mark from what is measured, and inspecting it. What does not: measuring a file
(`file_facts`) and running a stage. That a file of this name is there proves nothing: somebody may have made it by hand,
or the outputs may have changed since, so nothing of it is believed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import FaultyFileError, GovernError, UnreadableError, UsageError
from governance_pipeline.framework import folder as places
from governance_pipeline.framework.canonical_names import enforce_single_canonical
from governance_pipeline.framework.file_facts import FileFacts, facts_of, measured, path_below
from governance_pipeline.framework.json_file import file_text, read_json_file
from governance_pipeline.framework.registry import load_registry
from governance_pipeline.framework.safety_checks import enforce
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.strict.excerpt import excerpt, is_said
from governance_pipeline.strict.files import FileRefused
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.framework.folder import GovernedFolder

SCHEMA: Final = "govern/stage-marker/v1"
_STAGE: Final = re.compile(r"[A-Z0-9][A-Z0-9_-]{0,39}", re.ASCII)
_READABLE: Final = 0o644


class MarkerFault(StrEnum):
    """Why the next stage may not begin; the first that applies. The values never change their meaning."""

    MISSING = "marker_missing"
    UNREADABLE = "marker_unreadable"
    OTHER_STAGE = "marker_of_another_stage"
    FILE_MISSING = "file_missing"
    FILE_DIFFERS = "file_differs"
    COUNT_DIFFERS = "count_differs"
    NOT_DERIVED = "count_not_derived_again"
    NOT_LISTED = "output_not_listed"


class Difference(NamedTuple):
    """One thing that is not as it was marked: what it is, as it was marked and as it is; None: not there."""

    code: MarkerFault
    subject: str
    marked: str | None
    found: str | None


@dataclass(frozen=True, slots=True)
class MarkerCheck:
    """Whether the next stage may begin, with every difference; `document` is the mark, None where there is none."""

    ok: bool
    reason_code: MarkerFault | None
    message: str
    stage: str
    differences: tuple[Difference, ...] = ()
    document: Mapping[str, Any] | None = None


def marker_path(folder: GovernedFolder, stage: str) -> Path:
    """Give the file of the mark of a stage.

    Raises:
        UsageError: it is no name of a stage.
    """
    if not _STAGE.fullmatch(stage):
        raise UsageError(f"{stage!r} is no name of a stage; use capitals, digits, _ and - (up to 40)")
    return folder.path(places.CHECKPOINTS) / f"STAGE_{stage}_COMPLETED.json"


def complete_stage(
    folder: GovernedFolder,
    stage: str,
    *,
    run_id: str,
    by: str,
    now: datetime,
    outputs: Sequence[str | Path],
    inputs: Sequence[str | Path] = (),
    counts: Mapping[str, Callable[[], int]] | None = None,
) -> Mapping[str, Any]:
    """Mark a stage (such as A) as completed by an agent in a run, from what its files are now: never by its word.

    Args:
        folder: the governed folder.
        stage: name of the stage.
        run_id: run it belongs to.
        by: agent that ran it.
        now: the time.
        outputs: files it made; at least one, or there would be nothing to inspect.
        inputs: files it read.
        counts: name -> how to count it; the next stage counts again, by a way of its own.

    Returns:
        The mark (govern/stage-marker/v1) as it was written.

    Raises:
        UsageError: no name, no run, no agent, no output, or a file that is not below the folder.
        FrameworkRefused: an output is a second version of a registered asset, or one nobody approved.
        UnreadableError, StorageError: a file cannot be measured, or the mark not written; one that is there stays.
    """
    path = marker_path(folder, stage)
    _refuse_unfit(folder, stage, (run_id, by), outputs)
    who = {"stage": stage, "run_id": run_id, "completed_by": by, "completed_at": instant_text(now)}
    files = {
        name: [measured(folder, f).document for f in of] for name, of in (("inputs", inputs), ("outputs", outputs))
    }
    document = {"schema": SCHEMA, **who, **files, "counts": {name: count() for name, count in (counts or {}).items()}}
    AtomicWriter(folder.path(places.CHECKPOINTS)).write(path, file_text(document), mode=_READABLE)
    return document


def _refuse_unfit(folder: GovernedFolder, stage: str, who: tuple[str, str], outputs: Sequence[str | Path]) -> None:
    """Refuse a mark that shows nothing, or an output that is a second or unapproved version of a registered asset."""
    if not all(map(is_said, who)) or not outputs:
        raise UsageError(f"the mark of stage {stage} needs a run, an agent and at least one output to be inspected")
    registry_path = folder.path(places.REGISTRY)
    if not registry_path.exists():
        return
    for output in outputs:
        path = path_below(folder, output)
        check = enforce_single_canonical(path, registry_path)
        asset = None if check.asset is None else load_registry(registry_path).asset(check.asset)
        is_canonical = asset is not None and asset.canonical_path == path
        if not (is_canonical and asset and measured(folder, path).sha256 == asset.last_verified_hash):
            enforce(check)


def inspect_stage(
    folder: GovernedFolder,
    stage: str,
    *,
    needs: Sequence[str | Path] = (),
    counts: Mapping[str, Callable[[], int]] | None = None,
) -> MarkerCheck:
    """Derive again everything the mark of a stage says, before the next stage begins.

    Args:
        folder: the governed folder.
        stage: the stage that must be completed.
        needs: files the next stage is about to use; the mark must list each as an output.
        counts: how the next stage counts what the mark says was counted; each count of the mark must be among them.

    Returns:
        Not ok when there is no mark, it cannot be read, a file is missing or differs, a count differs or nobody counts
        it again, or a needed file is not an output of the stage.

    Raises:
        UsageError: it is no name of a stage, or a needed file is not below the folder.
    """
    path = marker_path(folder, stage)
    try:
        document, _ = read_json_file(path, "stage-marker-v1")
    except (FileRefused, FaultyFileError) as error:
        return _without_mark(stage, error)
    if document["stage"] != stage:
        said = f"{path.name} is the mark of stage {document['stage']}; somebody renamed it"
        return MarkerCheck(False, MarkerFault.OTHER_STAGE, said, stage, (), document)
    found = tuple(_differences(folder, document, needs, counts or {}))
    if not found:
        return MarkerCheck(True, None, "", stage, (), document)
    first = min(found, key=lambda difference: list(MarkerFault).index(difference.code))
    said = (
        f"stage {stage}: {excerpt(first.subject, 200)} was {excerpt(first.marked or 'not marked', 80)}, is "
        f"{excerpt(first.found or 'not there', 80)} ({len(found)} in all); the next stage does not begin"
    )
    return MarkerCheck(False, first.code, said, stage, found, document)


def _without_mark(stage: str, error: GovernError) -> MarkerCheck:
    is_missing = isinstance(error, FileRefused) and error.code == "not_found"
    code = MarkerFault.MISSING if is_missing else MarkerFault.UNREADABLE
    said = f"stage {stage} has no mark" if is_missing else f"its mark is none: {error}"
    return MarkerCheck(False, code, f"{said}; run stage {stage} to its end first", stage)


def _differences(
    folder: GovernedFolder,
    document: Mapping[str, Any],
    needs: Sequence[str | Path],
    counts: Mapping[str, Callable[[], int]],
) -> Iterator[Difference]:
    for entry in [*document["inputs"], *document["outputs"]]:
        yield from _file_difference(folder, facts_of(entry))
    listed = {entry["path"] for entry in document["outputs"]}
    for path in (path_below(folder, need) for need in needs):
        if path not in listed:
            yield Difference(MarkerFault.NOT_LISTED, path, None, "needed")
    for name, marked in document["counts"].items():
        if name not in counts:
            yield Difference(MarkerFault.NOT_DERIVED, name, str(marked), None)
        elif (now := counts[name]()) != marked:
            yield Difference(MarkerFault.COUNT_DIFFERS, name, str(marked), str(now))
    for name in counts.keys() - document["counts"].keys():
        yield Difference(MarkerFault.COUNT_DIFFERS, name, None, str(counts[name]()))


def _file_difference(folder: GovernedFolder, marked: FileFacts) -> Iterator[Difference]:
    try:
        now = measured(folder, marked.path)
    except (UnreadableError, UsageError) as error:
        is_missing = isinstance(error, FileRefused) and error.code == "not_found"
        code = MarkerFault.FILE_MISSING if is_missing else MarkerFault.FILE_DIFFERS
        yield Difference(code, marked.path, _words(marked), None if is_missing else str(error))
        return
    if now != marked:
        yield Difference(MarkerFault.FILE_DIFFERS, marked.path, _words(marked), _words(now))


def _words(facts: FileFacts) -> str:
    rows = "" if facts.rows is None else f", {facts.rows} rows"
    return f"{facts.sha256[:16]}…, {facts.bytes} bytes{rows}"
