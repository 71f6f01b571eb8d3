"""Looking whether a folder is as it was laid out: the tree, and every file byte for byte by its hash.

What belongs here: walking the folder and naming every difference. What does not: the plan it is held to (`plan`) and
what a file must hold in any words (`content_rules`). Acceptance by looking, not by believing a report (seed §9).
"""

from __future__ import annotations

import hashlib
import os
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.framework import folder
from governance_pipeline.framework.scaffold.content_rules import form_faults, template_faults
from governance_pipeline.framework.scaffold.file_bytes import file_bytes
from governance_pipeline.framework.scaffold.manifest import manifest
from governance_pipeline.framework.scaffold.plan import plan_of
from governance_pipeline.framework.scaffold.signatures import Variant, signature_faults, variant_of, variant_of_folder
from governance_pipeline.framework.scaffold.template_files import LANGUAGES
from governance_pipeline.framework.scaffold.user_template import NOT_LOOKED_AT
from governance_pipeline.strict.files import FileRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from governance_pipeline.framework.scaffold.plan import Plan, PlannedFile


LAYOUT_SCHEMA: Final = "govern/framework-layout/v1"


class Deviation(StrEnum):
    """How a folder differs from its plan."""

    MISSING = "missing"
    CHANGED = "changed"
    EXTRA = "extra"
    WRONG_KIND = "wrong_kind"
    UNREADABLE = "unreadable"
    NOT_A_TEMPLATE = "not_a_template"
    MALFORMED = "malformed"
    SIGNATURE = "signature"
    VARIANT = "variant"


class Difference(NamedTuple):
    """One difference: POSIX path below the folder, what kind, in words, and both hashes where there are bytes."""

    path: str
    deviation: Deviation
    detail: str
    expected_sha256: str | None = None
    found_sha256: str | None = None


class Layout(NamedTuple):
    """What was found: which safety_checks.py it is, every difference by path, and how many files were compared."""

    variant: Variant
    differences: tuple[Difference, ...]
    compared_count: int
    changed_in_use: tuple[str, ...]


def verify_layout(root: Path, plan: Plan, *, variant: Variant | None = None, is_in_use: bool = False) -> Layout:
    """Compare a folder with a plan; nothing in it is executed and no link is followed.

    Args:
        root: the project folder.
        plan: what it is held to (`matching_plan`).
        variant: the safety_checks.py that must be there; None: either of the two.
        is_in_use: the project has been at work: files of its own in open folders, and changed files a project changes,
            are no difference as long as they keep their form.

    Raises:
        UsageError: `root` is no folder.
        UnreadableError: a folder of it cannot be listed; what is in it is then unknown.
    """
    if not root.is_dir():
        raise UsageError(f"there is no folder {root}; name the folder `govern init` made")
    found = dict(_entries(root))
    differences = [*_folder_differences(found), *_extra(found, is_in_use)]
    changed_in_use: list[str] = []
    kind = Variant.NEITHER
    for file in plan.files:
        data = _read(root, file.path, found, differences)
        if data is None:
            continue
        if file.path == folder.SAFETY_CHECKS:
            kind = variant_of(data)
            differences += _safety_differences(file, data, kind, variant)
            continue
        if data != file.data and is_in_use and file.entry.is_living:
            changed_in_use.append(file.path)
        elif data != file.data:
            differences.append(_changed(file.path, file.data, data))
        differences += _content_differences(file.path, data, is_in_use=is_in_use)
    differences.sort()
    return Layout(kind, tuple(differences), len(plan.files), tuple(changed_in_use))


def matching_plan(root: Path, language: str | None = None, template: Path | None = None) -> Plan:
    """Make the plan a folder is meant to follow: its kind of safety_checks.py, and the language most of its files have.

    Args:
        root: the project folder.
        language: hold it to this one; None: the one most files are in, English when none is.
        template: folder with the user's own wording, as given to `govern init`.

    Raises:
        UsageError: the template cannot be used.
    """
    found = variant_of_folder(root)
    variant = Variant.LIBRARY if found is Variant.NEITHER else found
    plans = [plan_of(name, variant, template) for name in ([language] if language else LANGUAGES)]
    return max(plans, key=lambda plan: sum(_has(root, file) for file in plan.files))


