"""Signing elsewhere: a decision leaves as a document that says everything, and comes back as an envelope.

What belongs here: the document, what its person must be shown, and reading what came back. What does not: making the
decision (`drafts`) and recording it (`deciding`). On the machine that signs there is neither ledger nor lake, so the
document is held to itself: the text is the one whose digest the statement carries.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import RecordRefused, UnreadableError
from governance_pipeline.gate.decision import DECISION_BYTES, Decision, decision_of, decision_statement
from governance_pipeline.gate.display import display_sha256
from governance_pipeline.gate.documents import document_fault
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.files import open_regular
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.trust import dsse
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.statement import STATEMENT_PAYLOAD_TYPE, parse_statement

if TYPE_CHECKING:
    from pathlib import Path

    from governance_pipeline.gate.drafts import Draft
    from governance_pipeline.trust.keys import Signer

EXPORT_BYTES: Final = 64 * 2**20
"""Largest export that is read: the text shows every claim of a round."""


class Exported(NamedTuple):
    """An export as it was read: the decision, the bytes to sign, and the text its person is shown."""

    decision: Decision
    statement: bytes
    text: str


def export_document(draft: Draft) -> dict[str, Any]:
    """Give `govern/gate-export/v1`.

    Raises:
        UsageError: the reason cannot be signed.
    """
    made, statement = draft.decision, decision_statement(draft.decision)
    message = dsse.pae(STATEMENT_PAYLOAD_TYPE, statement)
    return {
        "schema": "govern/gate-export/v1",
        "decision": str(made.verb),
        "gate": made.gate,
        "round_id": made.round_id,
        "request_id": made.request_id,
        "subject_sha256": made.subject_sha256,
        "expires": instant_text(made.expires),
        "payload_type": STATEMENT_PAYLOAD_TYPE,
        "statement": statement.decode(),
        "pae_base64": base64.b64encode(message).decode(),
        "pae_sha256": sha256_hex(message),
        "display": draft.text,
        "display_sha256": made.display_sha256,
    }


def read_export(path: Path) -> Exported:
    """Read an export and hold it to itself.

    Raises:
        UnreadableError: it is none.
        Refusal: DIGEST_MISMATCH when the text is not the one the statement is about; as `decision_of`.
    """
    with open_regular(path) as stream:
        data = stream.read(EXPORT_BYTES + 1)
    try:
        document = parse_json(data)
    except RecordRefused as reason:
        raise UnreadableError(f"{path} is no export of `govern gate export`: {reason}") from None
    fault = document_fault("gate-export-v1", document)
    if fault is not None:
        raise UnreadableError(f"{path} is no export of `govern gate export`: {fault}")
    statement, text = str(document["statement"]).encode(), str(document["display"])
    decision = decision_of(parse_statement(statement))
    if display_sha256(text) != decision.display_sha256:
        message = f"the text in {path} is not the one this decision is about; export it again"
        raise Refusal(ReasonCode.DIGEST_MISMATCH, message)
    return Exported(decision, statement, text)


def sign_export(exported: Exported, signer: Signer) -> bytes:
    """Sign an export; the envelope that goes back."""
    return dsse.sign(exported.statement, STATEMENT_PAYLOAD_TYPE, signer)


def read_envelope(path: Path, signature: Path | None) -> bytes:
    """Read what came back: an envelope, or an export with the signature another program made over its PAE.

    Raises:
        UnreadableError: no regular file, or no export.
        Refusal: TOO_LARGE.
    """
    if signature is None:
        with open_regular(path) as stream:
            return stream.read(DECISION_BYTES + 1).strip()
    with open_regular(signature) as stream:
        sig = stream.read(DECISION_BYTES)
    made = dsse.Envelope(STATEMENT_PAYLOAD_TYPE, read_export(path).statement, (dsse.Signature("", sig),))
    return dsse.envelope_bytes(made)
