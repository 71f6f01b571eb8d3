"""A validator's verdict: SLSA Verification Summary v1, with evidence that something was derived again.

What belongs here: the predicate and what it must hold. What does not: whether the validator is independent
(`independence`) and what the gate makes of PASSED and FAILED.

Beside the members of the specification a verdict carries two of ours: `rederived`, a list of
`{"method": …, "what": …, "value": …}` (`kind` may stand for `method`), and `validatorRun`
`{"run_id": …, "session_id": …}`, the run in which it was reached. A verdict without `rederived` parses, but counts for
nothing (spec/gate.md §4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.trust.instants import instant_of, instant_text
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.statement import Statement, Subject, malformed, sha256_member, text_member

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

VERDICT_PREDICATE: Final = "https://slsa.dev/verification_summary/v1"
RESULTS: Final = ("PASSED", "FAILED")
ROUND_URI: Final = "round:"
"""Scheme of `resourceUri`: the verdict is about this round and no other."""
REDERIVATIONS: Final = frozenset({"hash recomputed", "count recomputed", "query reproduced", "render inspected"})
"""The ways of deriving again that count (spec/gate.md §1)."""


class Rederived(NamedTuple):
    """One value that was derived again: how, of what, and the value as text."""

    method: str
    what: str
    value: str


class Input(NamedTuple):
    """One attestation or file the verifier used: URI (may be empty) and SHA-256."""

    uri: str
    sha256: str


class Verdict(NamedTuple):
    """A parsed verification summary; `run_id` and `session_id` are None when it names no run."""

    subjects: tuple[Subject, ...]
    verifier_id: str
    time_verified: datetime
    resource_uri: str
    policy_uri: str
    policy_sha256: str
    inputs: tuple[Input, ...]
    result: str
    rederived: tuple[Rederived, ...]
    run_id: str | None = None
    session_id: str | None = None


def verdict_of(statement: Statement) -> Verdict:
    """Read the verdict a statement claims.

    Raises:
        Refusal: WRONG_TYPE for another predicate; MALFORMED when a required member is missing or of the wrong type.
    """
    if statement.predicate_type != VERDICT_PREDICATE:
        raise Refusal(ReasonCode.WRONG_TYPE, f"the predicate is no verification summary ({VERDICT_PREDICATE})")
    predicate = statement.predicate
    result = text_member(predicate, "verificationResult")
    if result not in RESULTS:
        raise malformed("verificationResult is neither PASSED nor FAILED")
    run = _object(predicate, "validatorRun", required=False)
    policy = _object(predicate, "policy")
    return Verdict(
        subjects=statement.subjects,
        verifier_id=text_member(_object(predicate, "verifier"), "id"),
        time_verified=_time(text_member(predicate, "timeVerified")),
        resource_uri=text_member(predicate, "resourceUri"),
        policy_uri=text_member(policy, "uri"),
        policy_sha256=sha256_member(policy),
        inputs=tuple(_input(value) for value in _list(predicate, "inputAttestations")),
        result=result,
        rederived=tuple(_rederived(value) for value in _list(predicate, "rederived")),
        run_id=text_member(run, "run_id") if "run_id" in run else None,
        session_id=text_member(run, "session_id") if "session_id" in run else None,
    )


def verdict_predicate(verdict: Verdict) -> dict[str, Any]:
    """Write a verdict as the predicate of its statement."""
    run = {"run_id": verdict.run_id, "session_id": verdict.session_id}
    return {
        "verifier": {"id": verdict.verifier_id},
        "timeVerified": instant_text(verdict.time_verified),
        "resourceUri": verdict.resource_uri,
        "policy": {"uri": verdict.policy_uri, "digest": {"sha256": verdict.policy_sha256}},
        "inputAttestations": [{"uri": used.uri, "digest": {"sha256": used.sha256}} for used in verdict.inputs],
        "verificationResult": verdict.result,
        "verifiedLevels": [],
        "rederived": [item._asdict() for item in verdict.rederived],
        "validatorRun": {name: value for name, value in run.items() if value is not None},
    }


def _time(text: str) -> datetime:
    try:
        return instant_of(text)
    except ValueError as error:
        raise malformed(f"timeVerified: {error}") from None


def _input(value: Any) -> Input:
    members = _as_object(value, "an input attestation")
    uri = members.get("uri", "")
    if type(uri) is not str:
        raise malformed("the uri of an input attestation is no text")
    return Input(uri, sha256_member(members))


def _rederived(value: Any) -> Rederived:
    members = _as_object(value, "an entry of rederived")
    if ("method" in members) == ("kind" in members):
        raise malformed("an entry of rederived names its method once, as method or as kind")
    method = text_member(members, "method" if "method" in members else "kind")
    what = members.get("what", "")
    if type(what) is not str:
        raise malformed("what was derived again is no text")
    return Rederived(method, what, _value_text(members.get("value")))


def _value_text(value: Any) -> str:
    """Give a recomputed value as its text; only texts and numbers are values."""
    if isinstance(value, bool) or not isinstance(value, str | int | Lexeme) or value == "":
        raise malformed("a value derived again is missing, or neither text nor number")
    return str(value)


def _object(members: Mapping[str, Any], name: str, *, required: bool = True) -> Mapping[str, Any]:
    value = members.get(name)
    if value is None and not required:
        return {}
    return _as_object(value, name)


def _as_object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise malformed(f"{what} is no object")
    return value


def _list(members: Mapping[str, Any], name: str) -> list[Any]:
    value = members.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise malformed(f"{name} is no list")
    return value
