"""The gate over a ledger of 100,000 events: ticks of its sensors, the inbox, verification, and what one envelope costs.

`python bench/gate.py [EVENTS]` prints one line per measurement; exit 1 when one breaks its promise. There is no peer to
put beside it: the promises are those of research/hitl.md (d) 8 and 10.
"""

from __future__ import annotations

import importlib.util
import secrets
import shutil
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from governance_pipeline.gate.answers import inbox_document
from governance_pipeline.gate.decision import Decision, Verb, decision_statement, origin_of
from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.gates import PUBLISH
from governance_pipeline.gate.inputs import read_inputs
from governance_pipeline.gate.launching import due_launches
from governance_pipeline.gate.manifest import keep_manifest, manifest_of
from governance_pipeline.gate.passage import policy_ref
from governance_pipeline.gate.verify import passage_of, verify
from governance_pipeline.ledger.event import NewEvent
from governance_pipeline.ledger.head import Head
from governance_pipeline.notify.delivery import Outcome
from governance_pipeline.notify.sending import Means, send_due
from governance_pipeline.notify.targets import Address, NoticeKind, Notifications, Target
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.trust import dsse
from governance_pipeline.trust.statement import STATEMENT_PAYLOAD_TYPE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GATE_WORLD = Path(__file__).parents[1] / "tests" / "unit" / "gate" / "gate_world.py"
EVENTS, PENDING, APPROVED = 100_000, 1_000, 20
PER_OLD_ROUND = 10
BATCH = 2_000
REPEATS = 2

PROMISED_S = {"tick of decisions": 10.0, "tick of notifications": 10.0, "inbox": 2.0}
"""Beginning of a measurement's name -> seconds it may take (research/hitl.md d 8, d 10)."""


def world_module():
    spec = importlib.util.spec_from_file_location("gate_world", GATE_WORLD)
    module = importlib.util.module_from_spec(spec)
    sys.modules["gate_world"] = module
    spec.loader.exec_module(module)
    return module


gate_world = world_module()
NOON = gate_world.NOON


def old_rounds(world, count: int) -> Iterator[NewEvent]:
    """Events of rounds that were asked about, approved and published long ago."""
    signer, then = gate_world.NamedSigner("ana"), NOON - timedelta(days=90)
    policy, origin = policy_ref(world.verifier().policy), origin_of(world.config)
    request = read_history(world.ledger).requests[0]
    body = next(e.body for e in world.ledger.events(types={EventType.REQUESTED}))
    plain = {key: value for key, value in body.items() if key != "unique"}
    template = decision_statement(
        Decision(
            verb=Verb.APPROVE,
            gate="publish",
            round_id="old-00000",
            request_id="0" * 64,
            subject_sha256="1" * 64,
            display_sha256="2" * 64,
            producers=("coder-1",),
            nonce=secrets.token_hex(16),
            not_before=then,
            expires=then + timedelta(hours=72),
            policy=policy,
            origin=origin,
            checkpoint=Head(1, "3" * 64),
            reason="read",
        )
    )
    for number in range(count):
        round_id, subject = f"old-{number:05}", sha256_hex(str(number).encode())
        asked = sha256_hex(canonical_json(["publish", round_id, subject]))
        where = {"gate": "publish", "round_id": round_id, "request_id": asked, "subject_sha256": subject}
        yield NewEvent(EventType.REQUESTED, request.requester, {**plain, **where}, then)
        payload = template.replace(b"old-00000", round_id.encode()).replace(b"0" * 64, asked.encode())
        data = dsse.sign(payload.replace(b"1" * 64, subject.encode()), STATEMENT_PAYLOAD_TYPE, signer)
        name = dsse.parse_envelope(data).payload_sha256
        yield NewEvent(EventType.APPROVED, "ana", {**where, "decision_id": name, "envelope": data.decode()}, then)
        for kind in (EventType.INTENT, EventType.CONSUMED, EventType.RELEASED, EventType.DONE):
            for asset in PUBLISH.assets:
                passed = {**where, "asset": asset, "decision_id": name, "run_id": "run", "root_run_id": "run"}
                yield NewEvent(kind, request.requester, passed, then)


