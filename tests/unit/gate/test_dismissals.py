"""Dismissals: only somebody with the role who made nothing of the round, only what was read, and the gate looks again."""

from __future__ import annotations

import json
import shutil
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest

from governance_pipeline.believed import believed
from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.errors import PolicyError, UsageError
from governance_pipeline.gate.dismissals import (
    dismiss,
    find_finding,
    lapsed_dismissals,
    lapsed_words,
    rounds_to_judge_again,
)
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.gates import PUBLISH
from governance_pipeline.gate.inputs import read_inputs
from governance_pipeline.gate.shown import shown
from governance_pipeline.gate.states import State, standing_of
from governance_pipeline.ledger.dismissals import DISMISSED, dismissal_event, read_dismissals
from governance_pipeline.pipeline import TABLES
from governance_pipeline.trust.dismissal_statement import dismissed, sign_dismissal
from governance_pipeline.trust.principals import Role
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.verdict.dismissal_policy import shipped_dismissal_bytes
from governance_pipeline.verdict.dismissals import ref_of
from governance_pipeline.verdict.document_schema import document_fault
from governance_pipeline.workspace import Workspace

SAMPLE = Path(__file__).parents[3] / "data" / "sample" / "rounds"
ROUND, HASH_ROUND = "parser-0004", "billing-0008"
REASON = "the vendor bills one call twice, see their credit note"
JUDGED = ("verdict_findings", "verdict_rounds")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Landing folder and lake of a round with a false total and one with a false hash."""
    root = tmp_path_factory.mktemp("dismissals")
    for name in (ROUND, HASH_ROUND):
        shutil.copytree(SAMPLE / name, root / "landing" / name)
    Workspace(root / "landing", root / "lake").make(TABLES, [ROUND, HASH_ROUND])
    return root


@pytest.fixture
def here(made, tmp_path, gate_world):
    """A world whose lake holds those rounds; the producer of `parser-0004` is an alias of eva, who may dismiss."""
    people = (*gate_world.PEOPLE, gate_world.person("eva", Role.DISMISSER, aliases=(_producer(made),)))
    world = gate_world.World.create(tmp_path / "world", *people)
    shutil.copytree(made / "lake", world.lake.root)
    return world


def _producer(made):
    runs = Workspace(made / "landing", made / "lake").lake.get("core_runs", ROUND)
    return next(str(name) for name in runs["agent_id"].dropna())


@pytest.fixture
def gate_world():
    """The module of the gate's small world, which the conftest of this folder has loaded."""
    return sys.modules["gate_world"]


def the_finding(world, round_id=ROUND):
    [row] = [r for r in plain_rows(world.lake.get("verdict_findings", round_id)) if r["decision"] in ("warn", "block")]
    return row


def say(world, gate_world, who="dot", *, finding=None, until=None, now=None, reason=REASON, seen=None):
    finding = finding or the_finding(world)["finding_id"]
    signer = gate_world.NamedSigner(who)
    now = now or gate_world.NOON
    return dismiss(world.verifier(now), finding, reason, until, signer, clock=lambda: now, seen_sha256=seen)


def judged(world, made, now):
    """Make the verdict tables again at an instant; gives the row of the round and its document."""
    Workspace(made / "landing", world.lake.root, believed(world.config, now)).make(JUDGED, [ROUND, HASH_ROUND])
    [row] = plain_rows(world.lake.get("verdict_rounds", ROUND))
    document = json.loads(row["document"])
    assert document_fault("verdict-v1.json", document) is None
    return row, document


@pytest.mark.parametrize(
    ("who", "code"),
    [("mallory", ReasonCode.UNTRUSTED_KEY), ("ana", None), ("coder-1", None), ("eva", ReasonCode.SELF_APPROVAL)],
)
def test_who_may_not_dismiss_records_nothing(here, gate_world, who, code):
    size = here.ledger.size()
    with pytest.raises(Refusal) as refused:
        say(here, gate_world, who)
    assert code in (None, refused.value.code)
    assert here.ledger.size() == size


