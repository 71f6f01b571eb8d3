"""Claims about the policies that ship as data: each has its digest, says what the code does, and is only tightened."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

import governance_pipeline.crosscheck
from governance_pipeline.crosscheck import report_claims, report_shape, shipped_policies
from governance_pipeline.crosscheck.policies import (
    SHIPPED,
    TIGHTENED_BY,
    escalation_policy,
    loosened,
    policies_in_force,
)
from governance_pipeline.crosscheck.shipped_policies import manifest, shipped_document
from governance_pipeline.errors import PolicyError, UsageError
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.vocabulary import Action, RecordStatus

PACKAGE = Path(governance_pipeline.crosscheck.__file__).parent
FILES = sorted(path.name for path in (PACKAGE / "policy").glob("*.yaml"))
ESCALATION = "escalation_policy.yaml"


def schema_of(name: str) -> dict:
    stem = name.removeprefix("govern/").replace("/", "-")
    return json.loads((PACKAGE / "schemas" / f"{stem}.json").read_text("utf-8"))


def copy_of(folder: Path, **changes) -> Path:
    """Write a copy of the escalation policy with members replaced."""
    document = {**yaml.safe_load((PACKAGE / "policy" / ESCALATION).read_text("utf-8")), **changes}
    (folder / ESCALATION).write_text(yaml.safe_dump(document))
    (folder / ESCALATION).chmod(0o600)
    return folder


@pytest.fixture
def folder(tmp_path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"overdue_after_days": {"mismatch": 4, "unverifiable": 14}}, "overdue_after_days.mismatch is 4, it must be at most 3"),
        ({"overdue_after_days": {"mismatch": 3}}, "overdue_after_days.unverifiable is missing"),
        ({"overdue_after_days": {"mismatch": True, "unverifiable": 1}}, "overdue_after_days.mismatch is True"),
        ({"overdue_after_days": {"mismatch": -1, "unverifiable": 1}}, "overdue_after_days.mismatch is -1"),
        ({"overdue_after_days": {"mismatch": 0.5, "unverifiable": 1}}, "overdue_after_days.mismatch is '0.5'"),
        ({"overdue_after_days": 0}, "overdue_after_days is no mapping"),
        ({"outcomes": []}, "outcomes is "),
        ({"outcomes": ["accepted", "accepted"]}, "outcomes is "),
        ({"outcomes": ["accepted", "corrected"]}, "outcomes is "),
        ({"minimum_reason_characters": 0}, "minimum_reason_characters is 0, it must be at least 1"),
        ({"resolved_by": {"kind": "human", "role": "approver", "is_signed": True, "maker_may_resolve": True}},
         "resolved_by.maker_may_resolve is True, it must be False"),
        ({"resolved_by": {"kind": "agent", "role": "approver", "is_signed": 1, "maker_may_resolve": False}},
         "resolved_by.is_signed is 1, it must be True"),
        ({"states": ["open", "resolved"]}, "states has 2 entries, not 3"),
        ({"resolution_changes_values": True}, "resolution_changes_values is True"),
        ({"schema": "govern/escalation-policy/v2"}, "schema is 'govern/escalation-policy/v2'"),
        ({"on_timeout": "accept"}, "on_timeout is unknown"),
    ],
)  # fmt: skip
def test_a_copy_that_loosens_is_refused_and_the_message_says_what_loosens(folder, changes, said):
    with pytest.raises(PolicyError) as refused:
        policies_in_force(copy_of(folder, **changes))
    assert said in str(refused.value)
    assert str(folder / ESCALATION) in str(refused.value)


@pytest.mark.parametrize("text", ["", "- 1", "schema: [", "a: &x 1", "schema: a\nschema: b"])
def test_a_copy_that_is_no_policy_is_refused(folder, text):
    (folder / ESCALATION).write_text(text)
    (folder / ESCALATION).chmod(0o600)
    with pytest.raises(PolicyError, match=ESCALATION):
        escalation_policy(folder)


def test_a_copy_others_can_write_is_not_believed(folder):
    (copy_of(folder) / ESCALATION).chmod(0o666)
    with pytest.raises(UsageError, match="can be written by others"):
        escalation_policy(folder)


def test_a_copy_of_the_epsilon_policy_names_the_place_where_epsilon_is_tightened(folder):
    (folder / "epsilon_policy.yaml").write_text("max: {currency: 0}")
    with pytest.raises(PolicyError, match="epsilon_policy; remove the copy"):
        policies_in_force(folder)


@pytest.mark.parametrize("file", [name for name in FILES if name not in ("epsilon_policy.yaml", ESCALATION)])
def test_what_cannot_be_tightened_cannot_be_changed_at_all(folder, file):
    text = (PACKAGE / "policy" / file).read_text("utf-8")
    (folder / file).write_text(text)
    (folder / file).chmod(0o600)
    assert str(folder / file) in {policy.source for policy in policies_in_force(folder)}
    shipped = shipped_document(file)
    for name in shipped:
        assert list(loosened(shipped, {**shipped, name: "anything"}))
        assert list(loosened(shipped, {key: value for key, value in shipped.items() if key != name}))


def test_a_copy_that_tightens_is_in_force_with_its_own_digest(folder):
    days = {"mismatch": 0, "unverifiable": 7}
    copy_of(folder, overdue_after_days=days, outcomes=["data_conflict", "source_wrong"], minimum_reason_characters=20)
    policy = escalation_policy(folder)
    assert (dict(policy.overdue_after_days), policy.minimum_reason_characters) == (days, 20)
    assert policy.outcomes == ("data_conflict", "source_wrong")
    [entry] = [policy for policy in policies_in_force(folder) if policy.is_tightened]
    assert entry.source == str(folder / ESCALATION)
    assert entry.sha256 == sha256_hex((folder / ESCALATION).read_bytes())


def test_without_copies_every_policy_is_the_shipped_one(folder):
    assert {policy.source for policy in (*policies_in_force(folder), *policies_in_force())} == {SHIPPED}
    assert set(escalation_policy().overdue_after_days) == {"mismatch", "unverifiable"}


def test_the_manifest_holds_the_digest_of_every_shipped_file_and_of_no_other():
    assert [policy.file for policy in manifest()] == sorted(FILES, key=[p.file for p in manifest()].index)
    for policy in manifest():
        assert sha256_hex((PACKAGE / "policy" / policy.file).read_bytes()) == policy.sha256, f"{policy.file} changed"
    jsonschema.validate(
        json.loads((PACKAGE / "policy" / "manifest.json").read_text()), schema_of("govern/policy-manifest/v1")
    )


def test_an_installed_policy_that_was_edited_is_refused(monkeypatch):
    read = shipped_policies._file
    monkeypatch.setattr(shipped_policies, "_file", lambda name: read(name).replace(b"mismatch: 3", b"mismatch: 300"))
    shipped_document.cache_clear()
    try:
        with pytest.raises(PolicyError, match=f"{ESCALATION} was changed"):
            escalation_policy()
    finally:
        shipped_document.cache_clear()


@pytest.mark.parametrize("file", [name for name in FILES if name != "epsilon_policy.yaml"])
def test_each_shipped_policy_keeps_its_schema(file):
    document = shipped_document(file)
    schema = schema_of(document["schema"])
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)


def test_a_schema_refuses_what_is_looser():
    shipped = shipped_document(ESCALATION)
    validator = jsonschema.Draft202012Validator(schema_of(shipped["schema"]))
    for change in ({"overdue_after_days": {"mismatch": 4, "unverifiable": 1}}, {"outcomes": []}, {"extra": 1}):
        assert not validator.is_valid({**shipped, **change})


def test_the_policies_say_what_the_code_does():
    mismatch = shipped_document("mismatch_policy.yaml")
    asked = set(schema_of("govern/crosscheck-triage-request/v1")["properties"]["on_mismatch"]["enum"])
    wanted = {
        RecordStatus.MATCH: Action.ACCEPT,
        RecordStatus.MISMATCH: Action.ESCALATE,
        RecordStatus.UNVERIFIABLE: Action.CONFIRM,
    }
    assert mismatch["actions"] == {str(status): str(action) for status, action in wanted.items()}
    assert {"escalate", *mismatch["forbidden"]} == asked - {None}
    assert tuple(shipped_document("structural_test_policy.yaml")["must_be_true"]) == report_shape.STRUCTURAL_TESTS
    rubric, checklist = shipped_document("rubric.yaml"), shipped_document("checklist.yaml")
    assert tuple(entry["claim"] for entry in rubric["claims"]) == report_shape.CLAIMS
    assert tuple(entry["claim"] for entry in checklist["claims"]) == report_shape.CLAIMS
    codes = {entry["claim"]: frozenset(entry["red_when"]) for entry in checklist["claims"]}
    assert {claim: found for claim, found in codes.items() if found} == report_claims.AGAINST


def test_every_way_of_tightening_is_of_a_member_there_is():
    shipped = shipped_document(ESCALATION)
    for place in TIGHTENED_BY:
        value = shipped
        for name in place.split("."):
            value = value[name]
        assert value is not None
