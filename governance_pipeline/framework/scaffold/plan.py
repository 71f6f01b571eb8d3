"""The plan of one governed folder: every folder, and every file with the bytes it gets.

What belongs here: language, kind of safety_checks.py and a user's wording put together into bytes. What does not: the
disk. `govern init`, `verify-layout` and both scripts work from this one plan, so they cannot differ.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.framework import folder
from governance_pipeline.framework.scaffold.content_rules import README
from governance_pipeline.framework.scaffold.honest_limit import filled_readme
from governance_pipeline.framework.scaffold.manifest import FileEntry, FolderEntry, manifest
from governance_pipeline.framework.scaffold.signatures import TEMPLATES, Variant
from governance_pipeline.framework.scaffold.template_files import template_bytes
from governance_pipeline.framework.scaffold.user_template import read_user_template

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class PlannedFile(NamedTuple):
    """One file of a plan: its entry, its bytes, and whether the words are the user's own."""

    entry: FileEntry
    data: bytes
    is_own_wording: bool

    @property
    def path(self) -> str:
        """POSIX path below the project."""
        return self.entry.path

    @property
    def sha256(self) -> str:
        """Digest of the bytes."""
        return hashlib.sha256(self.data).hexdigest()


class Plan(NamedTuple):
    """A whole governed folder as it is laid out."""

    language: str
    variant: Variant
    folders: tuple[FolderEntry, ...]
    files: tuple[PlannedFile, ...]

    def file(self, path: str) -> PlannedFile:
        """Give one file of the plan."""
        return next(file for file in self.files if file.path == path)


def plan_of(language: str, variant: Variant = Variant.LIBRARY, template: Path | None = None) -> Plan:
    """Make the plan of a governed folder.

    Args:
        language: of the shipped words; one of `template_files.LANGUAGES`.
        variant: safety_checks.py that calls the library, or the skeleton.
        template: folder with the user's own wording; a file it does not hold is the shipped one.

    Raises:
        UsageError: the template cannot be used; FaultyFileError names every fault of it.
    """
    own = {} if template is None else read_user_template(template)
    entries = manifest()
    files = tuple(_planned(entry, language, variant, own) for entry in entries.files)
    return Plan(language, variant, entries.folders, files)


def _planned(entry: FileEntry, language: str, variant: Variant, own: Mapping[str, bytes]) -> PlannedFile:
    name = TEMPLATES[variant] if entry.path == folder.SAFETY_CHECKS else entry.template
    data = own.get(entry.path)
    if data is None:
        data = template_bytes(None if entry.is_shared else language, name)
    if entry.path == README:
        is_skeleton = variant is Variant.SKELETON
        data = filled_readme(data.decode("utf-8"), language, is_skeleton=is_skeleton).encode()
    return PlannedFile(entry, data, entry.path in own)
