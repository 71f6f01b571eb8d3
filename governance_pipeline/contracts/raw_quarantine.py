"""Contract of `raw_quarantine`."""

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
from governance_pipeline.vocabulary import Disposition


class RawQuarantine(TableModel):
    """One row per record that was not used: broken, or the repetition of another; and per repeated part of a used one.

    The excerpt is escaped, cut and masked; the bytes stay in the stored copy. Null: line where the whole file is
    meant, duplicate_of, dedup_key and dedup_reason where the record is broken, file_sha256 where the file could not be
    opened. Rows of quarantined and duplicate records are as many as `raw_log_files` counts; a repeated_part stands in a
    record that is accepted for what else it holds.
    """

    round_id: Text = round_id()
    path: Text = text("Path below the round folder.")
    file_sha256: Text = sha256("Digest of the file.", null=True)
    format: Text = text("Format that read the file; null when none did.", null=True)
    line: Count = count(
        "Physical line, from 1; null when the whole file or a record of a document is meant.",
        null=True,
        at_least=1,
    )
    pointer: Text = text("RFC 6901 pointer of a record inside a document; empty for a whole line or file.")
    byte_offset: Count = count("Where the record starts (or where the reader stopped); null when unknown.", null=True)
    disposition: Text = text("quarantined, duplicate or repeated_part.", among=Disposition)
    reason_code: Text = text("Stable code of the reason.")
    duplicate_of: Text = text("path:line of the record this one repeats; null when it is broken.", null=True)
    dedup_key: Text = text("What both have in common: an id, or the digest of the record.", null=True)
    dedup_reason: Text = text("Why records with the same key are the same thing.", null=True)
    excerpt: Text = text("Escaped, masked beginning of the record.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "path", "line", "pointer", "reason_code"]
        metadata = {"version": 2}
