"""Validator verdicts: `attestations.jsonl`, one DSSE envelope or one bare claim per line.

Nothing is verified here: the gate checks signatures against the trust root it is configured with (spec/gate.md §2).
What validator and result a statement names is a claim, taken from a SLSA verification summary where the payload is
one. A line without the members of an envelope is a bare claim: kept, and it satisfies nothing.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import RecordRefused
from governance_pipeline.ingest.native.members import UnusableRecord, is_text, members_of
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Sample

NAME: Final = "native_attestations"
DECLARES: Final[tuple[str, ...]] = ()
RECOMPUTABLE: Final[tuple[str, ...]] = ()
VERSIONS: Final = "DSSE 1.0, in-toto Statement v1, SLSA VSA v1"

_ENVELOPE_MEMBERS: Final = frozenset({"payload", "payloadType", "signatures"})


def detect(_sample: Sample) -> bool:
    """Attestations are known by their place in the round folder, not by their content."""
    return False


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read every line into `core_attestations`."""
    for file in files:
        for record in file.lines():
            try:
                members = members_of(record.value)
                is_envelope = not _ENVELOPE_MEMBERS.isdisjoint(members)
                row = _envelope(members) if is_envelope else _bare(members, record.raw or b"")
            except UnusableRecord as reason:
                file.quarantine(record, reason.code)
            else:
                out.add("core_attestations", file, record, **row)


def _envelope(members: Mapping[str, Any]) -> dict[str, Any]:
    payload_type, signatures = members.get("payloadType"), members.get("signatures")
    if not is_text(payload_type) or not payload_type or not isinstance(signatures, list):
        raise UnusableRecord("bad_envelope")
    payload = _decoded(members.get("payload"))
    body, statement = _statement(payload)
    return {
        "form": "envelope",
        "payload_type": payload_type,
        "payload_sha256": hashlib.sha256(payload).hexdigest(),
        "signatures_count": len(signatures),
        "body": body,
        **_claimed(statement),
    }


def _bare(members: Mapping[str, Any], line: bytes) -> dict[str, Any]:
    return {
        "form": "bare",
        "payload_sha256": hashlib.sha256(line).hexdigest(),
        "signatures_count": 0,
        "body": line.decode(),
        **_claimed(members),
    }


def _decoded(payload: Any) -> bytes:
    """Give the signed bytes; both Base64 alphabets are allowed (DSSE 1.0), nothing lenient."""
    if not is_text(payload):
        raise UnusableRecord("bad_envelope")
    try:
        standard = payload.replace("-", "+").replace("_", "/").encode("ascii")
        return base64.b64decode(standard, validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise UnusableRecord("bad_envelope") from None


def _statement(payload: bytes) -> tuple[str | None, Mapping[str, Any]]:
    """Give the payload as JSON text with its members; a payload of another type has neither."""
    try:
        value = parse_json(payload)
    except RecordRefused:
        return None, {}
    return payload.decode(), value if isinstance(value, dict) else {}


def _claimed(statement: Mapping[str, Any]) -> dict[str, str | None]:
    predicate = statement.get("predicate")
    claim = predicate if isinstance(predicate, dict) else statement
    verifier = claim.get("verifier")
    validator = verifier.get("id") if isinstance(verifier, dict) else claim.get("validator_id")
    result = claim.get("verificationResult", claim.get("result"))
    return {"validator_id": _text(validator), "result": _text(result)}


def _text(value: Any) -> str | None:
    return value if is_text(value) else None
