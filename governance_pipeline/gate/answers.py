"""What `govern gate` answers, as JSON documents (schemas in `schemas/`).

What belongs here: requests, decisions and passages turned into plain values. What does not: printing, and any rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.gate.attempt_answers import attempt_entries
from governance_pipeline.gate.cases import Cases, standing_facts
from governance_pipeline.gate.closings import signed_decision
from governance_pipeline.gate.decision import TRUST_TIER
from governance_pipeline.gate.delegation_answers import counting_delegations, delegation_entries
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.manifest import kept_manifest
from governance_pipeline.gate.people import may_act
from governance_pipeline.gate.published import count_files, unaccounted_files
from governance_pipeline.gate.states import State, standing_of, words_of
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.reasons import ReasonCode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from governance_pipeline.gate.events import History, Passed, Recorded, Requested
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.gate.shown import Shown
    from governance_pipeline.gate.states import Standing
    from governance_pipeline.trust.reasons import Refusal

    Facts = Mapping[tuple[str, str], dict[str, Any]]

LISTED: Final = frozenset({State.PENDING, State.BLOCKED_POLICY, State.APPROVED_FAILED})
"""States an inbox lists: what waits for a person, at this gate, before it, or after it failed to be published."""


def inbox_document(verifier: Verifier, history: History, now: datetime, *, every: bool = False) -> dict[str, Any]:
    """Give `govern/gate-inbox/v1`: requests that wait, oldest first; with `every` all that were ever made.

    Each lists the claims that do not match, with both values, where to look, and where the case of each stands.
    """
    newest = {request.request_id: request for request in history.requests}
    standings = [standing_of(request, verifier, history, now) for request in newest.values()]
    listed = [s for s in standings if every or s.state in LISTED]
    ordered = sorted(listed, key=lambda s: (s.request.created, s.request.round_id))
    claims = [_kept_claims(verifier, standing) for standing in ordered]
    doubted = {s.request.round_id for s, found in zip(ordered, claims, strict=True) if _open_claims(found)}
    cases = _cases(verifier, doubted, now, history)  # only tables of rounds where something does not match are read
    return {
        "schema": "govern/gate-inbox/v1",
        **_set_up(verifier),
        "at": instant_text(now),
        "requests": [
            _item(standing, found, verifier, history, now, cases)
            for standing, found in zip(ordered, claims, strict=True)
        ],
    }


def request_document(view: Shown, verifier: Verifier, now: datetime) -> dict[str, Any]:
    """Give `govern/gate-request/v1`: one request with its manifest and the exact text a person is shown."""
    history, round_id = read_history(verifier.ledger), view.standing.request.round_id
    return {
        "schema": "govern/gate-request/v1",
        **_set_up(verifier),
        "at": instant_text(now),
        **_standing(view.standing, verifier, history, now),
        "actors": list(view.standing.request.actors),
        "manifest": dict(view.manifest.document),
        "cases": _of_claims(view.manifest.document["claims"], round_id, _cases(verifier, {round_id}, now, history)),
        "display": view.text,
        "display_sha256": view.display_sha256,
    }


def log_document(verifier: Verifier, history: History, round_id: str, now: datetime) -> dict[str, Any]:
    """Give `govern/gate-log/v1`: everything the ledger has on the requests of one round, in order."""
    entries = [
        *(_asked(r, verifier, history, now) for r in history.requests if r.round_id == round_id),
        *(_decided(d, verifier) for d in history.decisions if d.round_id == round_id),
        *(_passed(p) for p in history.passages if p.round_id == round_id),
        *attempt_entries(history, round_id),
        *delegation_entries(history, round_id, verifier.root),
    ]
    return {
        "schema": "govern/gate-log/v1",
        **_set_up(verifier),
        "round_id": round_id,
        "events": sorted(entries, key=lambda entry: entry["seq"]),
    }


def verification_document(
    verifier: Verifier, request: Requested, asset: str | None, refusal: Refusal | None, dropped: Sequence[Refusal]
) -> dict[str, Any]:
    """Give `govern/gate-verification/v1`: whether passage would be granted now, nothing being used."""
    return {
        "schema": "govern/gate-verification/v1",
        **_set_up(verifier),
        "request_id": request.request_id,
        "round_id": request.round_id,
        "gate": request.gate,
        "asset": asset,
        "granted": refusal is None,
        "code": refusal and str(refusal.code),
        "message": refusal and words_of(refusal),
        "dropped": [{"code": str(other.code), "message": words_of(other)} for other in dropped],
    }


def published_document(verifier: Verifier) -> dict[str, Any]:
    """Give `govern/gate-published/v1`: faults of the ledger, and published files nobody can account for."""
    history = read_history(verifier.ledger, is_strict=False)
    faults = [*history.faults(verifier.ledger), *history.unusable]
    files = unaccounted_files(verifier.lake, history, verifier.root)
    return {
        "schema": "govern/gate-published/v1",
        **_set_up(verifier),
        "events": history.size,
        "files": count_files(verifier.lake),
        "code": str(ReasonCode.LOG_INCONSISTENT) if faults or files else None,
        "faults": [fault._asdict() for fault in faults],
        "unaccounted": [file._asdict() for file in files],
    }


def results_document(verifier: Verifier, results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Give `govern/gate-results/v1`: what became of each request somebody decided on, and the head to keep elsewhere.

    An older copy of the ledger put back after a revocation is sound in itself; only this head shows it.
    """
    head = verifier.ledger.head()
    return {
        "schema": "govern/gate-results/v1",
        **_set_up(verifier),
        "head": f"{head.size}:{head.root}",
        "results": list(results),
    }


