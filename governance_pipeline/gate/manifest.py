"""The manifest (`govern/gate-manifest/v1`): everything one gate releases for one round, as one digest.

What belongs here: the document and its digest, the *subject* of every decision. What does not: how it is shown
(`display`) and who decides. It is deterministic JSON (RFC 8785) made from the upstream bytes and from nothing else but
the policy, the code and the baseline in force: no time, no run, no person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import StorageError
from governance_pipeline.gate.action_manifest import action_document
from governance_pipeline.storage.atomic import READ_ONLY
from governance_pipeline.storage.versions import bytes_of
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from governance_pipeline.gate.inputs import RoundInputs
    from governance_pipeline.storage.lake import Lake

SCHEMA: Final = "govern/gate-manifest/v1"
FOLDER: Final = "manifests"
"""Folder of the lake that keeps manifests by their digest, so that what somebody signed can be shown for ever."""

_COUNTS: Final = ("lines_in", "accepted", "quarantined", "blank", "duplicates")
_CLAIM: Final = (
    "record_id", "check_id", "field", "subject_id", "unit", "declared", "computed", "delta", "epsilon", "status",
    "reason_code",
)  # fmt: skip
_FINDING: Final = ("finding_id", "code", "class", "severity", "is_required", "decision", "reason", "message")
_DISMISSAL: Final = ("dismissed_decision", "dismissed_by", "dismissal_reason", "dismissed_until_on")
_EVIDENCE: Final = ("path", "file_sha256", "line", "pointer")


class PolicyRef(NamedTuple):
    """Names a gate policy: its version and the digest of its RFC 8785 form."""

    version: str
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """A manifest: the document, its canonical bytes and their digest."""

    document: Mapping[str, Any]
    bytes: bytes
    sha256: str


def manifest_of(
    inputs: RoundInputs, policy: PolicyRef, code_sha256: str, project_baseline: str | None = None
) -> Manifest:
    """Make the manifest of a round.

    Args:
        inputs: the upstream tables as they were read.
        policy: the gate policy it is judged by.
        code_sha256: digest of the gate's code.
        project_baseline: version the last re-baseline brought, so that no older approval fits; None before one.

    Raises:
        StorageError: the round has no row in core_rounds or verdict_rounds.
    """
    if inputs.proposal is not None:
        document = action_document(inputs.proposal, inputs.gate, policy._asdict(), code_sha256, project_baseline)
        data = canonical_json(document)
        return Manifest(document, data, sha256_hex(data))
    parties = inputs.parties
    document = {
        "schema": SCHEMA,
        "gate": inputs.gate.name,
        "round_id": inputs.round_id,
        "releases": list(inputs.gate.assets),
        "baseline_version": _only_row(inputs, "core_rounds")["baseline_version"],
        "project_baseline_version": project_baseline,
        "upstream": [
            {"table": table, "sha256": read.sha256, "rows": read.rows.num_rows, "bytes": read.size}
            for table, read in inputs.tables.items()
        ],
        "policy": policy._asdict(),
        "code_sha256": code_sha256,
        "producers": list(parties.producers),
        "validators": _validators(inputs),
        "verdict": _verdict(inputs),
        "conservation": _conservation(inputs),
        "claims": [_claim(row) for row in inputs.rows("audit_cross_checks")],
    }
    data = canonical_json(document)
    return Manifest(document, data, sha256_hex(data))


def keep_manifest(lake: Lake, manifest: Manifest) -> Path:
    """Keep the bytes of a manifest in the lake, read-only, under their digest; one that is there whole stays.

    What somebody put in its place is replaced: whoever asks again has everything that can be signed and shown.

    Raises:
        StorageError: it could not be written.
    """
    path = _place(lake, manifest.sha256)
    try:
        is_whole = bytes_of(path) == manifest.bytes
    except (FileNotFoundError, StorageError):
        is_whole = False
    if not is_whole:
        with lake.writer.locked(FOLDER):
            lake.writer.write(path, manifest.bytes, mode=READ_ONLY)
    return path


def kept_manifest(lake: Lake, sha256: str) -> Manifest:
    """Read a kept manifest back and hash it again.

    Raises:
        StorageError: it is not there, or its bytes have another digest.
    """
    try:
        data = bytes_of(_place(lake, sha256))
    except FileNotFoundError:
        raise StorageError(f"manifest {sha256} is not in {lake.root / FOLDER}; make gate_requests again") from None
    if sha256_hex(data) != sha256:
        raise StorageError(f"manifest {sha256} in {lake.root / FOLDER} is damaged; make gate_requests again")
    return Manifest(parse_json(data), data, sha256)


def _place(lake: Lake, sha256: str) -> Path:
    return lake.root / FOLDER / f"{sha256}.json"


def _only_row(inputs: RoundInputs, table: str) -> dict[str, Any]:
    rows = inputs.rows(table)
    if len(rows) != 1:
        raise StorageError(f"table {table} has {len(rows)} rows of round {inputs.round_id}, not one; make it again")
    return rows[0]


def _validators(inputs: RoundInputs) -> list[dict[str, Any]]:
    """List the attestations of a round: independent only where every row about it says so."""
    facts: dict[str, list[dict[str, Any]]] = {}
    for row in inputs.rows("audit_independence"):
        facts.setdefault(row["attestation_sha256"], []).append(row)
    return [
        {
            "attestation_sha256": row["payload_sha256"],
            "validator_id": row["validator_id"],
            "result": row["result"],
            "is_independent": _all_independent(facts.get(row["payload_sha256"], [])),
            "rules": sorted({fact["rule"] for fact in facts.get(row["payload_sha256"], []) if fact["rule"]}),
        }
        for row in inputs.rows("core_attestations")
    ]


def _all_independent(facts: list[dict[str, Any]]) -> bool | None:
    values = [fact["is_independent"] for fact in facts]
    if False in values:
        return False
    return True if values and None not in values else None


def _verdict(inputs: RoundInputs) -> dict[str, Any]:
    row = _only_row(inputs, "verdict_rounds")
    findings = [
        {
            **{name: found[name] for name in _FINDING},
            "evidence": None if found["path"] is None else {name: found[name] for name in _EVIDENCE},
            **({} if found["dismissed_decision"] is None else {name: found[name] for name in _DISMISSAL}),
        }
        for found in inputs.rows("verdict_findings")
    ]
    names = ("status", "mode", "requires_justification", "policy_version", "policy_sha256", "inputs_sha256")
    return {**{name: row[name] for name in names}, "findings": findings}


def _conservation(inputs: RoundInputs) -> dict[str, int]:
    files = inputs.rows("raw_log_files")
    return {"files": len(files), **{name: sum(row[name] for row in files) for name in _COUNTS}}


def _claim(row: Mapping[str, Any]) -> dict[str, Any]:
    evidence = {
        "path": row["declared_path"],
        "file_sha256": row["declared_file_sha256"],
        "line": row["declared_line"],
        "pointer": row["declared_pointer"],
    }
    return {**{name: row[name] for name in _CLAIM}, "evidence": evidence}
