"""A small world for gate tests: a lake with rounds, a ledger, a trust root, people with keys, and a clock.

Every secret is the digest of a published sentence. Used by the fixtures and by the programs that are killed.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.gate.deciding import decide
from governance_pipeline.gate.decision import Decision, Verb, origin_of, sign_decision
from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.gates import PUBLISH
from governance_pipeline.gate.guard import require_open_gate
from governance_pipeline.gate.manifest import kept_manifest
from governance_pipeline.gate.passage import Verifier, open_verifier, policy_ref
from governance_pipeline.gate.request import register_requests
from governance_pipeline.gate.shown import shown
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.ledger.trusted_root import remember_root
from governance_pipeline.storage.lake import Lake
from governance_pipeline.trust import dsse
from governance_pipeline.trust.config import GateConfig, load_config, write_config
from governance_pipeline.trust.keys import fingerprint
from governance_pipeline.trust.principals import Key, Kind, Principal, Role, Validity
from governance_pipeline.trust.root import TrustRoot, first_root
from governance_pipeline.trust.root_document import sign_root

if TYPE_CHECKING:
    from pathlib import Path

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
_PEM = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
FEATURES, REPORT = "published_features", "published_round_report"


@dataclass(frozen=True)
class NamedSigner:
    """Signs with a key made from a name."""

    name: str
    assurance: str = "key_file"

    @property
    def private_key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(f"test key of {self.name}".encode()).digest())

    @property
    def public_key(self) -> bytes:
        return self.private_key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)

    def sign(self, message: bytes) -> bytes:
        return self.private_key.sign(message)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def person(name: str, *roles: Role, kind: Kind = Kind.HUMAN, controller: str | None = None, **more: Any) -> Principal:
    keys = more.pop("keys", None) or (Key(NamedSigner(name).public_key, more.pop("key_validity", Validity())),)
    return Principal(name, kind, controller or name, frozenset(roles or {Role.APPROVER}), keys, **more)


PEOPLE = (
    person("ana"),
    person("ben"),
    person("cho", controller="ben"),
    person("pia", aliases=("coder-pia",)),
    person("dot", Role.DISMISSER),
    person("coder-1", Role.VALIDATOR, kind=Kind.AGENT),
)
"""ana and ben approve; cho is controlled by ben; pia writes code as coder-pia; dot only dismisses; coder-1 works."""


class World:
    """A lake, a ledger and a trust root below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lake = Lake(folder / "lake")
        self.ledger = Ledger(folder / "trust" / "ledger.sqlite")
        self.config_path = folder / "trust" / "gate.toml"
        self.stored: dict[tuple[str, str], Any] = {}

    @classmethod
    def create(cls, folder: Path, *people: Principal, **root_members: Any) -> World:
        world = cls(folder)
        (folder / "trust").mkdir(mode=0o700, parents=True)
        Ledger.create(world.ledger.path)
        write_config(
            GateConfig(
                root=folder / "trust" / "root.json",
                root_fingerprint=fingerprint(NamedSigner("owner").public_key),
                ledger=world.ledger.path,
                policy=folder / "trust" / "policy.json",
                source=world.config_path,
            )
        )
        world.write_policy()
        world.write_root(*(people or PEOPLE), **root_members)
        return world

    @property
    def config(self) -> GateConfig:
        return load_config(self.config_path)

    def write_root(self, *people: Principal, at: datetime = NOON - HOUR, **members: Any) -> TrustRoot:
        first = first_root("owner", NamedSigner("owner").public_key, NOON + timedelta(days=365))
        root = TrustRoot(
            members.pop("version", 1),
            members.pop("expires", first.expires),
            members.pop("is_throwaway", False),
            (*first.principals, *people),
            **members,
        )
        self.config.root.write_bytes(sign_root(root, NamedSigner("owner")))
        self.config.root.chmod(0o600)  # whatever the umask of the machine
        remember_root(self.ledger, root, actor="owner", ts=at)
        return root

    def write_policy(self, **changes: Any) -> None:
        document = {
            "schema": "govern/gate-policy/v1", "version": "1", "approvers": None, "quorum": 1,
            "distinct_controllers": True, "minimum_assurance": "key_file", "ttl_hours": 72, "exclude_lineage": True,
            "refuse_same_runtime": False, "minimum_validators": 0, "on_timeout": "reject", **changes,
        }  # fmt: skip
        self.config.policy.write_text(json.dumps(document))
        self.config.policy.chmod(0o600)

    def write_log_key(self, at: datetime = NOON - HOUR, **root_members: Any) -> None:
        """Give the log a key: in the next version of the root, in a file, and in the configuration."""
        path, config = self.folder / "trust" / "log.pem", self.config
        path.write_bytes(NamedSigner("log").private_key.private_bytes(*_PEM))
        path.chmod(0o600)
        log = person("log", Role.LOG, kind=Kind.SERVICE, key_validity=Validity(at, None))
        self.write_root(*PEOPLE, log, version=2, at=at, **root_members)
        self.config_path.unlink()
        write_config(config._replace(log_key=path))

    def write_keys(self) -> Path:
        """Write the key files of everybody for the command line; gives their folder."""
        folder = self.folder / "keys"
        folder.mkdir(mode=0o700, exist_ok=True)
        for name in ("ana", "ben", "cho", "pia", "dot", "coder-1", "mallory"):
            (folder / f"{name}.pem").write_bytes(NamedSigner(name).private_key.private_bytes(*_PEM))
            (folder / f"{name}.pem").chmod(0o600)
        return folder

    def make_round(self, round_id: str = "r1", **changes: Any) -> None:
        """Store the upstream tables of a round that differ from those stored; what can be varied is in `round_rows`."""
        tables = round_rows(round_id, **changes)
        for table, rows in tables.items():
            if self.stored.get((round_id, table)) != rows:
                self.lake.put(table, round_id, frame_of(table, rows))
                self.stored[round_id, table] = rows

    def verifier(self, now: datetime = NOON) -> Verifier:
        return open_verifier(self.config, self.ledger, self.lake, now)

    def request(self, *round_ids: str, now: datetime = NOON) -> str:
        """Ask about rounds; gives the id of the last request."""
        return register_requests(PUBLISH, round_ids or ("r1",), self.verifier(now), now)[-1].request_id

    def decide(
        self,
        request_id: str,
        who: str = "ana",
        verb: Verb = Verb.APPROVE,
        now: datetime = NOON,
        reason: str = "I read it",
    ) -> str:
        """Decide through the front door; gives the id of the decision."""
        nonce = digest(f"{who}{verb}{now}{self.ledger.size()}")[:32]
        event = decide(self.verifier(now), request_id, verb, reason, NamedSigner(who), now=now, nonce=nonce)
        return str(event.body["decision_id"])

    def statement(self, request_id: str, now: datetime = NOON, **changes: Any) -> Decision:
        """Give the decision a person would sign now, with some members changed."""
        view = shown(self.verifier(now), request_id, now)
        request, size = view.standing.request, self.ledger.size()
        members: dict[str, Any] = {
            "verb": Verb.APPROVE, "gate": request.gate, "round_id": request.round_id, "request_id": request.request_id,
            "subject_sha256": request.subject_sha256, "display_sha256": view.display_sha256,
            "producers": tuple(kept_manifest(self.lake, request.subject_sha256).document["producers"]),
            "nonce": digest(f"{now}{size}")[:32], "not_before": now, "expires": now + timedelta(hours=72),
            "policy": policy_ref(self.verifier(now).policy), "origin": origin_of(self.config),
            "checkpoint": self.ledger.head(size), "reason": "I read it",
        }  # fmt: skip
        return Decision(**{**members, **changes})

    def forge(self, data: bytes, decision: Decision, *, type: str = EventType.APPROVED, now: datetime = NOON) -> None:  # noqa: A002
        """Put an envelope into the ledger around the front door, as a process of the same user could."""
        try:
            name = hashlib.sha256(base64.b64decode(json.loads(data)["payload"])).hexdigest()
        except (ValueError, KeyError):
            name = hashlib.sha256(data).hexdigest()
        body = {
            "gate": decision.gate, "round_id": decision.round_id, "request_id": decision.request_id,
            "decision_id": name, "envelope": data.decode("utf-8", "replace"),
        }  # fmt: skip
        self.ledger.append(type, "forger", body, ts=now)

    def sign(self, decision: Decision, *names: str) -> bytes:
        """Sign a decision with the keys of some people."""
        envelope = dsse.parse_envelope(sign_decision(decision, NamedSigner((names or ("ana",))[0])))
        for name in names[1:]:
            envelope = dsse.add_signature(envelope, NamedSigner(name))
        return dsse.envelope_bytes(envelope)

    def guard(
        self,
        asset: str = FEATURES,
        *round_ids: str,
        run: str = "run-1",
        now: datetime = NOON + HOUR,
        root_run: str = "",
    ):
        """Call the guard as an asset body does."""
        root = self.verifier(now).root
        return require_open_gate(
            "publish", asset, list(round_ids or ("r1",)), self.lake, self.ledger, root, self.config, run,
            root_run or run, now,
        )  # fmt: skip

    def events(self, *types: str) -> list[str]:
        return [event.type for event in self.ledger.events(types=set(types) or None)]

    def history(self):
        return read_history(self.ledger)


