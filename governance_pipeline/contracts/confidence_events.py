"""Contract of `confidence_events`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    TableModel,
    Text,
    Utc,
    count,
    round_id,
    sha256,
    text,
    utc,
)


class ConfidenceEvents(TableModel):
    """One row per verified fact about an agent's work, and per line of a round's confidence.jsonl.

    A fact with everything an event needs is `derived` and is scored; one that names nobody, or no runtime, stays here
    as `unattributed` with its reason. A line an agent could have written is `not_imported` until a person imports its
    file, and is never scored from here. Null: what an event of that kind has not, or what could not be known.
    """

    round_id: Text = round_id()
    row_id: Text = sha256("Digest of round, kind, evidence and place among the events of one fact.")
    kind: Text = text(
        "mismatch_confirmed, false_completion, review_caught, approval_logged, or line (of confidence.jsonl).",
        pattern=r"^(mismatch_confirmed|false_completion|review_caught|approval_logged|line)$",
    )
    state: Text = text(
        "derived (scored), unattributed, not_imported, or imported.",
        pattern=r"^(derived|unattributed|not_imported|imported)$",
    )
    reason: Text = text(
        "Why it is unattributed.",
        null=True,
        pattern=r"^(no_run|several_runs|no_agent|no_runtime|no_time|written_by_runtime|one_pool|log_only)$",
    )
    event_id: Text = text("Id of the event; of a line, what it says where that is a valid id.", null=True)
    at: Utc = utc("When the fact was established; null = unknown, and of lines.")
    day_on: Text = text("UTC date of it.", null=True, pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
    run_id: Text = text("Run it is about.", null=True)
    subject_id: Text = text("Agent it is about.", null=True)
    runtime: Text = text("platform/model/thinking of that run.", null=True)
    event_type: Text = text("What kind of event.", null=True)
    domain: Text = text("Domain it counts in.", null=True)
    severity: Text = text("Of an error.", null=True)
    pattern_code: Text = text("Pattern it is an instance of.", null=True)
    evidence: Text = text("Record, finding or attestation id: never what an agent says of itself.", null=True)
    event: Text = text("The event as JSON text, as it is folded; null where none is.", null=True)
    path: Text = text("Evidence: path of the file below the round folder.", null=True)
    file_sha256: Text = sha256("Evidence: digest of that file.", null=True)
    line: Count = count("Evidence: physical line, from 1; null for a whole document.", null=True, at_least=1)
    pointer: Text = text("Evidence: RFC 6901 pointer inside the line or document.", null=True)

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "row_id"]
        metadata = {"version": 1}
