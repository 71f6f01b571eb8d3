"""Contract of `gate_requests`."""

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


class GateRequests(TableModel):
    """One row per request for a decision about a round, with the state it was in when the table was made.

    A state is folded from the ledger, the time and the digests in force, so this is a picture of one moment; passage is
    verified anew each time. code and message are null where passage is granted, or was.
    """

    round_id: Text = round_id()
    request_id: Text = sha256("Digest of gate, round and subject digest.")
    gate: Text = text("Gate that asks.")
    subject_sha256: Text = sha256("Digest of the manifest: everything the gate would release.")
    state: Text = text(
        "Where it stands.",
        pattern=r"^(PENDING|APPROVED(_FAILED)?|REJECTED|REVOKED|EXPIRED|SUPERSEDED|STALE|BLOCKED_POLICY|CONSUMED)$",
    )
    code: Text = text("Reason code of the refusal.", null=True, pattern=r"^[A-Z_]+$")
    message: Text = text("What is in the way, in words.", null=True)
    requester: Text = text("Service principal that asks.")
    actors: Text = text("JSON list of everybody who must not approve: producers, validators, requester.")
    created_at: Utc = utc("When the newest window of it was opened.", null=False)
    expires_at: Utc = utc("When nobody having decided becomes a no.", null=False)
    window_number: Count = count("How often it was asked before about the same work.")
    policy_version: Text = text("Gate policy it is asked under.")
    policy_sha256: Text = sha256("Digest of that policy.")
    verdict_status: Text = text("Verdict of the round then.", pattern=r"^(block|unknown|warn|pass)$")
    mismatch_count: Count = count("Mismatch cases of the round, open or not.")
    failed_independence_count: Count = count("Facts of independence that fail or are unknown.")
    approvals_count: Count = count("Approvals recorded in this window, whether or not they count.")
    supersedes: Text = sha256("Request about earlier work that it takes the place of.", null=True)
    made_at: Utc = utc("Moment of the picture.", null=False)

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "request_id"]
        metadata = {"version": 1}
