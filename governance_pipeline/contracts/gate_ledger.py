"""Contract of `gate_ledger`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    TableModel,
    Text,
    Utc,
    count,
    sha256,
    text,
    utc,
)


class GateLedger(TableModel):
    """One row per event of the ledger: a copy to query, which decides nothing."""

    seq: Count = count("Number of the event, from 1.", at_least=1)
    ts: Utc = utc("When, by the clock of the one who appended it.", null=False)
    type: Text = text("Kind of event.")
    actor: Text = text("Who caused it.")
    round_id: Text = text("Round it is about, where its body names one.", null=True)
    body: Text = text("Its content as canonical JSON.")
    event_sha256: Text = sha256("Digest of the exact bytes of the event.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["seq"]
        metadata = {"version": 1, "by_round": False}
