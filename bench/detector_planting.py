"""Plant faults into commits of a history and see what the detectors find that they did not find before.

What belongs here: which commit and file a plant goes into, and how its findings are judged. What does not: the edits.
A case is a whole commit: what it really did stays in, one of its files is left otherwise than it left it.
"""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import pygit2
from detector_history import content, round_of
from detector_interface_faults import interface_language, interface_plants
from detector_manifest_faults import MANIFESTS, manifest_plants
from detector_plants import Source
from detector_rounds import Round, judge
from detector_source_faults import parses, source_plants
from detector_test_faults import test_plants
from detector_units import language_of

from governance_pipeline.ingest.change_facts.facts import facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from detector_plants import Files, Plant

    from governance_pipeline.ingest.history.commits import Commit

MOST_FILES = 40
"""Files of a commit that takes a plant: larger ones are imports and reformattings."""

LARGEST = 200_000
"""Bytes of the largest file that takes a plant."""

TRIES = 12
"""Places looked at per case before a kind is given up in a history."""


class Case(NamedTuple):
    """One planted case: the commit as it was, and as it is with the plant."""

    plant: Plant
    path: str
    real: Round
    planted: Round


def all_plants() -> list[Plant]:
    """Give every kind of edit."""
    return [*test_plants(), *source_plants(), *interface_plants(), *manifest_plants()]


def planted(path: Path, commits: Sequence[Commit], count: int, seed: int) -> list[dict[str, Any]]:
    """Plant `count` cases of each kind and give one row per kind: cases, how many were found, and false alarms by code.

    Cases are drawn by `seed` alone; a kind for which the history has no place gives no row.
    """
    places, repository = _places(commits), pygit2.Repository(str(path))
    cases: list[Case] = []
    for plant in all_plants():
        dice = Random(f"{seed} {plant.kind} {plant.language}")
        cases += _cases(repository, places.get(plant.language, []), plant, count, dice)
    return _rows(cases)


def _places(commits: Sequence[Commit]) -> dict[str, list[tuple[Commit, str]]]:
    places: dict[str, list[tuple[Commit, str]]] = defaultdict(list)
    for commit in commits:
        if len(commit.files) > MOST_FILES:
            continue
        for file in commit.files:
            if file.facts is not None and file.renamed_from is None and commit.parents:
                for language in _languages(file.path):
                    places[language].append((commit, file.path))
    return places


def _languages(path: str) -> Iterator[str]:
    tests = language_of(path)
    if tests is not None:
        yield tests.name
    elif path.endswith((".py", ".json", ".toml")):
        yield {"py": "python", "json": "json", "toml": "toml"}[path.rpartition(".")[2]]
    public = interface_language(path)
    if public is not None:
        yield public
    yield from (kind for kind, pattern in MANIFESTS.items() if pattern.search(path))


def _cases(
    repository: pygit2.Repository, places: Sequence[tuple[Commit, str]], plant: Plant, count: int, dice: Random
) -> Iterator[Case]:
    order = list(places)
    dice.shuffle(order)
    made = 0
    for commit, path in order[: count * TRIES]:
        source = _source(repository, commit, path)
        files = None if source is None else plant.make(source, dice)
        if source is not None and files and _is_sound(plant, source, files):
            yield Case(plant, path, round_of(commit), _with(commit, source, files, plant, made))
            made += 1
        if made == count:
            return


def _source(repository: pygit2.Repository, commit: Commit, path: str) -> Source | None:
    texts = [content(repository, sha, path) for sha in (commit.parents[0], commit.sha)]
    if any(text is None or not 0 < len(text) <= LARGEST for text in texts):
        return None
    try:
        before, after = (None if text is None else text.decode() for text in texts)
    except UnicodeDecodeError:
        return None
    if before is None or after is None or parses(path, before) is False or parses(path, after) is False:
        return None
    return Source(path, before, after)


def _is_sound(plant: Plant, source: Source, files: Files) -> bool:
    """Tell whether the edit is what it says: broken files do not parse, all others do, and something changed."""
    states = {parses(path, text) for path, text in files.items() if text is not None}
    is_changed = plant.is_renaming or files.get(source.path, source.after) != source.after
    return is_changed and (states == {False} if plant.code == "parse-failure" else False not in states)


def _with(commit: Commit, source: Source, files: Files, plant: Plant, number: int) -> Round:
    kept = [(path, found) for path, found in round_of(commit).files if path != source.path and path not in files]
    changed = []
    for at, (path, text) in enumerate(files.items()):
        after = None if text is None else text.encode()
        is_source = path == source.path or (plant.is_renaming and at == 0)
        before = source.before.encode() if is_source else None
        changed.append((path, facts(before, after, path, source.path if is_source else None)))
    return Round(f"{commit.sha}:{plant.language}:{plant.kind}:{number}", [*kept, *changed])


def _rows(cases: Sequence[Case]) -> list[dict[str, Any]]:
    real = judge(list({case.real.round_id: case.real for case in cases}.values()))
    found = judge([case.planted for case in cases])
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for case in cases:
        plant = case.plant
        row = rows.setdefault((plant.language, plant.kind), {
            "language": plant.language, "kind": plant.kind, "code": plant.code, "why": plant.why,
            "cases": 0, "found": 0, "others": {},
        })  # fmt: skip
        new = {one.code for one in found[case.planted.round_id] - real[case.real.round_id]}
        row["cases"] += 1
        row["found"] += plant.code in new
        for code in sorted(new - {plant.code}):
            row["others"][code] = row["others"].get(code, 0) + 1
    return list(rows.values())
