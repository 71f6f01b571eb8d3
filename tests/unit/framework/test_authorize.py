"""Two layers of authority: an allow-list for what is harmless, a person for what is critical, and neither for the other."""

from __future__ import annotations

import importlib.util
import json
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.errors import UsageError
from governance_pipeline.framework.authorize import Question, Verdict, authorize, authorize_document, require_authorized
from governance_pipeline.framework.critical_actions import critical_entry, critical_list
from governance_pipeline.framework.documents import document_fault
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.gate.decision import Verb

if "registry_house" not in sys.modules:
    _spec = importlib.util.spec_from_file_location("registry_house", Path(__file__).with_name("registry_house.py"))
    sys.modules["registry_house"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["registry_house"])
house_module = sys.modules["registry_house"]
NOON, HOUR, digest = house_module.NOON, house_module.HOUR, house_module.digest

FILE = "exports/old.csv"
TABLES = ("raw_log_files",)


@pytest.fixture
def house(tmp_path):
    """A house with an allow-list that lets everybody do everything, a registered asset, and a file in the way."""
    made = house_module.House(tmp_path)
    actions = ["run_tests", "delete_exports", "migrate_schema", "relaunch_red_process", "overwrite_file", "write_file"]
    made.allow("\n".join(f"| * | {action} | * | because |" for action in actions))
    made.add()
    made.file(FILE, "old")
    made.file("rules/kind.json", "{}")
    return made


def _ask(house, action, scope=None, *, now=NOON, gate=True, **more):
    question = Question(action, more.pop("agent", "worker"), scope, **more)
    verifier = house.verifier(now) if gate else None
    return authorize(question, house.folder, verifier, now, TABLES)


def _audited(house, monkeypatch):
    """Let the rule have an audit that counts; how one comes about is tested with the rules."""
    from governance_pipeline.framework import critical_proposal
    from governance_pipeline.framework.classification_rules import RuleAudit

    audit = RuleAudit(
        "kind", digest("{}"), "worker", digest("sample"), 200, 3, "0.015", "0", "1", ("ben",), 1, NOON, False
    )
    monkeypatch.setattr(critical_proposal, "require_validated", lambda *_: audit)


def _stored(house):
    row = {"round_id": "r1", "path": "a", "file_sha256": digest("a"), "format": "native", "bytes": 9, "lines_in": 1,
           "record_unit": "line", "accepted": 1, "quarantined": 0, "blank": 0, "duplicates": 0}  # fmt: skip
    house.world.lake.put("raw_log_files", "r1", frame_of("raw_log_files", [row]))


CRITICAL = [
    ("migrate_schema", "data/warehouse.duckdb"),
    ("reprocess_corpus", None),
    ("relaunch_red_process", "night-run"),
    ("delete_exports", FILE),
    ("overwrite_file", FILE),
    ("use_new_classification_rule", "rules/kind.json"),
]


@pytest.mark.parametrize(("action", "scope"), CRITICAL)
def test_no_row_of_the_allow_list_replaces_an_approval_and_an_approval_is_enough(house, action, scope, monkeypatch):
    _audited(house, monkeypatch)
    _stored(house)
    before = _ask(house, action, scope)
    assert (before.verdict, before.rule) == (Verdict.NEEDS_APPROVAL, "critical_list")
    asked = _ask(house, action, scope, asks=True, why="the month is over")
    assert (asked.verdict, asked.code) == (Verdict.NEEDS_APPROVAL, "MISSING")
    house.world.decide(asked.request_id)
    after = _ask(house, action, scope)
    assert (after.verdict, after.rule, len(after.decision_ids)) == (Verdict.ALLOWED, "approved", 1)
    assert require_authorized(after) is after


