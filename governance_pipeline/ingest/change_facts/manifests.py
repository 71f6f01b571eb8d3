"""Which files declare dependencies, and how each is read.

What belongs here: the list. What does not: reading one. Lock files are not on it: they follow from a manifest.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.other_manifests import (
    read_cargo,
    read_go_mod,
    read_gradle,
    read_package_json,
    read_pom,
)
from governance_pipeline.ingest.change_facts.python_manifests import read_pyproject, read_requirements, read_setup_cfg

if TYPE_CHECKING:
    from collections.abc import Callable

    from governance_pipeline.ingest.change_facts.dependency import Dependencies

_READERS: Final[tuple[tuple[str, Callable[[str], Dependencies]], ...]] = (
    ("*requirements*.txt", read_requirements),
    ("*requirements*.in", read_requirements),
    ("pyproject.toml", read_pyproject),
    ("setup.cfg", read_setup_cfg),
    ("package.json", read_package_json),
    ("go.mod", read_go_mod),
    ("Cargo.toml", read_cargo),
    ("pom.xml", read_pom),
    ("build.gradle", read_gradle),
    ("build.gradle.kts", read_gradle),
)
_BY_LINE: Final = frozenset({read_requirements})
_VENDORED: Final = frozenset({"node_modules", "vendor", "third_party", "site-packages", "fixtures", "testdata"})
"""Folders whose manifests are somebody else's, or texts for a test."""


def reader_of(path: str) -> Callable[[str], Dependencies] | None:
    """Give how the manifest at a path is read; None when it is none."""
    *folders, name = path.replace("\\", "/").split("/")
    if _VENDORED.intersection(folders):
        return None
    read = next((read for glob, read in _READERS if fnmatchcase(name, glob)), None)
    if read is None and folders and folders[-1] == "requirements" and name.endswith((".txt", ".in")):
        return read_requirements
    return read


def reads_lines(path: str) -> bool:
    """Tell whether each line of the manifest means the same by itself."""
    return reader_of(path) in _BY_LINE
