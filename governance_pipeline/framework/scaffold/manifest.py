"""The tree of a governed folder as data (`manifest.yaml`): which folders and files there are, in which order.

What belongs here: reading the list. What does not: the bytes of a file (`plan`) and the disk (`placing`).
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple

ROOT_FOLDER: Final = ""


class FolderEntry(NamedTuple):
    """One folder: POSIX path below the project; `is_open` when a project at work adds files of its own there."""

    path: str
    is_open: bool


class FileEntry(NamedTuple):
    """One file: POSIX path, name of its template, and what may become of it.

    `is_program`: code, not wording. `is_shared`: the same in every language. `is_living`: a project at work changes it.
    """

    path: str
    template: str
    is_program: bool
    is_shared: bool
    is_living: bool


class Manifest(NamedTuple):
    """The whole tree; a folder comes after the folder it is in, and before its files."""

    folders: tuple[FolderEntry, ...]
    files: tuple[FileEntry, ...]

    def is_open(self, folder: str) -> bool:
        """Tell whether a project at work may add files to a folder; the project folder itself always is."""
        return folder == ROOT_FOLDER or any(entry.path == folder and entry.is_open for entry in self.folders)


@cache
def manifest() -> Manifest:
    """Read the shipped manifest."""
    import yaml

    text = (resources.files("governance_pipeline.framework.scaffold") / "manifest.yaml").read_text("utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    folders = tuple(FolderEntry(entry["path"], entry["open"]) for entry in data["folders"])
    return Manifest(folders, tuple(_file(entry) for entry in data["files"]))


def _file(entry: dict[str, Any]) -> FileEntry:
    return FileEntry(entry["path"], entry["template"], entry["kind"] == "program", entry["shared"], entry["living"])
