"""Contract of `audit_registry`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import TableModel, Text, Utc, sha256, text, utc

VERSIONS = r"^(canonical|archived)$"
STATES = r"^(verified|unknown|unfinished|changed|missing|unrecorded|unregistered|mismatch|unapproved)$"
"""verified: file, registry and ledger agree. unknown: the bytes are as registered, no ledger was at hand to ask.
unfinished: an approved change was begun and its process died. changed: the bytes are not those that were verified.
missing: no file is there. unrecorded: the registry has it, the ledger does not. unregistered: the ledger has it, the
registry does not. mismatch: both have it and say different things. unapproved: the ledger has a change of it without a
decision that counts."""


class AuditRegistry(TableModel):
    """One row per version of an asset of the canonical registry: the one in force, and each that is archived.

    A null digest was not recorded or could not be computed; `reason` says why wherever the state is not verified.
    """

    name: Text = text("Asset.")
    version: Text = text("canonical or archived.", pattern=VERSIONS)
    path: Text = text("File below the project folder, POSIX separators.")
    recorded_sha256: Text = sha256("Digest by the registry file.", null=True)
    ledger_sha256: Text = sha256("Digest by the ledger.", null=True)
    computed_sha256: Text = sha256("Of the bytes that are there now.", null=True)
    state: Text = text(
        "verified, unknown, unfinished, changed, missing, unrecorded, unregistered, mismatch or unapproved.",
        pattern=STATES,
    )
    reason: Text = text("Why it is not verified.", null=True)
    status: Text = text(
        "What the entry is: canonical, obsolete or pending_replacement.",
        pattern=r"^(canonical|obsolete|pending_replacement)$",
    )
    decision_id: Text = sha256("Decision its last change rests on; null where its bytes never changed.", null=True)
    last_verified_at: Utc = utc("When its digest was last verified, or it was archived.")
    checked_at: Utc = utc("When the bytes were hashed for this row.", null=False)

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["name", "version", "path"]
        metadata = {"version": 1, "by_round": False}