@pytest.mark.parametrize("has_key", [True, False])
def test_a_dismissal_is_sealed_where_the_key_of_the_log_is_and_recorded_where_it_is_not(here, gate_world, has_key):
    here.write_log_key()
    if not has_key:
        here.config.log_key.unlink()
    recorded = say(here, gate_world)
    assert recorded.event.type == DISMISSED
    assert [event.type for event in here.ledger.events(after=recorded.event.seq)] == ["CHECKPOINT"] * has_key


def test_a_false_hash_cannot_be_dismissed_by_anybody(here, made, gate_world):
    finding = the_finding(here, HASH_ROUND)
    with pytest.raises(Refusal, match="cannot be dismissed") as refused:
        say(here, gate_world, finding=finding["finding_id"])
    assert refused.value.code is ReasonCode.BLOCKED_POLICY
    envelope = sign_dismissal(ref_of(finding), REASON, None, gate_world.NamedSigner("dot"), gate_world.NOON)
    event = dismissal_event(ref_of(finding), finding["code"], envelope, REASON, None, "dot", gate_world.NOON)
    here.ledger.append_all([event])
    judged(here, made, gate_world.NOON)
    assert the_finding(here, HASH_ROUND)["decision"] == "block"


def test_a_tightened_copy_takes_back_what_was_dismissed_and_refuses_it_anew(here, made, gate_world):
    say(here, gate_world)
    judged(here, made, gate_world.NOON)
    [row] = [one for one in plain_rows(here.lake.get("verdict_findings", ROUND)) if one["decision"] == "dismissed"]
    copy = here.config_path.parent / "dismissal-1.json"
    shipped = dict(json.loads(shipped_dismissal_bytes()))
    copy.write_text(json.dumps({**shipped, "not_dismissible": [*shipped["not_dismissible"], row["code"]]}))
    copy.chmod(0o600)
    assert rounds_to_judge_again(here.verifier(gate_world.NOON), gate_world.NOON) == [ROUND]
    judged(here, made, gate_world.NOON)
    assert the_finding(here)["finding_id"] == row["finding_id"], "it counts again"
    with pytest.raises(Refusal, match="cannot be dismissed"):
        say(here, gate_world)
    copy.write_text(json.dumps({**shipped, "not_dismissible": []}))
    with pytest.raises(PolicyError, match="does not tighten"):
        say(here, gate_world)


@pytest.mark.parametrize(("reason", "until"), [("short", None), (" " * 40, None), ("x" * 5000, None),
                                               (REASON, date(2026, 11, 29))])  # fmt: skip
def test_a_reason_nobody_can_use_and_a_day_that_is_over_are_refused(here, gate_world, reason, until):
    with pytest.raises(UsageError):
        say(here, gate_world, reason=reason, until=until)


@pytest.mark.parametrize("finding", ["0" * 64, "", "'; DROP", "f" * 8])
def test_a_finding_nobody_has_is_refused(here, finding):
    with pytest.raises(UsageError, match="begin"):
        find_finding(here.lake, finding)


def test_what_was_not_read_is_not_signed(here, gate_world):
    with pytest.raises(Refusal) as refused:
        say(here, gate_world, seen="0" * 64)
    assert refused.value.code is ReasonCode.DIGEST_MISMATCH


def test_a_dismissed_finding_stays_with_name_and_reason_and_counts_no_more(here, made, gate_world):
    before, _ = judged(here, made, gate_world.NOON)
    request = here.request(ROUND)
    say(here, gate_world)
    after, document = judged(here, made, gate_world.NOON)
    assert (before["status"], after["status"]) == ("warn", "pass")
    [entry] = [one for one in document["new_findings"] if one["dismissed"]]
    assert (entry["decision"], entry["dismissed"]["by"], entry["dismissed"]["decision"]) == ("dismissed", "dot", "warn")
    assert entry["dismissed"]["reason"] == REASON
    assert (before["document"] == after["document"], before["findings_count"]) == (False, after["findings_count"])
    asked = here.request(ROUND)
    assert asked != request
    now = gate_world.NOON
    text = shown(here.verifier(now), asked, now).text
    assert f"dismissed  by 'dot', would be warn: {REASON!r}" in text.replace('"', "'")