def round_rows(
    round_id: str,
    *,
    agents: tuple[str, ...] = ("coder-1",),
    verdict: str = "pass",
    mismatch: bool = False,
    validator: str | None = None,
    independent: bool | None = True,
    surface: float = 3.0,
    message: str = "a message",
) -> dict[str, list[dict[str, Any]]]:
    """Give the rows of every upstream table of a round."""
    log = {"path": "logs/a.jsonl", "file_sha256": digest(f"{round_id} log")}
    check = digest(f"{round_id} check")
    status = "mismatch" if mismatch else "match"
    tables: dict[str, list[dict[str, Any]]] = {table: [] for table in PUBLISH.upstream}
    tables["raw_log_files"] = [
        {**log, "format": "native", "record_unit": "line", "bytes": 99, "lines_in": 3, "accepted": 2, "quarantined": 0,
         "blank": 1, "duplicates": 0}
    ]  # fmt: skip
    tables["core_rounds"] = [{"contract_state": "valid", "baseline_version": "b1", "runs_count": len(agents)}]
    tables["core_runs"] = [
        {**log, "run_id": f"run-{name}", "session_id": f"s-{name}", "agent_id": name or None, "format": "native",
         "opaque_step_count": 0}
        for name in agents
    ]  # fmt: skip
    tables["core_steps"] = [
        {**log, "run_id": f"run-{name}", "step_index": 1, "agent_id": name or None, "line": line, "pointer": ""}
        for line, name in enumerate(agents, 1)
    ]
    tables["core_declared"] = [
        {**log, "format": "native", "subject_id": "run-1", "field": "cost", "value_kind": "number", "value_raw": "10",
         "unit": "USD", "component_paths": "{}", "line": 1, "pointer": "/cost"}
    ]  # fmt: skip
    tables["audit_cross_checks"] = [
        {"record_id": check, "check_id": "cost", "subject_id": "run-1", "field": "cost", "data_type": "currency",
         "unit": "USD", "declared": "10", "declared_raw": "10", "computed": "9" if mismatch else "10",
         "delta": "1" if mismatch else "0", "epsilon": "0.005", "epsilon_reason": "half a cent", "status": status,
         "mismatch": mismatch, "action": "escalate_to_human" if mismatch else "accept", "overwritten": False,
         "formula": "sum(parts.cost)", "formula_digest": digest("formula"), "components_count": 2,
         "declared_file_sha256": log["file_sha256"], "declared_path": log["path"], "declared_line": 1,
         "declared_pointer": "/cost", "escalate_to": "auditor"}
    ]  # fmt: skip
    if mismatch:
        tables["audit_escalations"] = [
            {"case_id": f"case-{check}", "record_id": check, "assignee": "auditor", "reason": "mismatch",
             "declared": "10", "computed": "9", "state": "open"}
        ]  # fmt: skip
    if validator is not None:
        tables |= _attested(round_id, validator, independent, log, agents[0])
    tables["features_step_surface"] = [
        {**log, "step_index": 1, "origin": "native", "files_count": 1, "surface_sum": surface, "evidence_share": 0.5,
         "is_repeated": False, "unknown": "{}", "mismatches": "[]", "line": 1, "feature_version": "1", "epsilon": 1e-6}
    ]  # fmt: skip
    tables["features_round"] = [
        {"origin": "native", "contract_state": "valid", "steps_count": 1, "step_gaps": "[]", "repeated_steps": "[]",
         "aus_round": surface, "aus_known_steps_count": 1, "evidence_share": 0.5, "quarantined_changes_count": 0,
         "quarantined_evidence_count": 0, "opaque_steps_count": 0, "feature_version": "1", "epsilon": 1e-6}
    ]  # fmt: skip
    tables["verdict_findings"] = [
        {"finding_id": digest("finding"), "fingerprint": digest("print"), "code": "dependency-added", "class": "A",
         "severity": "observe", "is_required": False, "decision": "record", "message": message, "factors": "{}", **log,
         "line": 2, "pointer": "/x"}
    ]  # fmt: skip
    finding = {"decision": "record", "class": "A", "code": "dependency-added", "message": message,
               "evidence": {**log, "line": 2, "pointer": "/x"}}  # fmt: skip
    document = {"status": verdict, "mode": "quick", "new_findings": [finding], "known_findings": []}
    tables["verdict_rounds"] = [
        {"status": verdict, "requires_justification": False, "mode": "quick", "contract_state": "valid",
         "unknown_reasons": "[]", "findings_count": 1, "new_findings_count": 1, "blocking_count": 0, "checks_run": "[]",
         "checks_skipped": "[]", "policy_version": "1", "policy_sha256": digest("policy"),
         "inputs_sha256": digest("inputs"), "document": json.dumps(document)}
    ]  # fmt: skip
    return {table: [{"round_id": round_id, **row} for row in rows] for table, rows in tables.items()}