def result(
    request_id: str, verb: str, decision_id: str | None, standing: Standing | None, refusal: Refusal | None
) -> dict[str, Any]:
    """Give one entry of a results document; code and message are of the passage as it is now."""
    code = refusal.code if refusal is not None else standing and standing.code
    return {
        "request_id": request_id if standing is None else standing.request.request_id,
        "round_id": standing and standing.request.round_id,
        "decision": verb,
        "recorded": decision_id is not None,
        "decision_id": decision_id,
        "state": standing and str(standing.state),
        "code": code and str(code),
        "message": words_of(refusal) if refusal is not None else standing and standing.message,
    }


def _set_up(verifier: Verifier) -> dict[str, Any]:
    return {"trust_tier": TRUST_TIER, "is_throwaway": verifier.root.is_throwaway}


def _cases(verifier: Verifier, round_ids: Collection[str], now: datetime, history: History) -> Facts:
    """Give where cases stand; nothing where no round is asked, or ledger or escalation policy cannot be used."""
    try:
        return standing_facts(Cases(verifier, now, requests=history.requests).standings(round_ids)) if round_ids else {}
    except (StorageError, UsageError):
        return {}


def _of_claims(claims: Iterable[Mapping[str, Any]], round_id: str, cases: Facts) -> dict[str, dict[str, Any]]:
    """Give the standing of each claim that does not match, by record id."""
    found = {claim["record_id"]: cases.get((round_id, claim["record_id"])) for claim in claims}
    return {record_id: case for record_id, case in found.items() if case is not None}


def _kept_claims(verifier: Verifier, standing: Standing) -> list[dict[str, Any]] | None:
    """Give the claims of the manifest of a request; None when it is not in the lake any more, or damaged."""
    try:
        return list(kept_manifest(verifier.lake, standing.request.subject_sha256).document["claims"])
    except StorageError:
        return None


def _open_claims(claims: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    return [claim for claim in claims or () if claim["status"] != "match"]


def _item(
    standing: Standing,
    claims: list[dict[str, Any]] | None,
    verifier: Verifier,
    history: History,
    now: datetime,
    cases: Facts,
) -> dict[str, Any]:
    round_id = standing.request.round_id
    open_claims = (
        None
        if claims is None
        else [{**claim, "case": cases.get((round_id, claim["record_id"]))} for claim in _open_claims(claims)]
    )
    counts = {"claims_count": None if claims is None else len(claims), "open_claims": open_claims}
    return {**_standing(standing, verifier, history, now), **counts}


def _standing(standing: Standing, verifier: Verifier, history: History, now: datetime) -> dict[str, Any]:
    request = standing.request
    people = may_act(standing, verifier, history, now)
    return {
        "request_id": request.request_id,
        "gate": request.gate,
        "round_id": request.round_id,
        "subject_sha256": request.subject_sha256,
        "state": str(standing.state),
        "code": standing.code and str(standing.code),
        "message": standing.message,
        "verdict": request.verdict_status,
        "created": instant_text(request.created),
        "expires": instant_text(request.expires),
        "age_s": int((now - request.created).total_seconds()),
        "requester": request.requester,
        "may_act": people,
        "delegations": counting_delegations(request, verifier, history, now),
        "command": _command(standing, people),
    }


def _command(standing: Standing, people: Sequence[str]) -> str | None:
    request_id = standing.request.request_id
    if standing.state is State.APPROVED_FAILED:
        return f"govern gate retry {request_id}"
    return f"govern gate approve {request_id} --reason WHY --key FILE" if people else None


def _asked(request: Requested, verifier: Verifier, history: History, now: datetime) -> dict[str, Any]:
    standing = standing_of(request, verifier, history, now)
    return {
        "seq": request.seq,
        "at": instant_text(request.created),
        "type": "REQUESTED",
        "actor": request.requester,
        "request_id": request.request_id,
        "subject_sha256": request.subject_sha256,
        "state": str(standing.state),
        "code": standing.code and str(standing.code),
        "message": standing.message,
    }


def _decided(recorded: Recorded, verifier: Verifier) -> dict[str, Any]:
    """Show a recorded decision; `signed_by` is empty for an envelope no approver signed."""
    signed = signed_decision(recorded, verifier.root)
    said = None if signed is None else signed.decision
    return {
        "seq": recorded.seq,
        "at": instant_text(recorded.ts),
        "type": str(recorded.type),
        "actor": recorded.actor,
        "request_id": recorded.request_id,
        "decision_id": recorded.decision_id,
        "signed_by": [] if signed is None else list(signed.who),
        "on_behalf_of": said and said.on_behalf_of,
        "reason": said and said.reason,
        "expires": said and instant_text(said.expires),
        "display_sha256": said and said.display_sha256,
        "assurance": said and str(said.assurance),
    }


def _passed(passed: Passed) -> dict[str, Any]:
    return {
        "seq": passed.seq,
        "at": instant_text(passed.ts),
        "type": str(passed.type),
        "asset": passed.asset,
        "decision_id": passed.decision_id,
        "subject_sha256": passed.subject_sha256,
        "run_id": passed.run_id,
        "root_run_id": passed.root_run_id,
        "output_sha256": passed.output_sha256,
    }