def test_a_write_to_a_registered_asset_is_approved_as_a_change_of_the_registry(house):
    for scope in ("customers", "data/customers.csv"):
        answer = _ask(house, "write_file", scope)
        assert (answer.verdict, answer.critical) == (Verdict.NEEDS_APPROVAL, "write_registered_asset")
    wanted = house.wanted()
    house.approve(wanted)
    assert _ask(house, "write_file", "customers").verdict is Verdict.ALLOWED
    house.supersede(wanted)
    assert _ask(house, "write_file", "customers", now=NOON + HOUR).verdict is Verdict.NEEDS_APPROVAL
    assert _ask(house, "read_file", "customers").critical is None


def test_every_entry_of_the_list_is_tried_above():
    tried = {entry.name for action, _ in CRITICAL if (entry := critical_entry(action, None)) is not None}
    assert tried | {"write_registered_asset"} == {entry.name for entry in critical_list()}


def test_an_approval_fits_the_bytes_it_was_given_for(house):
    request = _ask(house, "delete_exports", FILE, asks=True).request_id
    house.world.decide(request)
    assert _ask(house, "delete_exports", FILE).verdict is Verdict.ALLOWED
    house.file(FILE, "something new")
    changed = _ask(house, "delete_exports", FILE)
    assert (changed.verdict, changed.code) == (Verdict.NEEDS_APPROVAL, "DIGEST_MISMATCH")
    assert _ask(house, "delete_exports", "exports/other.csv").verdict is Verdict.NEEDS_APPROVAL
    assert _ask(house, "delete_exports", FILE, agent="another").verdict is Verdict.NEEDS_APPROVAL


def test_one_run_uses_an_approval_and_may_ask_again_no_other_can(house):
    house.world.decide(_ask(house, "delete_exports", FILE, asks=True).request_id)
    assert _ask(house, "delete_exports", FILE, run_id="run-1").verdict is Verdict.ALLOWED
    assert _ask(house, "delete_exports", FILE, run_id="run-1").verdict is Verdict.ALLOWED
    other = _ask(house, "delete_exports", FILE, run_id="run-2")
    assert (other.verdict, other.code) == (Verdict.NEEDS_APPROVAL, "REPLAYED")
    again = _ask(house, "delete_exports", FILE, asks=True, now=NOON + HOUR)
    house.world.decide(again.request_id, now=NOON + HOUR)
    assert _ask(house, "delete_exports", FILE, run_id="run-2", now=NOON + HOUR).verdict is Verdict.ALLOWED


@pytest.mark.parametrize("verb", [Verb.REJECT, Verb.REVOKE])
def test_a_no_is_refused_and_not_asked_again(house, verb):
    request = _ask(house, "delete_exports", FILE, asks=True).request_id
    if verb is Verb.REVOKE:
        house.world.decide(request)
        assert _ask(house, "delete_exports", FILE, run_id="run-1").verdict is Verdict.ALLOWED
    house.world.decide(request, verb=verb)
    for run_id in (None, "run-1"):
        answer = _ask(house, "delete_exports", FILE, asks=True, run_id=run_id)
        assert (answer.verdict, answer.code, answer.request_id) == (Verdict.REFUSED, "REVOKED", None)


def test_a_freeze_refuses_what_is_critical_and_nothing_else(house):
    house.world.decide(_ask(house, "delete_exports", FILE, asks=True).request_id)
    house.world.ledger.append("FREEZE", "ben", {"reason": "scope changed"}, ts=NOON)
    answer = _ask(house, "delete_exports", FILE)
    assert (answer.verdict, answer.code) == (Verdict.REFUSED, "FROZEN")
    assert _ask(house, "run_tests").verdict is Verdict.ALLOWED


def test_without_a_gate_nobody_can_approve_so_what_is_critical_is_refused(house):
    answer = _ask(house, "delete_exports", FILE, gate=False)
    assert (answer.verdict, answer.rule) == (Verdict.REFUSED, "no_gate")
    assert _ask(house, "run_tests", gate=False).verdict is Verdict.ALLOWED


