"""Laying out a governed folder: what is missing is made, what is there is left as it is.

What belongs here: looking first, refusing as a whole, making what is missing, and the report. What does not: words and
bytes (`plan`). Nothing that exists is ever written to, so an upgrade loses no edit; what differs from the template is
listed, and `govern verify-layout DIR --diff` shows how.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import Fault, FaultyFileError, StorageError, UsageError
from governance_pipeline.framework.scaffold import placing
from governance_pipeline.framework.scaffold.placing import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from governance_pipeline.framework.scaffold.plan import Plan, PlannedFile

INIT_SCHEMA: Final = "govern/framework-init/v1"


class LaidOut(NamedTuple):
    """What was made and what was there: POSIX paths below the folder, in the order of the tree.

    `same` files are byte for byte those of the template, `differing` ones are not and were left as they are.
    """

    added_folders: tuple[str, ...]
    added_files: tuple[str, ...]
    same: tuple[str, ...]
    differing: tuple[str, ...]


def lay_out(target: Path, plan: Plan, *, is_dry_run: bool = False) -> LaidOut:
    """Make what a governed folder lacks; a folder that does not exist is made with its parents.

    Args:
        target: the project folder.
        plan: what it gets.
        is_dry_run: look and report, and change nothing.

    Raises:
        UsageError: `target` is no folder; FaultyFileError: a link, folder or special file stands where the tree has
            something else. Nothing was written then.
        StorageError: something could not be made; what was made so far stays and a second call goes on from there.
    """
    if is_dry_run and not target.exists():
        return LaidOut(tuple(f.path for f in plan.folders), tuple(f.path for f in plan.files), (), ())
    with _opened(target, is_made=not is_dry_run) as root:
        return _laid_out(target, root, plan, is_dry_run)


def init_document(target: Path, plan: Plan, done: LaidOut, *, is_dry_run: bool) -> dict[str, Any]:
    """Give what was done as a document of `framework-init-v1`."""
    own = [file.path for file in plan.files if file.is_own_wording]
    members = {name: list(paths) for name, paths in done._asdict().items()}
    return {
        "schema": INIT_SCHEMA,
        "folder": str(target),
        "language": plan.language,
        "safety_checks": str(plan.variant),
        "is_dry_run": is_dry_run,
        **members,
        "own_wording": own,
    }


def _laid_out(target: Path, root: int, plan: Plan, is_dry_run: bool) -> LaidOut:
    try:
        folders, files = _survey(target, root, plan)
        if not is_dry_run:
            for path in ["", *(entry.path for entry in plan.folders if entry.path not in folders)]:
                placing.sweep(root, path)
            for path in folders:
                placing.make_folder(root, path)
        added = [file for file in plan.files if file.path in files and (is_dry_run or _made(root, file))]
        there = [file for file in plan.files if file not in added]
        same = [file.path for file in there if _holds(root, file)]
    except OSError as error:
        name = error.filename if isinstance(error.filename, str) else ""
        raise StorageError(
            f"{target} cannot be laid out: {name or 'a file of it'}: {error.strerror}; check rights and space of the "
            "folder, then run the same command again"
        ) from error
    differing = tuple(file.path for file in there if file.path not in same)
    return LaidOut(folders, tuple(file.path for file in added), tuple(same), differing)


def _survey(target: Path, root: int, plan: Plan) -> tuple[tuple[str, ...], frozenset[str]]:
    """Give the folders and files that are missing.

    Raises:
        FaultyFileError: something else stands in the place of one.
    """
    faults: list[Fault] = []
    missing: dict[Kind, list[str]] = {Kind.FOLDER: [], Kind.FILE: []}
    wanted = [(f.path, Kind.FOLDER) for f in plan.folders] + [(f.path, Kind.FILE) for f in plan.files]
    for path, kind in wanted:
        found = placing.kind_at(root, path)
        if found is Kind.ABSENT:
            missing[kind].append(path)
        elif found is not kind:
            faults.append(Fault("in_the_way", None, f"{path} is {found}, not {kind}; move it away, then run it again"))
    if faults:
        raise FaultyFileError(str(target), faults)
    return tuple(missing[Kind.FOLDER]), frozenset(missing[Kind.FILE])


def _made(root: int, file: PlannedFile) -> bool:
    """Make a file; False when somebody made one there meanwhile, which then stays."""
    try:
        placing.make_file(root, file.path, file.data)
    except FileExistsError:
        return False
    return True


def _holds(root: int, file: PlannedFile) -> bool:
    """Tell whether a file that is there has the bytes of the plan; one that cannot be read has not."""
    parent, _, name = file.path.rpartition("/")
    with placing.opened_folder(root, parent) as folder:
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        except OSError:
            return False
    try:
        if os.fstat(descriptor).st_size != len(file.data):
            return False
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            return stream.read(len(file.data) + 1) == file.data
    finally:
        os.close(descriptor)


@contextmanager
def _opened(target: Path, *, is_made: bool) -> Iterator[int]:
    """Open the project folder and be the only one who lays it out; the lock of the folder itself leaves no file."""
    try:
        if is_made:
            target.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(target, placing.FOLDER_FLAGS & ~os.O_NOFOLLOW)
    except (FileExistsError, NotADirectoryError):
        raise UsageError(f"{target} is no folder; name another one or move it away") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StorageError(f"{target} cannot be opened as a folder: {reason}; check its name and rights") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)
