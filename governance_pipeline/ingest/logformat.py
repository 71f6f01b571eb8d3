"""What a log format is to the rest of ingest: one module with these names.

What belongs here: the protocol. What does not: the list of formats (`formats`, `native`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from governance_pipeline.ingest.belonging import Belonging
    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Sample
    from governance_pipeline.strict.archive import Archive


class LogFormat(Protocol):
    """One supported kind of file.

    NAME is stable and lands in tables; DECLARES are the aggregates such a file claims, RECOMPUTABLE those of them
    whose parts it also holds; VERSIONS says which versions were seen.
    """

    NAME: str
    DECLARES: tuple[str, ...]
    RECOMPUTABLE: tuple[str, ...]
    VERSIONS: str

    def detect(self, sample: Sample) -> bool:
        """Tell by its content whether a file has this format."""

    def read(self, files: Sequence[LogFile], out: Extraction) -> None:
        """Read all files of this format of one round, given in path order, into the core tables."""


class SessionLogFormat(LogFormat, Protocol):
    """A format whose files say more of their session than records with one `session_id` do."""

    def belonging(self, sample: Sample, source: Path, /) -> Belonging:
        """Tell what a file of this format, which lies at `source`, says of the session or trajectory it is of.

        One session is one round: this is all that putting files together knows of a format (units).
        """


class TextLogFormat(LogFormat, Protocol):
    """A format that also has files which are not JSON: plain lines such as CSV."""

    def detect_text(self, head: str) -> bool:
        """Tell by its first lines, whole ones, whether a file that is not JSON belongs to this format."""


class ArchiveLogFormat(LogFormat, Protocol):
    """A format that also has files which are zip archives of JSON documents."""

    def detect_archive(self, archive: Archive) -> Any:
        """Give the document that describes an archive of this format, None when it is not of this format.

        Raises:
            RecordRefused: a member that would tell cannot be read; the archive is then not of this format.
        """
