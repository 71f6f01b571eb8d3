"""Keys, roots and envelopes for tests; every secret is the digest of a published sentence."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from governance_pipeline.contracts.registry import empty_frame, frame_of, validate
from governance_pipeline.trust import dsse
from governance_pipeline.trust.independence import independence
from governance_pipeline.trust.principals import Key, Kind, Principal, Role, Validity
from governance_pipeline.trust.root import TrustRoot, first_root
from governance_pipeline.trust.statement import STATEMENT_PAYLOAD_TYPE, Subject, statement_bytes
from governance_pipeline.trust.verdict import VERDICT_PREDICATE, Rederived, Verdict, verdict_predicate

if TYPE_CHECKING:
    import pandas as pd

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
YEAR = timedelta(days=365)
DIGEST = "ab" * 32


@dataclass(frozen=True)
class TestSigner:
    """Signs with a key made from a name."""

    __test__ = False
    name: str
    assurance: str = "key_file"

    @property
    def _key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(f"test key of {self.name}".encode()).digest())

    @property
    def public_key(self) -> bytes:
        return self._key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)

    def sign(self, message: bytes) -> bytes:
        return self._key.sign(message)


def principal(name: str, *roles: Role, kind: Kind = Kind.HUMAN, controller: str | None = None, keys=None, **more):
    """Give a principal whose key is that of its name."""
    keys = (Key(TestSigner(name).public_key, Validity()),) if keys is None else keys
    return Principal(name, kind, controller or name, frozenset(roles), keys, **more)


def root_with(*principals: Principal, **more) -> TrustRoot:
    """Give a root of `owner` with more principals."""
    root = first_root("owner", TestSigner("owner").public_key, NOON + YEAR)
    return TrustRoot(
        root.version, root.expires, more.pop("is_throwaway", False), (*root.principals, *principals), **more
    )


@pytest.fixture
def signer():
    """Give the signer of a name."""
    return TestSigner


@pytest.fixture
def make_principal():
    """Give the maker of principals."""
    return principal


@pytest.fixture
def make_root():
    """Give the maker of roots."""
    return root_with


PLACE = {"path": "logs/audit.jsonl", "file_sha256": DIGEST, "pointer": ""}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Round:
    """Rows of one round, changed by a test and then judged."""

    def __init__(self, round_id: str = "r-1") -> None:
        self.round_id = round_id
        self.runs: list[dict[str, Any]] = []
        self.steps: list[dict[str, Any]] = []
        self.attestations: list[dict[str, Any]] = []
        self.changes: list[dict[str, Any]] = []
        self.declared: list[dict[str, Any]] = []
        self.evidence: list[dict[str, Any]] = []
        self.envelopes: dict[tuple[str, int], bytes] = {}

    def run(self, run_id: str, agent_id: str | None, session_id: str | None, opaque: int = 1, **more: Any) -> None:
        row = {"run_id": run_id, "agent_id": agent_id, "session_id": session_id, "opaque_step_count": opaque, **more}
        self.runs.append({"round_id": self.round_id, "format": "f", "path": "a", "file_sha256": DIGEST, **row})

    def step(self, run_id: str, agent_id: str | None, output: str | None = None, **more: Any) -> None:
        index = 1 + sum(step["run_id"] == run_id for step in self.steps)
        row = {"run_id": run_id, "agent_id": agent_id, "step_index": index, **more}
        if output is not None:
            row["output_result_sha256"] = digest(output)
        self.steps.append({"round_id": self.round_id, **PLACE, "line": len(self.steps) + 1, **row})

    def change(self, run_id: str | None, agent_id: str | None = None) -> None:
        index = len(self.changes) + 1
        row = {"run_id": run_id, "agent_id": agent_id, "step_index": index, "has_files": True, "line_sha256": DIGEST}
        self.changes.append({"round_id": self.round_id, **PLACE, "path": "changes.jsonl", "line": index, **row})

    def declare(self, value: str) -> None:
        row = {"subject_id": "x", "field": f"f{len(self.declared)}", "value_raw": value, "value_kind": "number"}
        more = {"format": "native", "component_paths": "[]", "line": len(self.declared) + 1}
        self.declared.append({"round_id": self.round_id, **PLACE, "path": "declared.jsonl", **more, **row})

    def attest(self, signer: Any, **changed: Any) -> None:
        """Add a verdict signed by `signer`; members of the verdict, or the envelope after signing, may be changed."""
        tamper = changed.pop("tamper", lambda envelope: envelope)
        payload_type = changed.pop("payload_type", STATEMENT_PAYLOAD_TYPE)
        values = {
            "subjects": (Subject("evidence.jsonl", DIGEST),),
            "verifier_id": "checker",
            "time_verified": NOON,
            "resource_uri": f"round:{self.round_id}",
            "policy_uri": "policy:1",
            "policy_sha256": DIGEST,
            "inputs": (),
            "result": "PASSED",
            "rederived": (Rederived("hash recomputed", "evidence.jsonl", DIGEST),),
            "run_id": "check",
            "session_id": "s-check",
            **changed,
        }
        verdict = Verdict(**values)
        payload = statement_bytes(verdict.subjects, VERDICT_PREDICATE, verdict_predicate(verdict))
        envelope = tamper(dsse.parse_envelope(dsse.sign(payload, payload_type, signer)))
        line = len(self.attestations) + 1
        self.envelopes[DIGEST, line] = dsse.envelope_bytes(envelope)
        row = {
            "form": "envelope",
            "payload_type": payload_type,
            "payload_sha256": hashlib.sha256(payload).hexdigest(),
            "signatures_count": len(envelope.signatures),
            "validator_id": verdict.verifier_id,
            "result": verdict.result,
            "body": payload.decode(),
        }
        self.attestations.append(
            {"round_id": self.round_id, **PLACE, "path": "attestations.jsonl", "line": line, **row}
        )

    def claim(self, validator_id: str) -> None:
        body = json.dumps({"validator_id": validator_id, "result": "PASSED"})
        row = {"form": "bare", "payload_sha256": digest(body), "signatures_count": 0, "body": body}
        line = len(self.attestations) + 1
        more = {"validator_id": validator_id, "result": "PASSED", "line": line}
        self.attestations.append({"round_id": self.round_id, **PLACE, "path": "attestations.jsonl", **more, **row})

    def frames(self) -> dict[str, pd.DataFrame]:
        rows = {
            "core_attestations": self.attestations,
            "core_runs": self.runs,
            "core_steps": self.steps,
            "core_changes": self.changes,
            "core_declared": self.declared,
            "core_evidence": self.evidence,
        }
        return {table: frame_of(table, found) for table, found in rows.items()}

    def judged(self, root: Any, **more: Any) -> pd.DataFrame:
        frames = self.frames()
        positional = (frames["core_attestations"], frames["core_runs"], frames["core_steps"])
        known = {
            "core_changes": frames["core_changes"],
            "core_file_changes": empty_frame("core_file_changes"),
            "core_declared": frames["core_declared"],
            "core_evidence": frames["core_evidence"],
            "envelope_of": lambda sha256, line: self.envelopes.get((sha256, line)),
            **more,
        }
        return validate("audit_independence", independence(*positional, root, NOON, **known))


@pytest.fixture
def honest() -> Round:
    """A builder in its own session, a checker in another that logged the digest it computed; not yet attested."""
    world = Round()
    world.run("build", "coder", "s-build")
    world.step("build", "coder", "done", output_hash=DIGEST, output_path="evidence.jsonl")
    world.change("build", "coder")
    world.run("check", "checker", "s-check")
    world.step("check", "checker", DIGEST)
    return world


@pytest.fixture
def checker_root():
    """Give the maker of roots that know the checker as a validator, and anybody else a test names."""

    def make(*more: Principal, **changed: Any) -> TrustRoot:
        return root_with(principal("checker", Role.VALIDATOR, **{"kind": Kind.VALIDATOR, **changed}), *more)

    return make


@pytest.fixture
def only():
    """Give the answer of a table of one row: independent (None = undecided), rule, code."""

    def read(frame: pd.DataFrame) -> tuple[bool | None, str | None, str | None]:
        (row,) = frame.astype(object).where(frame.notna(), None).to_dict("records")
        return row["is_independent"], row["rule"], row["reason_code"]

    return read


def counted(value: str) -> tuple[Rederived, ...]:
    """Give evidence that a count was made again."""
    return (Rederived("count recomputed", "entries", value),)


@pytest.fixture
def recounted():
    """Give the maker of that evidence."""
    return counted
