"""What can be derived again of a file: its digest, its size, and how many rows it has.

What belongs here: measuring one file of a governed folder. What does not: comparing (`gate_markers`).
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.strict.files import digest_file, open_regular

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.framework.folder import GovernedFolder

LINES: Final = frozenset({".csv", ".tsv", ".jsonl", ".ndjson", ".txt", ".md", ".log", ".sql"})
"""Endings of files whose lines are counted."""
_BLOCK: Final = 1 << 20


class FileFacts(NamedTuple):
    """A file by its path below the folder: SHA-256, bytes, and rows (None where a file of its kind has none)."""

    path: str
    sha256: str
    bytes: int
    rows: int | None

    @property
    def document(self) -> dict[str, Any]:
        """The facts as a member of a document."""
        return dict(self._asdict())


def facts_of(entry: Mapping[str, Any]) -> FileFacts:
    """Read facts from a member of a document."""
    return FileFacts(entry["path"], entry["sha256"], entry["bytes"], entry["rows"])


def measured(folder: GovernedFolder, path: str | Path) -> FileFacts:
    """Measure a file of the folder.

    Raises:
        UsageError: it is not below the folder.
        UnreadableError: it is not there, no regular file, or does not hold what its ending says.
    """
    below = path_below(folder, path)
    file = folder.path(below)
    digest = digest_file(file)
    return FileFacts(below, digest.sha256, digest.size, _rows(file))


def path_below(folder: GovernedFolder, path: str | Path) -> str:
    """Give a path below the folder, with POSIX separators; one that is not absolute is below it already.

    Raises:
        UsageError: it leads out of the folder.
    """
    given, root = Path(path), folder.root.resolve()
    try:
        below = (given if given.is_absolute() else root / given).resolve().relative_to(root)
    except (ValueError, OSError, RuntimeError):
        raise UsageError(f"{path} is not below {folder.root}; name a file of the project") from None
    return PurePosixPath(*below.parts).as_posix()


def _rows(file: Path) -> int | None:
    if file.suffix == ".parquet":
        return _parquet_rows(file)
    return _lines(file) if file.suffix in LINES else None


def _parquet_rows(file: Path) -> int:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with open_regular(file) as stream, parquet.ParquetFile(stream) as table:
            return int(table.metadata.num_rows)
    except (pa.ArrowException, OSError) as error:
        raise UnreadableError(f"{file} is no Parquet file: {error}; make it again") from None


def _lines(file: Path) -> int:
    """Count lines; a last one without its line feed is one."""
    count, last = 0, b"\n"
    with open_regular(file) as stream:
        while block := stream.read(_BLOCK):
            count += block.count(b"\n")
            last = block[-1:]
    return count + (last != b"\n")
