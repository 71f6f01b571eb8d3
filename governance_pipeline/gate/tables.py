"""The gate's own tables: requests with their state, decisions that opened a gate, and a copy of the ledger.

What belongs here: rows from the ledger and the lake at one moment. What does not: passing a gate (`guard`); whoever
reads these tables reads what was true then.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.gate.envelope_steps import proven_assurance
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.gates import GATES
from governance_pipeline.gate.states import standing_of, words_of
from governance_pipeline.gate.verify import passage_of, verify
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    import pandas as pd

    from governance_pipeline.gate.events import History
    from governance_pipeline.gate.gates import Gate
    from governance_pipeline.gate.passage import Passage, Verifier
    from governance_pipeline.gate.states import Standing
    from governance_pipeline.ledger.ledger import Ledger


class GateState(NamedTuple):
    """Whether a gate is open for a round, and if not why: code and sentence."""

    round_id: str
    is_open: bool
    code: ReasonCode | None
    message: str | None


def gate_requests(round_ids: Sequence[str], verifier: Verifier, now: datetime) -> pd.DataFrame:
    """Return one row per request ever made for the rounds, newest window; columns as contract `gate_requests`.

    Raises:
        Refusal: LOG_INCONSISTENT, the ledger cannot be used.
        StorageError: the ledger cannot be read.
    """
    history = read_history(verifier.ledger)
    wanted = set(round_ids)
    newest = {r.request_id: r for r in history.requests if r.round_id in wanted and r.gate in GATES}
    rows = (_request_row(standing_of(r, verifier, history, now), history, now) for r in newest.values())
    return frame_of("gate_requests", rows)


def gate_states(gate: Gate, round_ids: Sequence[str], verifier: Verifier, now: datetime) -> list[GateState]:
    """Tell for each round whether the gate is open, verified in full, nothing used: for checks, plans and lists."""
    passages, refused = _passages(gate, round_ids, verifier, now)
    return [
        GateState(round_id, round_id in passages, *_why(refused.get(round_id))) for round_id in dict.fromkeys(round_ids)
    ]


def gate_decisions(gate: Gate, round_ids: Sequence[str], verifier: Verifier, now: datetime) -> pd.DataFrame:
    """Return one row per decision and signer that opens the gate now; columns as contract `gate_decisions`.

    A round whose gate is closed has no row; `gate_states` says why.
    """
    passages, _ = _passages(gate, round_ids, verifier, now)
    return frame_of("gate_decisions", (row for passage in passages.values() for row in _decision_rows(passage)))


def gate_ledger(ledger: Ledger) -> pd.DataFrame:
    """Return one row per event of the ledger; columns as contract `gate_ledger`.

    Raises:
        StorageError: the ledger cannot be read.
    """
    return frame_of(
        "gate_ledger",
        (
            {
                "seq": event.seq,
                "ts": event.ts,
                "type": event.type,
                "actor": event.actor,
                "round_id": _text_or_none(event.body.get("round_id")),
                "body": canonical_json(dict(event.body)).decode(),
                "event_sha256": sha256_hex(event.bytes),
            }
            for event in ledger.events()
        ),
    )


def _passages(
    gate: Gate, round_ids: Sequence[str], verifier: Verifier, now: datetime
) -> tuple[dict[str, Passage], dict[str, Refusal]]:
    passed: dict[str, Passage] = {}
    refused: dict[str, Refusal] = {}
    history = read_history(verifier.ledger)
    for round_id in dict.fromkeys(round_ids):
        try:
            passed[round_id] = verify(passage_of(verifier, gate, round_id, now, history=history))
        except Refusal as refusal:
            refused[round_id] = refusal
    return passed, refused


def _request_row(standing: Standing, history: History, now: datetime) -> dict[str, Any]:
    request = standing.request
    names = (
        "round_id", "request_id", "gate", "subject_sha256", "requester", "policy_version", "policy_sha256",
        "verdict_status", "supersedes",
    )  # fmt: skip
    return {
        **{name: getattr(request, name) for name in names},
        "state": str(standing.state),
        "code": standing.code and str(standing.code),
        "message": standing.message,
        "actors": json.dumps(list(request.actors), ensure_ascii=False),
        "created_at": request.created,
        "expires_at": request.expires,
        "window_number": request.window,
        "mismatch_count": request.mismatch_cases,
        "failed_independence_count": request.failed_independence,
        "approvals_count": len(history.approvals(request)),
        "made_at": now,
    }


def _decision_rows(passage: Passage) -> Iterator[dict[str, Any]]:
    for offer in passage.offers:
        said, event = offer.said, offer.event
        if event is None:
            continue
        for signer in offer.signers:
            yield {
                "round_id": said.round_id,
                "decision_id": event.decision_id,
                "request_id": said.request_id,
                "gate": said.gate,
                "subject_sha256": said.subject_sha256,
                "display_sha256": said.display_sha256,
                "approver_id": signer.principal.id,
                "on_behalf_of": said.on_behalf_of,
                "key_fingerprint": signer.key.fingerprint,
                "assurance": str(proven_assurance(offer)),
                "trust_tier": said.trust_tier,
                "is_throwaway": said.is_throwaway,
                "reason": said.reason,
                "nonce": said.nonce,
                "recorded_at": event.ts,
                "not_before_at": said.not_before,
                "expires_at": said.expires,
                "ledger_seq": event.seq,
                "checkpoint_count": said.checkpoint.size,
                "checkpoint_root": said.checkpoint.root,
            }


def _why(refusal: Refusal | None) -> tuple[ReasonCode | None, str | None]:
    return (None, None) if refusal is None else (refusal.code, words_of(refusal))


def _text_or_none(value: Any) -> str | None:
    return value if type(value) is str else None
