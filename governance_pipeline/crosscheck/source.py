"""What a source is: a named file of rows with a key and a role.

What belongs here: the definition and the identity of the file behind it. What does not: reading rows
(`crosscheck.sources`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from governance_pipeline.crosscheck.check import Role


class SourceFormat(StrEnum):
    """Formats a source may have, told by the extension alone."""

    JSONL = ".jsonl"
    CSV = ".csv"
    PARQUET = ".parquet"


@dataclass(frozen=True, slots=True)
class Source:
    """One source of a check file.

    Attributes:
        name: name in formulas.
        role: declared or components; None only while a file with a fault in it is read on.
        key: column that holds the subject.
        derived: columns that were computed from declared ones, so no check may use them.
        path: the file as written in the check file; empty for a source that is a table.
        file: the file; None for a source that is a table.
        line: line of the check file that names it.
    """

    name: str
    role: Role | None
    key: str
    derived: frozenset[str] = frozenset()
    path: str = ""
    file: Path | None = None
    line: int = 1

    @property
    def identity(self) -> str:
        """What makes two sources the same one: the real path, or the inode where the file exists.

        Another name, a link in its folders or a hard link does not make a file independent of itself.
        """
        if self.file is None:
            return f"table {self.name}"
        real = os.path.realpath(self.file)
        try:
            status = Path(real).stat()
        except (OSError, ValueError):
            return f"path {real}"
        return f"inode {status.st_dev} {status.st_ino}"


def size_of(source: Source) -> int:
    """Return the bytes of a source; 0 when nobody can tell: the reader will say why."""
    try:
        return 0 if source.file is None else source.file.stat().st_size
    except (OSError, ValueError):
        return 0