def _has(root: Path, file: PlannedFile) -> bool:
    try:
        return file_bytes(root / file.path) == file.data
    except FileRefused:
        return False


def _entries(root: Path) -> Iterator[tuple[str, str]]:
    """Yield path and kind (file, folder, link, special) of what is in the folders of the tree.

    What is inside a folder that is extra is not looked at, nor `.git` at the root.
    """
    known = {folder.path for folder in manifest().folders}
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(root / below) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            raise UnreadableError(
                f"{root / below} cannot be listed: {error.strerror}; give this user the right to read it"
            ) from error
        for entry in listed:
            path = f"{below}/{entry.name}" if below else entry.name
            if path == NOT_LOOKED_AT:
                continue
            kind = _kind(entry)
            yield path, kind
            if kind == "folder" and path in known:
                waiting.append(path)


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "special"


def _folder_differences(found: Mapping[str, str]) -> Iterator[Difference]:
    for entry in manifest().folders:
        kind = found.get(entry.path)
        if kind is None:
            yield Difference(entry.path, Deviation.MISSING, "the folder is not there")
        elif kind != "folder":
            yield Difference(entry.path, Deviation.WRONG_KIND, f"a folder is expected, a {kind} is there")


def _extra(found: Mapping[str, str], is_in_use: bool) -> Iterator[Difference]:
    """Yield what the tree does not have; a project at work has files and folders of its own in open folders."""
    entries = manifest()
    known = {folder.path for folder in entries.folders} | {file.path for file in entries.files}
    for path, kind in found.items():
        is_own = is_in_use and kind != "link" and entries.is_open(path.rpartition("/")[0])
        if path not in known and not is_own:
            yield Difference(path, Deviation.EXTRA, f"the tree has no such {kind}")


def _read(root: Path, path: str, found: Mapping[str, str], differences: list[Difference]) -> bytes | None:
    kind = found.get(path)
    if kind is None:
        differences.append(Difference(path, Deviation.MISSING, "the file is not there"))
        return None
    if kind != "file":
        differences.append(Difference(path, Deviation.WRONG_KIND, f"a file is expected, a {kind} is there"))
        return None
    try:
        return file_bytes(root / path)
    except FileRefused as refusal:
        differences.append(Difference(path, Deviation.UNREADABLE, str(refusal)))
        return None


def _safety_differences(file: PlannedFile, data: bytes, kind: Variant, wanted: Variant | None) -> Iterator[Difference]:
    if kind is Variant.NEITHER:
        yield _changed(file.path, file.data, data)
    elif wanted not in (None, kind):
        yield Difference(file.path, Deviation.VARIANT, f"it is the {kind}, the {wanted} is asked for")
    for fault in signature_faults(data):
        yield Difference(file.path, Deviation.SIGNATURE, fault)


def _content_differences(path: str, data: bytes, *, is_in_use: bool) -> Iterator[Difference]:
    for fault in form_faults(path, data):
        yield Difference(path, Deviation.MALFORMED, fault)
    if not is_in_use:
        for fault in template_faults(path, data):
            yield Difference(path, Deviation.NOT_A_TEMPLATE, fault)


def _changed(path: str, expected: bytes, found: bytes) -> Difference:
    digests = hashlib.sha256(expected).hexdigest(), hashlib.sha256(found).hexdigest()
    return Difference(path, Deviation.CHANGED, "its bytes are not those of the template", *digests)


def layout_document(root: Path, plan: Plan, layout: Layout, *, is_in_use: bool) -> dict[str, Any]:
    """Give what was found as a document of `framework-layout-v1`."""
    return {
        "schema": LAYOUT_SCHEMA,
        "folder": str(root),
        "language": plan.language,
        "safety_checks": str(layout.variant),
        "is_in_use": is_in_use,
        "is_as_laid_out": not layout.differences,
        "compared_count": layout.compared_count,
        "differences": [
            {**difference._asdict(), "deviation": str(difference.deviation)} for difference in layout.differences
        ],
        "changed_in_use": list(layout.changed_in_use),
    }
