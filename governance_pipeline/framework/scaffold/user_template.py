"""A user's own wording of the declarative files (`--template DIR`): read, and refused when it could not be meant.

What belongs here: which files a template folder may hold and what they must hold. What does not: the shipped wording
(`template_files`). The paths are those of the tree. A file the tree does not have is refused rather than left out: a
misspelled name would deploy the shipped words in silence.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import Fault, FaultyFileError, UsageError
from governance_pipeline.framework.scaffold.content_rules import README, form_faults, template_faults
from governance_pipeline.framework.scaffold.file_bytes import file_bytes
from governance_pipeline.framework.scaffold.honest_limit import PLACEHOLDER, placeholder_fault
from governance_pipeline.framework.scaffold.manifest import manifest
from governance_pipeline.strict.files import FileRefused
from governance_pipeline.strict.limits import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NOT_LOOKED_AT: Final = ".git"
"""Folder of version control at the root of a template or of a project; nothing below it is wording."""


def read_user_template(root: Path) -> Mapping[str, bytes]:
    """Read the files of a template folder; shape: path in the tree to bytes, at least one.

    Raises:
        UsageError: no such folder, or no file of the tree is in it.
        FaultyFileError: it holds a link, a special file, a program, a file the tree does not have, or a file whose
            content breaks a rule; every fault of it is named.
    """
    if not root.is_dir():
        raise UsageError(f"there is no template folder {root}; give a folder with files named as in a governed project")
    found: dict[str, bytes] = {}
    faults: list[Fault] = []
    for path in _files(root, faults):
        try:
            found[path] = file_bytes(root / path)
        except FileRefused as refusal:
            faults.append(Fault(refusal.code, None, str(refusal)))
        else:
            faults += [Fault("content", None, f"{path}: {message}") for message in _content_faults(path, found[path])]
    if faults:
        raise FaultyFileError(str(root), faults)
    if not found:
        raise UsageError(f"{root} holds no file of a governed project; its files are {', '.join(sorted(_wordings()))}")
    return found


def _files(root: Path, faults: list[Fault]) -> Iterator[str]:
    """Yield the paths that may be wording, and note whatever else is there."""
    allowed = _wordings()
    programs = {entry.path for entry in manifest().files if entry.is_program}
    for parent, folders, names in os.walk(root, onerror=_raised):
        folders.sort()
        below = Path(parent).relative_to(root)
        if below == Path():
            folders[:] = [name for name in folders if name != NOT_LOOKED_AT]
        linked = [name for name in folders if (Path(parent) / name).is_symlink()]
        for path in (str((below / name).as_posix()) for name in sorted([*names, *linked])):
            if path in allowed:
                yield path
            elif path in programs:
                faults.append(Fault("program", None, f"{path} is a program; a template holds wording only, remove it"))
            else:
                faults.append(
                    Fault("not_in_tree", None, f"{path} is no file of a governed project; rename or remove it")
                )


def _wordings() -> frozenset[str]:
    return frozenset(entry.path for entry in manifest().files if not entry.is_program)


def _content_faults(path: str, data: bytes) -> Iterator[str]:
    if len(data) > LIMITS.document_bytes:
        yield f"it has more than {LIMITS.document_bytes} bytes"
        return
    if not data:
        yield "it is empty; remove it and the shipped wording is used"
        return
    if b"\0" in data:
        yield "it holds a NUL byte; a script cannot write it"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        yield f"byte {error.start} is not UTF-8"
        return
    yield from form_faults(path, data)
    yield from template_faults(path, data)
    if path == README:
        yield from placeholder_fault(text)
    elif PLACEHOLDER in text:
        yield f"{PLACEHOLDER} stands for text in {README} only"


def _raised(error: OSError) -> None:
    raise UsageError(f"{error.filename} cannot be listed: {error.strerror}; give this user the right to read it")
