"""Plays the vectors: a few words that make a world, each a function of its name.

A vector is `{"id", "class", "input", "expect_code"}`; `input` holds `steps` (word and arguments), and what is asked in
the end: `at` (hours after noon), `asset`, `run`, `by_file` (judge the last envelope made, not those recorded).
`expect_code` null: passage is granted.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from gate_world import HOUR, NOON, PEOPLE, NamedSigner, World, digest, flipped, person, round_rows

from governance_pipeline.gate import delegating, resolutions
from governance_pipeline.gate.checking import Checked, check_request
from governance_pipeline.gate.decision import PREDICATE, Verb, sign_decision
from governance_pipeline.gate.manifest import PolicyRef
from governance_pipeline.gate.passage import Verifier
from governance_pipeline.gate.policy import Assurance, load_policy
from governance_pipeline.gate.verify import STEPS
from governance_pipeline.ledger.cases import step_event
from governance_pipeline.ledger.checkpoint import Checkpoint, checkpoint_text, signed_checkpoint
from governance_pipeline.ledger.head import Head
from governance_pipeline.ledger.remembered import head_path, keep_conflict
from governance_pipeline.ledger.trusted_root import remember_root
from governance_pipeline.trust import dsse
from governance_pipeline.trust.case_statement import Outcome, sign_case
from governance_pipeline.trust.keys import fingerprint
from governance_pipeline.trust.principals import Key, Role, Validity
from governance_pipeline.trust.reasons import Refusal
from governance_pipeline.trust.root import Revocation
from governance_pipeline.trust.root_document import read_root
from governance_pipeline.trust.statement import STATEMENT_PAYLOAD_TYPE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from governance_pipeline.gate.verify import Step


BEGINNINGS = {"approved": [["ask"], ["decide"]], "asked": [["ask"]], "made": []}
"""Stage of a copied world -> the steps that were played in it already."""


WRITE_TABLES = {"round", "use", "manifest"}
"""Words that change tables; a world that hears none of them needs no tables of its own."""


def scene_of(copies: Any, steps: Sequence[Sequence[Any]]) -> Scene:
    """Play steps in a new world; a beginning that is there already is not played again."""
    stage = next(name for name, beginning in BEGINNINGS.items() if list(steps[: len(beginning)]) == beginning)
    rest = steps[len(BEGINNINGS[stage]) :]
    scene = Scene(copies(stage, shares_lake=not {word for word, *_ in rest} & WRITE_TABLES))
    scene.play(rest)
    return scene


class Scene:
    """A world while a vector is played: the request asked about, the last envelope, the roots that were written."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.request = next((request.request_id for request in world.history().requests), "")
        self.envelope: Path = world.folder / "envelope.json"
        self.roots = {1: world.config.root.read_bytes()}

    def play(self, steps: Sequence[Sequence[Any]]) -> None:
        for word, *arguments in steps:
            getattr(self, word)(**(arguments[0] if arguments else {}))

    # -- words
    def round(self, **changes: Any) -> None:
        """Store the round's tables anew, with something changed."""
        self.world.make_round("r1", **{key: tuple(v) if key == "agents" else v for key, v in changes.items()})

    def manifest(self, text: str | None = None) -> None:
        """Put something in the place of the manifest that was asked about, or nothing."""
        (request, *_) = self.world.history().requests
        path = self.world.lake.root / "manifests" / f"{request.subject_sha256}.json"
        path.unlink()
        if text is not None:
            path.write_text(text)

    def event(self, type: str, **body: Any) -> None:  # noqa: A002
        """Put an event of any type into the ledger around the front door."""
        self.world.ledger.append(type, "forger", body, ts=NOON)

    def ask(self, at: float = 0) -> None:
        """Ask for a decision; later words are about this request."""
        self.request = self.world.request(now=_at(at))

    def ask_again(self, at: float = 0) -> None:
        """Ask, and stay with the request of before."""
        self.world.request(now=_at(at))

    def decide(self, who: str = "ana", verb: str = "APPROVE", at: float = 0) -> None:
        """Decide through the front door."""
        self.world.decide(self.request, who, Verb(verb), _at(at))

    def offer(
        self,
        by: Sequence[str] = ("ana",),
        *,
        at: float = 0,
        change: dict[str, Any] | None = None,
        flip: str | None = None,
        spoil: str | None = None,
        type: str = "APPROVED",  # noqa: A002
        record: bool = True,
    ) -> None:
        """Sign a decision with something changed or spoiled, and put it into the ledger around the front door."""
        statement = self.world.statement(self.request, _at(at))
        decision = type_of(statement, change or {})
        data = self.world.sign(decision, *by)
        data = flipped(data, flip) if flip else data
        data = SPOILERS[spoil](data) if spoil else data
        self.envelope.write_bytes(data)
        if record:
            self.world.forge(data, statement, type=type, now=_at(at))

    def delegate(
        self, to: str = "ben", who: str = "ana", at: float = 0, hours: int | None = None, *, back: bool = False
    ) -> None:
        """Lend a place, or take it back, through the front door."""
        act = delegating.withdraw if back else delegating.delegate
        nonce = digest(f"{who}{to}{self.world.ledger.size()}")[:32]
        wish = delegating.Wish(self.request, to, "away", hours)
        act(self.world.verifier(_at(at)), wish, NamedSigner(who), now=_at(at), nonce=nonce)

    def record_again(self, at: float = 0) -> None:
        """Put the first envelope of the round into the ledger once more."""
        first = self.world.history().decisions[0]
        body = {name: getattr(first, name) for name in ("gate", "round_id", "request_id", "decision_id")}
        body["envelope"] = first.envelope.decode()
        self.world.ledger.append("APPROVED", "forger", body, ts=_at(at))

    def policy(self, **changes: Any) -> None:
        """Write another gate policy."""
        self.world.write_policy(**changes)

    def root(self, version: int = 2, *, revoke: str | None = None, revoked_at: float = 0, expire: str | None = None,
             start: str | None = None, ends: float | None = None, threshold: int = 1) -> None:  # fmt: skip
        """Write the next version of the trust root: a key revoked, or with other ends of its time."""
        people = [p for p in PEOPLE if p.id not in (expire, start)]
        if expire is not None:
            people.append(person(expire, keys=(Key(NamedSigner(expire).public_key, Validity(None, NOON + HOUR)),)))
        if start is not None:
            late = Validity(NOON + 2 * HOUR, None)
            people.append(person(start, keys=(Key(NamedSigner(start).public_key, late),)))
        more: dict[str, Any] = {} if ends is None else {"expires": _at(ends)}
        revocations = ()
        if revoke is not None:
            revocations = (Revocation(fingerprint(NamedSigner(revoke).public_key), _at(revoked_at), "lost"),)
        thresholds = {Role.APPROVER: threshold}
        self.world.write_root(*people, version=version, revocations=revocations, thresholds=thresholds, at=NOON, **more)
        self.roots[version] = self.world.config.root.read_bytes()

    def restore_root(self, version: int = 1) -> None:
        """Put an older root file back."""
        self.world.config.root.write_bytes(self.roots[version])

    def use(self, asset: str = "published_features", run: str = "run-1", at: float = 1) -> None:
        """Let a run use the approval."""
        self.world.guard(asset, run=run, now=_at(at))

    def freeze(self, round_id: str | None = None) -> None:
        """Freeze everything, or one round."""
        self.world.ledger.append("FREEZE", "dot", {"round_id": round_id, "reason": "re-baseline"}, ts=NOON)

    def unfreeze(self) -> None:
        """Lift the last freeze."""
        seq = next(event.seq for event in self.world.ledger.events(types={"FREEZE"}))
        self.world.ledger.append("UNFREEZE", "dot", {"freeze_seq": seq}, ts=NOON)

    def resolve(self, who: str = "ben", *, sign: bool = True) -> None:
        """Resolve the open case of the round."""
        (case,) = [{**row, "round_id": "r1"} for row in round_rows("r1", mismatch=True)["audit_escalations"]]
        ref, outcome = resolutions.ref_of_row({"declared": None, "computed": None, **case}), Outcome.SOURCE_WRONG
        envelope = sign_case(ref, "typed wrong", NamedSigner(who), NOON, outcome)
        if not sign:
            envelope = dsse.envelope_bytes(dsse.parse_envelope(envelope)._replace(signatures=()))
        event = step_event(ref, envelope, "typed wrong", who, NOON, outcome)
        self.world.ledger.append(event.type, who, event.body, ts=NOON)

    def tamper(self, sql: str) -> None:
        """Change the file of the ledger as somebody would who does not care for triggers."""
        with closing(sqlite3.connect(self.world.ledger.path, isolation_level=None)) as connection:
            triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
            for name, _ in triggers:
                connection.execute(f"DROP TRIGGER {name}")
            connection.execute(sql)
            for _, text in triggers:
                connection.execute(text)

    def log_key(self) -> None:
        """Give the log a key; decisions are sealed from then on."""
        self.world.write_log_key()
        self.roots[2] = self.world.config.root.read_bytes()

    def signed_root(self) -> None:
        """Record the root in force with its signed bytes, as this program does."""
        config, data = self.world.config, self.world.config.root.read_bytes()
        root = read_root(data, config.root_fingerprint, NOON)
        pinned = config.root_fingerprint
        remember_root(self.world.ledger, root, actor="owner", ts=NOON, data=data, pinned=pinned)

    def seal(self, by: str = "log", *, behind: int = 0) -> None:
        """Put a checkpoint into the ledger around the front door; `behind` so many events before its end."""
        head = self.world.ledger.head(self.world.ledger.size() - behind)
        note = signed_checkpoint(head, self.world.config, NamedSigner(by))
        self.world.ledger.append("CHECKPOINT", "log", {"size": head.size, "note": note}, ts=NOON)

    def remember(self, size: int | None = None, root: str | None = None) -> None:
        """Let the verifier remember a head: that of now, or with another size or root."""
        head = self.world.ledger.head()
        other = Checkpoint("here", Head(head.size if size is None else size, root or head.root))
        path = head_path(self.world.config)
        path.write_text(checkpoint_text(other))
        path.chmod(0o600)

    def conflict(self) -> None:
        """Keep a checkpoint the log signed of another history."""
        head = Head(1, "00" * 32)
        keep_conflict(self.world.config, signed_checkpoint(head, self.world.config, NamedSigner("log")).encode())

    # -- questions
    def ask_library(self, question: dict[str, Any], steps: Sequence[Step] = STEPS) -> Checked:
        config = self.world.config
        data = config.root.read_bytes()
        root = read_root(data, config.root_fingerprint, NOON)  # what a process holds that read it at noon
        verifier = Verifier(self.world.lake, self.world.ledger, root, load_policy(config.policy), config)
        try:
            return check_request(
                verifier, self.request, _at(question.get("at", 1)), asset=question.get("asset"),
                root_run_id=question.get("run"), envelope=self.envelope if question.get("by_file") else None, steps=steps,
            )  # fmt: skip
        except Refusal as refusal:  # before any step: the ledger cannot even be read
            return Checked(None, refusal, [])

    def command(self, question: dict[str, Any]) -> list[str]:
        at = _at(question.get("at", 1)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        command = ["gate", "verify", self.request, "--json", "--at", at, "--lake", str(self.world.lake.root)]
        command += ["--config", str(self.world.config_path)]
        command += ["--asset", question["asset"]] if question.get("asset") else []
        return [*command, "--envelope", str(self.envelope)] if question.get("by_file") else command


def type_of(decision: Any, change: dict[str, Any]) -> Any:
    """Give a decision with members changed by their JSON values; times are hours after noon."""
    made = {}
    for name, value in change.items():
        if name in ("not_before", "expires"):
            made[name] = _at(value)
        elif name == "assurance":
            made[name] = Assurance(value)
        elif name == "verb":
            made[name] = Verb(value)
        elif name == "checkpoint":
            made[name] = Head(value["size"], value["root"])
        elif name == "policy":
            made[name] = PolicyRef(value["version"], value["sha256"])
        else:
            made[name] = value
    return type(decision)(**{**vars(decision), **made})


def _at(hours: float) -> Any:
    return NOON + timedelta(hours=hours)


def _resigned(data: bytes, payload: bytes, kind: str = STATEMENT_PAYLOAD_TYPE) -> bytes:
    assert dsse.parse_envelope(data).signatures
    return dsse.sign(payload, kind, NamedSigner("ana"))


def _with_predicate(data: bytes, change: Any) -> bytes:
    statement = json.loads(dsse.parse_envelope(data).payload)
    change(statement)
    return _resigned(data, json.dumps(statement, sort_keys=True, separators=(",", ":")).encode())


def _another_key_id(data: bytes) -> bytes:
    envelope = dsse.parse_envelope(data)
    (one,) = envelope.signatures
    return dsse.envelope_bytes(envelope._replace(signatures=(one, one._replace(keyid="another name"))))


def _signed_bare(data: bytes) -> bytes:
    """Sign the payload without the encoding that binds its type, as a signature made for another use is."""
    envelope = dsse.parse_envelope(data)
    sig = NamedSigner("ana").sign(envelope.payload)
    return dsse.envelope_bytes(envelope._replace(signatures=(envelope.signatures[0]._replace(sig=sig),)))


def _without_signature(data: bytes) -> bytes:
    return dsse.envelope_bytes(dsse.parse_envelope(data)._replace(signatures=()))


SPOILERS = {
    "by hand": lambda _: b'{"decision": "APPROVE", "approved_by": "ana"}',
    "not json": lambda data: data[:-1],
    "nan": lambda data: data[:-1] + b', "x": NaN}',
    "deep": lambda data: data[:-1] + b', "x": ' + b"[" * 70 + b"]" * 70 + b"}",
    "member twice": lambda data: data[:-1] + b', "payloadType": ' + json.dumps(STATEMENT_PAYLOAD_TYPE).encode() + b"}",
    "padded": lambda data: data + b" " * (50 * 1024),
    "huge": lambda data: data + b" " * (10 * 1024 * 1024),
    "without signature": _without_signature,
    "another key id": _another_key_id,
    "signed bare": _signed_bare,
    "other payload type": lambda data: _resigned(data, dsse.parse_envelope(data).payload, "application/json"),
    "other predicate": lambda d: _with_predicate(d, lambda s: s.update(predicateType="urn:govern:rubber-stamp:v1")),
    "no producers": lambda d: _with_predicate(d, lambda s: s["predicate"].update(producers=[])),
    "no reason": lambda d: _with_predicate(d, lambda s: s["predicate"].update(reason=" ")),
    "invisible reason": lambda d: _with_predicate(d, lambda s: s["predicate"].update(reason="\u200b\u2800")),
    "a condition": lambda d: _with_predicate(d, lambda s: s["predicate"].update(only_on="Mondays")),
    "two subjects": lambda d: _with_predicate(d, lambda s: s["subject"].append(s["subject"][0])),
    "payload member twice": lambda d: _resigned(d, dsse.parse_envelope(d).payload[:-1] + b',"_type":"x"}'),
    "on behalf": lambda d: _with_predicate(d, lambda s: s["predicate"].update(on_behalf_of="ben")),
}
"""Name of a spoiler -> what it makes of a sound envelope. All but the unsigned ones are signed by ana."""

assert PREDICATE
assert sign_decision
