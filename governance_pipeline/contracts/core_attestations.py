"""Contract of `core_attestations`."""

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


class CoreAttestations(TableModel):
    """One row per line of attestations.jsonl: a signed envelope or a bare claim.

    Nothing here is verified: signatures are checked by the gate. A bare claim satisfies nothing.
    """

    round_id: Text = round_id()
    form: Text = text("envelope (DSSE) or bare.", pattern=r"^(envelope|bare)$")
    payload_type: Text = text("payloadType of the envelope.", null=True)
    payload_sha256: Text = sha256("Digest of the payload bytes (envelope) or of the line (bare).")
    signatures_count: Count = count("Signatures carried, unchecked.")
    validator_id: Text = text("Who claims to have validated.", null=True)
    result: Text = text("What it claims.", null=True)
    body: Text = text("The statement as JSON text.", null=True)
    path: Text = text("Path of the source file below the round folder, POSIX separators.")
    file_sha256: Text = sha256("Digest of the source file.")
    line: Count = count(
        "Physical line in the source file, from 1; null when the file is one document.", null=True, at_least=1
    )
    pointer: Text = text("RFC 6901 pointer inside the line or document.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "path", "line"]
        metadata = {"version": 1}