def test_overwriting_with_a_verified_backup_is_no_critical_action_and_deleting_still_is(house):
    backup = house.file("backup/old.csv", "old")
    assert _ask(house, "overwrite_file", FILE, backup=backup).verdict is Verdict.ALLOWED
    assert _ask(house, "delete_exports", FILE, backup=backup).verdict is Verdict.NEEDS_APPROVAL
    house.file("backup/old.csv", "older")
    assert _ask(house, "overwrite_file", FILE, backup=backup).verdict is Verdict.NEEDS_APPROVAL
    assert _ask(house, "overwrite_file", FILE, backup=house.path(FILE)).verdict is Verdict.NEEDS_APPROVAL


def test_a_second_name_of_the_same_file_is_no_backup(house):
    second = house.path("second-name.csv")
    second.hardlink_to(house.path(FILE))
    assert _ask(house, "overwrite_file", FILE, backup=second).verdict is Verdict.NEEDS_APPROVAL


def test_a_rule_nobody_has_audited_cannot_even_be_approved(house):
    answer = _ask(house, "use_new_classification_rule", "rules/kind.json", asks=True)
    assert (answer.verdict, answer.code) == (Verdict.REFUSED, "RULE_NOT_VALIDATED")


def test_a_rule_is_new_once(house, monkeypatch):
    _audited(house, monkeypatch)
    scope = "rules/kind.json"
    house.world.decide(_ask(house, "use_new_classification_rule", scope, asks=True).request_id)
    assert _ask(house, "use_new_classification_rule", scope, run_id="run-1").verdict is Verdict.ALLOWED
    assert _ask(house, "use_new_classification_rule", scope).rule == "not_on_allowlist"
    house.file(scope, "another version")
    assert _ask(house, "use_new_classification_rule", scope).critical == "use_new_classification_rule"


def test_what_is_on_no_list_needs_a_person_to_put_it_there(house):
    answer = _ask(house, "send_mail", "customers@example.org")
    assert (answer.verdict, answer.rule) == (Verdict.NEEDS_APPROVAL, "not_on_allowlist")
    with pytest.raises(FrameworkRefused, match="needs_approval: not_on_allowlist"):
        require_authorized(answer)


def test_an_expired_extension_allows_nothing_and_is_reported_whatever_is_asked(house):
    house.allow(
        "| worker | run_tests | * | always |", "| worker | run_batch | night | 2026-11-28 | 2026-11-29 | a night |"
    )
    answer = _ask(house, "run_batch", "night")
    assert answer.verdict is Verdict.NEEDS_APPROVAL
    assert "line 9 did, and is over" in answer.reason
    assert [(row.line, str(standing)) for row, standing in _ask(house, "run_tests").inactive] == [(9, "expired")]
    inside = authorize(Question("run_batch", "worker", "night"), house.folder, None, NOON - timedelta(days=1, hours=8))
    assert (inside.verdict, inside.rule) == (Verdict.ALLOWED, "temporary_extension")


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("00_governance/agent_allowlist.md", "allowlist_unreadable"),
        ("03_state/canonical_registry.json", "registry_unreadable"),
    ],
)
def test_a_file_that_cannot_be_read_allows_nothing(house, path, rule):
    house.path(path).write_text("?")
    assert (_ask(house, "run_tests").verdict, _ask(house, "run_tests").rule) == (Verdict.REFUSED, rule)
    house.path(path).unlink()
    assert _ask(house, "run_tests").verdict is Verdict.REFUSED


@pytest.mark.parametrize(("action", "scope"), [("Delete It", FILE), ("delete_exports", None), ("", None)])
def test_a_question_that_names_nothing_is_no_question(house, action, scope):
    with pytest.raises(UsageError):
        _ask(house, action, scope)


def test_an_action_is_taken_for_what_its_name_says():
    assert critical_entry("tidy_up_and_delete_old_runs", None).name == "delete"
    assert critical_entry("undeleted_items_report", None) is None


def test_the_answer_keeps_its_shipped_schema(house):
    question = Question("delete_exports", "worker", FILE, asks=True)
    answer = authorize(question, house.folder, house.verifier(), NOON, TABLES)
    document = json.loads(json.dumps(authorize_document(question, answer)))
    assert document_fault("authorize-v1", document) is None
