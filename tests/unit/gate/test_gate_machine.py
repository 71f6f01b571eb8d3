"""Whatever people and runs do in whatever order, with crashes in between: what was promised of the ledger holds.

Rules: ask, change the work, approve, reject, revoke, delegate, take back, decide for another, fail, retry, let time
pass, use, crash while using, go on, another run, end. Invariants are asked after every step.
"""

from __future__ import annotations

import collections
import importlib.util
import itertools
import os
import shutil
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from governance_pipeline.errors import UsageError
from governance_pipeline.gate import delegating
from governance_pipeline.gate.attempts import open_runs
from governance_pipeline.gate.deciding import decide
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.launching import due_launches
from governance_pipeline.gate.publication import publish, write
from governance_pipeline.gate.published import unaccounted_files
from governance_pipeline.gate.retrying import ask_again, note_failure
from governance_pipeline.gate.states import State, standing_of
from governance_pipeline.ledger.event import AlreadyRecorded
from governance_pipeline.trust.reasons import Refusal

PEOPLE = st.sampled_from(["ana", "ben", "pia"])
ASSETS = st.sampled_from(["published_features", "published_round_report"])
SELDOM = st.sampled_from([False, False, False, True])
COUNTS: collections.Counter[str] = collections.Counter()
"""How often each rule did something, and how often it was refused; printed at the end."""


def _module():
    if "gate_world" not in sys.modules:
        spec = importlib.util.spec_from_file_location("gate_world", Path(__file__).with_name("gate_world.py"))
        module = importlib.util.module_from_spec(spec)
        sys.modules["gate_world"] = module
        spec.loader.exec_module(module)
    return sys.modules["gate_world"]


gate_world = _module()


class Crash(Exception):  # noqa: N818 - it is none of ours
    """The process ends here; what was appended stays."""