def pending_rounds(world, count: int) -> Iterator[NewEvent]:
    """Copy the tables of r1 for other rounds, and ask about each."""
    inputs = read_inputs(PUBLISH, "r1", world.lake)
    body = next(e.body for e in world.ledger.events(types={EventType.REQUESTED}))
    plain = {key: value for key, value in body.items() if key != "unique"}
    manifest = manifest_of(inputs, policy_ref(world.verifier().policy), body["code_sha256"])
    for number in range(count):
        round_id = f"wait-{number:04}"
        for table in PUBLISH.upstream:
            folder = world.lake.root / table
            shutil.copytree(folder / "round=r1", folder / f"round={round_id}")
        data = canonical_json({**manifest.document, "round_id": round_id})
        kept = type(manifest)({**manifest.document, "round_id": round_id}, data, sha256_hex(data))
        keep_manifest(world.lake, kept)
        asked = sha256_hex(canonical_json(["publish", round_id, kept.sha256]))
        where = {"round_id": round_id, "request_id": asked, "subject_sha256": kept.sha256}
        yield NewEvent(EventType.REQUESTED, "service:governance-pipeline", {**plain, **where}, NOON)


def append_all(world, events: Iterator[NewEvent]) -> None:
    batch: list[NewEvent] = []
    for event in events:
        batch.append(event)
        if len(batch) == BATCH:
            world.ledger.append_all(batch)
            batch = []
    if batch:
        world.ledger.append_all(batch)


def build(folder: Path, events: int):
    """Make a ledger of about `events` events: 20 approvals to look at, old rounds, and 1,000 requests that wait."""
    world = gate_world.World.create(folder)
    world.make_round()
    world.request(now=NOON)
    names = [f"new-{number:02}" for number in range(APPROVED)]
    for name in names:
        world.make_round(name)
    world.request(*names, now=NOON)
    before = world.ledger.size()
    for name in names:
        world.decide(read_history(world.ledger).in_force("publish", name).request_id)
    append_all(world, old_rounds(world, (events - PENDING - 3 * APPROVED) // PER_OLD_ROUND))
    append_all(world, pending_rounds(world, PENDING - 1))
    return world, names, before


def measured(what: str, act: Callable[[], object]) -> float:
    best = min(_seconds(act) for _ in range(REPEATS))
    promise = next((s for name, s in PROMISED_S.items() if what.startswith(name)), None)
    kept = "" if promise is None else f"  (promised {promise:g} s: {'kept' if best < promise else 'BROKEN'})"
    print(f"{what:<62} {best:9.3f} s{kept}", flush=True)
    return 0.0 if promise is None or best < promise else best


def _seconds(act: Callable[[], object]) -> float:
    """Seconds of the processor: other work on the machine does not count."""
    start = time.process_time()
    act()
    return time.process_time() - start


def one_message(world) -> None:
    """Tick of notifications that tells one target of what it does not know: handing over costs nothing here."""
    target = Target(secrets.token_hex(4), Address("json://nowhere"), frozenset({NoticeKind.NEW}))
    means = Means(lambda *_: Outcome(is_sent=True), lambda: NOON, time.sleep)
    send_due(world.verifier(), Notifications((target,), timedelta(hours=24)), means)


def main(events: int) -> int:
    broken = 0.0
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        world, names, before = build(Path(folder) / "world", events)
        ledger = world.ledger
        print(f"{ledger.size()} events made in {time.perf_counter() - start:.0f} s", flush=True)
        verifier = world.verifier()
        broken += measured("tick of decisions, nothing new", lambda: due_launches(verifier, ledger.size(), NOON))
        launched = due_launches(verifier, before, NOON).launches
        assert len(launched) == APPROVED, launched
        broken += measured(f"tick of decisions, {APPROVED} approvals", lambda: due_launches(verifier, before, NOON))
        broken += measured("tick of notifications, 100 notices", lambda: one_message(world))
        measured("fold of the history", lambda: read_history(ledger))
        measured("verification of the ledger", ledger.verify)
        history = read_history(ledger)
        assert len(inbox_document(verifier, history, NOON)["requests"]) >= PENDING
        broken += measured(
            f"inbox of {PENDING} pending requests (library)", lambda: inbox_document(verifier, history, NOON)
        )
        passage = passage_of(verifier, PUBLISH, names[0], NOON, history=history)
        verify(passage)
        measured(
            "all steps of one passage, ledger read and verified before",
            lambda: verify(passage_of(verifier, PUBLISH, names[0], NOON, history=history)),
        )
        envelope = history.of_round("publish", names[0])[0]
        from governance_pipeline.gate.closings import signed_decision

        measured(
            "1,000 envelopes parsed and their signatures verified",
            lambda: [signed_decision(envelope, verifier.root) for _ in range(1000)],
        )
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS))