def test_it_can_be_said_once_until_it_ends(here, gate_world):
    say(here, gate_world, until=date(2026, 12, 1))
    say(here, gate_world)
    with pytest.raises(Refusal) as refused:
        say(here, gate_world)
    assert refused.value.code is ReasonCode.REPLAYED


def test_the_day_after_the_last_one_it_counts_no_more_and_the_gate_sees_it(here, made, gate_world):
    say(here, gate_world, until=date(2026, 12, 1))
    row, document = judged(here, made, gate_world.NOON)
    assert (row["status"], document["new_findings"][0]["dismissed"]["until"]) == ("pass", "2026-12-01")
    here.request(ROUND)
    late = gate_world.NOON + timedelta(days=1, hours=12)
    lapsed = lapsed_dismissals(read_inputs(PUBLISH, ROUND, here.lake), here.verifier(late), late)
    assert "counted until 2026-12-01" in lapsed_words(lapsed)
    assert lapsed_dismissals(
        read_inputs(PUBLISH, ROUND, here.lake), here.verifier(late), late - timedelta(seconds=1)
    ) == []  # fmt: skip
    assert judged(here, made, late)[0]["status"] == "warn"


def test_a_table_that_says_dismissed_without_a_signature_does_not_pass(here, made, gate_world):
    say(here, gate_world)
    judged(here, made, gate_world.NOON)
    other = gate_world.World.create(here.folder / "other")
    shutil.copytree(here.lake.root, other.lake.root)
    lapsed = lapsed_dismissals(read_inputs(PUBLISH, ROUND, other.lake), other.verifier(), gate_world.NOON)
    assert "holds no dismissal" in lapsed_words(lapsed)


def test_a_dismissal_of_another_finding_or_of_other_numbers_does_not_count(here, gate_world):
    recorded = say(here, gate_world)
    envelope = recorded.event.body["envelope"].encode()
    row, root = dict(recorded.finding), here.verifier().root
    for changed in ({"message": "declared 0.25, computed 0.1"}, {"factors": "{}"}, {"finding_id": "0" * 64}):
        with pytest.raises(Refusal) as refused:
            dismissed(envelope, ref_of(row | changed), root, ["nobody"], gate_world.NOON)
        assert refused.value.code is ReasonCode.DIGEST_MISMATCH
    assert dismissed(envelope, ref_of(row), root, ["nobody"], gate_world.NOON).people == ("dot",)


def test_a_revoked_person_no_longer_dismisses(here, made, gate_world):
    say(here, gate_world)
    here.write_root(*(p for p in gate_world.PEOPLE if p.id != "dot"), version=2)
    assert judged(here, made, gate_world.NOON)[0]["status"] == "warn"


def test_an_event_that_holds_nothing_usable_is_told_and_dismisses_nothing(here, made, gate_world):
    for body in ({}, {"round_id": "../x", "finding_id": "a", "envelope": "b"}, {"round_id": ROUND, "finding_id": 1}):
        here.ledger.append(DISMISSED, "mallory", body, ts=gate_world.NOON)
    history = read_dismissals(here.ledger)
    assert (len(history.unusable), history.of) == (3, {})
    assert judged(here, made, gate_world.NOON)[0]["status"] == "warn"


def test_rounds_whose_verdict_is_behind_the_ledger_are_listed(here, made, gate_world):
    noon, late = gate_world.NOON, gate_world.NOON + timedelta(hours=13)
    assert rounds_to_judge_again(here.verifier(), noon) == []
    say(here, gate_world, until=date(2026, 11, 30))
    assert rounds_to_judge_again(here.verifier(), noon) == [ROUND]
    judged(here, made, noon)
    assert rounds_to_judge_again(here.verifier(), noon) == []
    assert rounds_to_judge_again(here.verifier(late), late) == [ROUND]


def test_the_inbox_says_that_a_dismissal_lapsed(here, made, gate_world):
    say(here, gate_world, until=date(2026, 11, 30))
    judged(here, made, gate_world.NOON)
    here.request(ROUND)
    late = gate_world.NOON + timedelta(hours=13)
    history = read_history(here.ledger)
    found = standing_of(history.requests[-1], here.verifier(late), history, late)
    assert (found.state, found.code) == (State.BLOCKED_POLICY, ReasonCode.BLOCKED_POLICY)
