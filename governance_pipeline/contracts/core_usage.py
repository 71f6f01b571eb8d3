"""Contract of `core_usage`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    Flag,
    Money,
    TableModel,
    Text,
    Utc,
    count,
    flag,
    money,
    round_id,
    sha256,
    text,
    utc,
)


class CoreUsage(TableModel):
    """One row per usage report of a log, repetitions included and marked.

    Sums take the rows with duplicate_of null. A token kind the log does not report is null, never 0. dedup_key says
    which reports are the same call, dedup_reason why.
    """

    round_id: Text = round_id()
    run_id: Text = text("Run.")
    call_id: Text = text("API call the report belongs to.", null=True)
    dedup_key: Text = text("Reports with the same key are one call; null when each report is a call.", null=True)
    dedup_reason: Text = text("Why that key.", null=True)
    duplicate_of: Text = text(
        "path:line or path:pointer of the report that counts; null when this one does.", null=True
    )
    model_id: Text = text("Model.", null=True)
    input_tokens: Count = count("Input tokens as reported.", null=True)
    output_tokens: Count = count("Output tokens as reported.", null=True)
    cache_creation_tokens: Count = count("Tokens written to the cache.", null=True)
    cache_read_tokens: Count = count("Tokens read from the cache.", null=True)
    reasoning_tokens: Count = count("Reasoning tokens.", null=True)
    is_cache_inside_input: Flag = flag("Cached tokens are part of input_tokens in this format.", null=True)
    cost_usd: Money = money("Cost the log reports for this call; null = no price known, never 0.")
    cost_lexeme: Text = text("The same number as the log wrote it.", null=True)
    at: Utc = utc("When.")
    path: Text = text("Path of the source file below the round folder, POSIX separators.")
    file_sha256: Text = sha256("Digest of the source file.")
    line: Count = count(
        "Physical line in the source file, from 1; null when the file is one document.", null=True, at_least=1
    )
    pointer: Text = text("RFC 6901 pointer inside the line or document.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "path", "line", "pointer"]
        metadata = {"version": 1}