class GateMachine(RuleBasedStateMachine):
    """One round, three approvers, two gated assets, and a clock."""

    made: Path | None = None

    @initialize()
    def create(self) -> None:
        cls = type(self)
        if cls.made is None or not cls.made.exists():
            cls.made = Path(tempfile.mkdtemp(prefix="machine-")) / "world"
            gate_world.World.create(cls.made).make_round()
        self.folder = Path(tempfile.mkdtemp(prefix="machine-"))
        copy = self.folder / "world"
        shutil.copytree(cls.made, copy)
        config = copy / "trust" / "gate.toml"
        config.write_text(config.read_text().replace(str(cls.made), str(copy)))
        self.world = gate_world.World(copy)
        self.world.stored = {("r1", table): rows for table, rows in gate_world.round_rows("r1").items()}
        self.now = gate_world.NOON
        self.numbers = itertools.count(1)
        self.surface = 3.0
        self.keys: set[str] = set()
        self.world.request(now=self.now)

    def history(self):
        return read_history(self.world.ledger)

    def request(self):
        return self.history().in_force("publish", "r1")

    def verifier(self):
        return self.world.verifier(self.now)

    def nonce(self) -> str:
        return gate_world.digest(f"nonce {next(self.numbers)}")[:32]

    def tried(self, what: str, act) -> object:
        """Do something that may be refused; anything but a refusal is a fault."""
        try:
            done = act()
        except (Refusal, AlreadyRecorded, UsageError) as refusal:
            COUNTS[f"{what} refused"] += 1
            return refusal
        COUNTS[what] += 1
        return done

    @rule()
    def ask(self) -> None:
        self.tried("request", lambda: self.world.request(now=self.now))

    @rule(is_changed=SELDOM)
    def change_the_work(self, is_changed) -> None:
        if not is_changed:
            return
        self.surface += 1
        self.world.make_round(surface=self.surface)
        self.tried("supersede", lambda: self.world.request(now=self.now))

    @rule(who=PEOPLE, verb=st.sampled_from([*[Verb.APPROVE] * 6, Verb.REJECT, Verb.REVOKE]))
    def decide(self, who, verb) -> None:
        request, signer = self.request().request_id, gate_world.NamedSigner(who)
        self.tried(
            str(verb).lower(),
            lambda: decide(self.verifier(), request, verb, "read", signer, now=self.now, nonce=self.nonce()),
        )

    @rule(who=PEOPLE, to=PEOPLE, back=SELDOM)
    def delegate(self, who, to, back) -> None:
        act = delegating.withdraw if back else delegating.delegate
        wish, signer = delegating.Wish(self.request().request_id, to, "away", None), gate_world.NamedSigner(who)
        name = "take back" if back else "delegate"
        self.tried(name, lambda: act(self.verifier(), wish, signer, now=self.now, nonce=self.nonce()))

    @rule(who=PEOPLE, place=PEOPLE)
    def decide_for_another(self, who, place) -> None:
        request, signer = self.request().request_id, gate_world.NamedSigner(who)
        self.tried(
            "approve on behalf",
            lambda: decide(
                self.verifier(), request, Verb.APPROVE, "read", signer,
                now=self.now, nonce=self.nonce(), on_behalf_of=place,
            ),
        )  # fmt: skip

    @rule(hours=st.sampled_from([*[1] * 6, 30, 73]))
    def let_time_pass(self, hours) -> None:
        self.now += timedelta(hours=hours)
        COUNTS["time" if hours < 73 else "expire"] += 1

    @rule(run=st.sampled_from(["run-1", "run-2"]))
    def fail(self, run) -> None:
        noted = self.tried("fail", lambda: note_failure(self.verifier(), "r1", run, run, self.now))
        COUNTS["failures noted"] += len(noted) if isinstance(noted, list) else 0

    @rule()
    def retry(self) -> None:
        self.tried("retry", lambda: ask_again(self.verifier(), "r1", self.now))

    @rule(
        asset=ASSETS,
        run=st.sampled_from(["run-1", "run-2"]),
        resumes=st.booleans(),
        crash=st.sampled_from([None, "after use", "before end"]),
    )
    def use(self, asset, run, resumes, crash) -> None:
        """Publish as an asset body does, dying on the way if told to."""

        def act():
            root = (open_runs(self.request(), self.history()).get(asset) if resumes else None) or run
            [release] = self.world.guard(asset, run=run, root_run=root, now=self.now)
            if crash == "after use":
                raise Crash
            if crash == "before end":
                write(release)
                raise Crash
            return publish(release, now=lambda: self.now)

        try:
            self.tried("use", act)
        except Crash:
            COUNTS["crash"] += 1

    @rule()
    def tick(self) -> None:
        due = self.tried("tick", lambda: due_launches(self.verifier(), 0, self.now))
        if not isinstance(due, Exception):
            self.keys |= {launch.key for launch in due.launches}

    @invariant()
    def promises_hold(self) -> None:
        if not hasattr(self, "world"):
            return
        events = list(self.world.ledger.events())
        history = self.history()
        consumed = collections.Counter(
            (e.body["decision_id"], e.body["subject_sha256"], e.body["asset"])
            for e in events
            if e.type == EventType.CONSUMED
        )
        assert all(count == 1 for count in consumed.values()), "one use per decision, manifest and asset"
        ended = collections.Counter(
            (e.body["decision_id"], e.body["subject_sha256"], e.body["asset"])
            for e in events
            if e.type == EventType.DONE
        )
        assert set(ended) <= set(consumed)
        assert all(count == 1 for count in ended.values())
        approved = {d.decision_id for d in history.decisions if d.type is EventType.APPROVED}
        assert {decision for decision, _, _ in consumed} <= approved, "nothing is used that nobody approved"
        attempts = collections.Counter((r.decision_id, r.attempt) for r in history.retries)
        assert all(count == 1 for count in attempts.values())
        assert self.world.ledger.verify() == []
        assert history.unusable == []
        request = self.request()
        state = standing_of(request, self.verifier(), history, self.now).state
        if state in (State.APPROVED, State.APPROVED_FAILED):
            assert history.approvals(request), "an open gate has an approval of this window"
        if state is State.APPROVED_FAILED:
            assert open_runs(request, history)
        faults = [
            f
            for f in unaccounted_files(self.world.lake, history, self.world.verifier(self.now).root)
            if "unfinished" not in f.message
        ]
        assert faults == []

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)


def _run(examples: int, steps: int) -> None:
    COUNTS.clear()
    GateMachine.TestCase.settings = settings(
        max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck)
    )
    case = GateMachine.TestCase("runTest")
    case.runTest()
    if GateMachine.made is not None:
        shutil.rmtree(GateMachine.made.parent)
        GateMachine.made = None
    sys.stdout.write(f"{sum(COUNTS.values())} steps: {dict(sorted(COUNTS.items()))}{os.linesep}")


def test_each_rule_that_is_seldom_allowed_can_happen():
    COUNTS.clear()
    machine = GateMachine()
    machine.create()
    asset = "published_features"
    steps = (
        lambda: machine.delegate(who="ana", to="ben", back=False),
        lambda: machine.decide_for_another(who="ben", place="ana"),
        lambda: machine.use(asset=asset, run="run-1", resumes=False, crash="before end"),
        lambda: machine.fail(run="run-1"),
        machine.retry,
        lambda: machine.use(asset=asset, run="run-2", resumes=False, crash=None),
        lambda: machine.use(asset=asset, run="run-2", resumes=True, crash=None),
    )
    for step in steps:
        step()
        machine.promises_hold()
    machine.teardown()
    happened = {"delegate", "approve on behalf", "crash", "failures noted", "retry", "use refused", "use"}
    assert {name for name, count in COUNTS.items() if count == 1} >= happened


def test_a_few_orders_of_everything_people_and_runs_do_keep_every_promise():
    _run(3, 8)


@pytest.mark.long
def test_many_orders_of_everything_people_and_runs_do_keep_every_promise():
    _run(40, 30)
    for word in ("request", "approve", "reject", "retry", "supersede", "expire"):
        assert COUNTS[word] > 0, f"{word} never happened: {COUNTS}"
