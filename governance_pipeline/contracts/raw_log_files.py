"""Contract of `raw_log_files`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    TableModel,
    Text,
    count,
    round_id,
    sha256,
    text,
)


class RawLogFiles(TableModel):
    """One row per regular file of a round, whatever it is.

    lines_in = accepted + quarantined + blank + duplicates, always. Null: format where no format claims the file
    (reason_code says why), file_sha256 where it could not be opened.
    """

    round_id: Text = round_id()
    path: Text = text("Path below the round folder, POSIX separators.")
    file_sha256: Text = sha256("Digest of the stored copy; null when the file could not be opened.", null=True)
    format: Text = text("Format that claimed the file by its content; null when none did.", null=True)
    format_version: Text = text("Version the file states of itself; null when it states none.", null=True)
    record_unit: Text = text(
        "What lines_in counts: line, record (of a document) or file (unread).",
        pattern=r"^(line|record|file)$",
    )
    bytes: Count = count("Size when opened.")
    lines_in: Count = count("Records found, in record_unit.")
    accepted: Count = count("Records used.")
    quarantined: Count = count("Records in raw_quarantine that could not be used.")
    blank: Count = count("Blank lines.")
    duplicates: Count = count("Records that repeat another one; each has a raw_quarantine row with duplicate_of.")
    reason_code: Text = text("Why the file as a whole was not read; null when it was.", null=True)

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "path"]
        metadata = {"version": 1}