def _attested(
    round_id: str, validator: str, independent: bool | None, log: dict[str, str], producer: str
) -> dict[str, list[dict[str, Any]]]:
    said = {"validator_id": validator, "result": "PASSED"}
    body = json.dumps(said)
    place = {**log, "path": "attestations.jsonl", "line": 1, "pointer": ""}
    return {
        "core_attestations": [
            {**place, **said, "form": "bare", "payload_sha256": digest(body), "signatures_count": 0, "body": body}
        ],
        "audit_independence": [
            {**place, **said, "form": "bare", "attestation_sha256": digest(body), "producer_run_id": f"run-{producer}",
             "producer_agent_ids": json.dumps([producer]), "is_independent": independent,
             "rule": None if independent else "unsigned", "reason_code": None if independent else "MALFORMED"}
        ],
    }  # fmt: skip


def flipped(data: bytes, part: str) -> bytes:
    """Flip one bit of the payload, the signature or the type inside an envelope."""
    envelope = json.loads(data)
    if part == "type":
        envelope["payloadType"] = envelope["payloadType"].replace("json", "jsoo")
        return json.dumps(envelope).encode()
    holder, name = (envelope, "payload") if part == "payload" else (envelope["signatures"][0], "sig")
    raw = bytearray(base64.b64decode(holder[name]))
    raw[len(raw) // 2] ^= 1
    holder[name] = base64.b64encode(raw).decode()
    return json.dumps(envelope).encode()
