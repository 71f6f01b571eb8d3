"""Asking for a decision: one request per gate, round and manifest.

What belongs here: making requests and recording them. What does not: their state (`states`) and deciding (`deciding`).
Unchanged work makes no second request: the id is the digest of gate, round and subject. Changed work makes a new one,
which supersedes the old. A request nobody decided in time is a no; asking again about the same work opens another
window of the same request, and whatever was signed in an earlier window does not count in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.crosscheck.cases import cases_of
from governance_pipeline.gate.code_digest import gate_code_sha256
from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.facts import failed_facts, mismatch_cases
from governance_pipeline.gate.gates import ACTION_GATES
from governance_pipeline.gate.inputs import read_inputs
from governance_pipeline.gate.manifest import keep_manifest, manifest_of
from governance_pipeline.gate.parties import REQUESTER
from governance_pipeline.gate.passage import policy_ref, project_baseline
from governance_pipeline.gate.states import State, is_used_up, standing_of
from governance_pipeline.ledger.cases import open_cases
from governance_pipeline.ledger.event import AlreadyRecorded
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from governance_pipeline.gate.events import History, Requested
    from governance_pipeline.gate.gates import Gate
    from governance_pipeline.gate.inputs import RoundInputs
    from governance_pipeline.gate.manifest import Manifest
    from governance_pipeline.gate.passage import Verifier


def request_id(gate: str, round_id: str, subject_sha256: str) -> str:
    """Give the id of a request: digest of the RFC 8785 form of gate, round and subject digest."""
    return sha256_hex(canonical_json([gate, round_id, subject_sha256]))


def register_requests(gate: Gate, round_ids: Sequence[str], verifier: Verifier, now: datetime) -> list[Requested]:
    """Ask for a decision on every round whose work as it is now has not been asked about; record and return.

    Manifests are kept in the lake, so that they can be shown for ever. The cases of each round are opened first: what a
    person must look at is in the ledger before anybody is asked to sign.

    Returns:
        The request in force for each round, in the order given; an old one where nothing changed.

    Raises:
        StorageError: an upstream table of a round is missing or damaged; nothing is recorded then.
        Refusal: LOG_INCONSISTENT, the ledger cannot be used.
    """
    code = gate_code_sha256()
    read = [read_inputs(gate, round_id, verifier.lake) for round_id in round_ids]
    history = read_history(verifier.ledger)
    baseline = project_baseline(history, verifier, now)
    manifests = [manifest_of(inputs, policy_ref(verifier.policy), code, baseline) for inputs in read]
    for inputs in read:
        cases = cases_of(inputs.frame("audit_escalations"), inputs.frame("audit_cross_checks"))
        if open_cases(verifier.ledger, cases, inputs.parties.actors, now):
            history = read_history(verifier.ledger)
    for inputs, manifest in zip(read, manifests, strict=True):
        keep_manifest(verifier.lake, manifest)
        if _is_due(gate, inputs.round_id, manifest, verifier, history, now):
            _record(inputs, manifest, verifier, history, now)
    history = read_history(verifier.ledger)
    return [request for r in round_ids if (request := history.in_force(gate.name, r)) is not None]


def _is_due(gate: Gate, round_id: str, manifest: Manifest, verifier: Verifier, history: History, now: datetime) -> bool:
    newest = history.in_force(gate.name, round_id)
    if newest is None or newest.request_id != request_id(gate.name, round_id, manifest.sha256):
        return True
    is_done_act = gate.name in ACTION_GATES and is_used_up(newest, history, EventType.DONE)
    return is_done_act or standing_of(newest, verifier, history, now).state is State.EXPIRED


def _record(inputs: RoundInputs, manifest: Manifest, verifier: Verifier, history: History, now: datetime) -> None:
    body = _body(inputs, manifest, verifier, history, now)
    try:
        unique = f"request:{body['request_id']}:{body['window']}"
        verifier.ledger.append(EventType.REQUESTED, REQUESTER, body, ts=now, unique=unique)
    except AlreadyRecorded:
        return  # another process asked the same question at the same time: one request is what both want


def _body(
    inputs: RoundInputs, manifest: Manifest, verifier: Verifier, history: History, now: datetime
) -> dict[str, Any]:
    gate, round_id = inputs.gate.name, inputs.round_id
    asked = request_id(gate, round_id, manifest.sha256)
    before = history.in_force(gate, round_id)
    return {
        "request_id": asked,
        "gate": gate,
        "round_id": round_id,
        "subject_sha256": manifest.sha256,
        "window": len(history.windows(asked)),
        "created": instant_text(now),
        "expires": instant_text(now + verifier.policy.ttl),
        "requester": REQUESTER,
        "actors": list(inputs.parties.actors),
        "policy_version": verifier.policy.version,
        "policy_sha256": verifier.policy.sha256,
        "code_sha256": manifest.document["code_sha256"],
        "project_baseline_version": manifest.document["project_baseline_version"],
        "upstream": inputs.digests,
        "verdict_status": manifest.document["verdict"]["status"],
        "producers_count": len(inputs.parties.producers),
        "failed_independence": len(failed_facts(inputs.rows("audit_independence"))),
        "mismatch_cases": len(mismatch_cases(inputs)),
        "verdicts": sorted({row["payload_sha256"] for row in inputs.rows("core_attestations")}),
        "supersedes": None if before is None or before.request_id == asked else before.request_id,
    }
