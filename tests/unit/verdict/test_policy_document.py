"""The policy document: what ships, its digest, and that a round can only tighten it."""

from __future__ import annotations

import hashlib
import json
from importlib import resources

import pytest
from jsonschema import Draft202012Validator

from governance_pipeline.errors import PolicyError
from governance_pipeline.verdict.document_schema import document_fault, schema_document
from governance_pipeline.verdict.policy_document import GoalSwitch, read_policy, shipped_policy
from governance_pipeline.verdict.signals import Severity

SCHEMAS = [f.name for f in (resources.files("governance_pipeline.verdict") / "schemas").iterdir()]
BARE = {"schema": "govern/policy/v1", "version": "1.0.0"}


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"switch": "observe"}, "goal_substitution"),
        ({"switch": "off"}, "goal_substitution"),
        ({"files": 11}, "material_files"),
        ({"churn": 401}, "material_churn"),
    ],
)
def test_a_round_contract_cannot_loosen_the_policy(given, refused):
    policy = read_policy({**BARE, "goal_substitution": "warn"})
    with pytest.raises(PolicyError, match=refused):
        policy.tightened(**{"switch": None, "files": None, "churn": None, **given})


def test_a_round_contract_can_tighten_the_policy_and_keeps_its_digest():
    tight = shipped_policy().tightened("warn", 1, 400)
    assert (tight.goal_substitution, tight.material_files, tight.material_churn) == (GoalSwitch.WARN, 1, 400)
    assert tight.digest == shipped_policy().digest


def test_a_silent_contract_leaves_the_policy_as_it_is():
    assert shipped_policy().tightened(None, None, None) == shipped_policy()


def test_the_shipped_policy_says_what_the_specification_says():
    policy = shipped_policy()
    assert {code for code, of in policy.severity.items() if of == Severity.BLOCKING} == {
        "output-hash-mismatch", "canonical-write-unapproved", "validator-not-independent",
    }  # fmt: skip
    assert policy.default_severity == Severity.WARNING
    assert policy.final_block == {"criterion-without-evidence", "required-check-not-run"}
    assert policy.goal_substitution == GoalSwitch.OBSERVE
    assert (policy.material_files, policy.material_churn) == (10, 400)


def test_the_defaults_are_those_of_the_interface():
    policy = read_policy(BARE)
    assert policy.default_severity == Severity.WARNING
    assert (policy.final_block, policy.goal_substitution) == (frozenset(), GoalSwitch.OFF)
    assert (policy.material_files, policy.material_churn) == (10, 400)


def test_the_digest_is_over_the_canonical_form_of_the_document_as_given():
    canonical = json.dumps(BARE, sort_keys=True, separators=(",", ":")).encode()
    assert read_policy(BARE).digest == f"sha256:{hashlib.sha256(canonical).hexdigest()}"
    assert read_policy(dict(reversed(BARE.items()))).digest == read_policy(BARE).digest
    assert read_policy({**BARE, "material_files": 10}).digest != read_policy(BARE).digest


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_shipped_schema_is_sound_and_describes_the_documents_it_names(name):
    schema = schema_document(name)
    Draft202012Validator.check_schema(schema)
    assert schema["properties"]["schema"] == {"const": schema["$id"]}


def test_a_schema_is_stricter_than_json_schema_about_numbers_and_texts():
    assert document_fault("policy-v1.json", {**BARE, "material_files": 10.0}) is not None
    assert document_fault("policy-v1.json", {**BARE, "material_files": True}) is not None
    assert document_fault("policy-v1.json", BARE) is None
