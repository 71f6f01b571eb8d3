"""A gate policy can only be stricter than a gate is anyway; nothing in it opens one by itself."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from governance_pipeline.errors import PolicyError, UsageError
from governance_pipeline.gate.policy import Assurance, load_policy, read_policy, shipped_policy
from governance_pipeline.strict.canonical import canonical_json, sha256_hex

DOCUMENT = {
    "schema": "govern/gate-policy/v1", "version": "1", "approvers": None, "quorum": 1, "distinct_controllers": True,
    "minimum_assurance": "key_file", "ttl_hours": 72, "exclude_lineage": True, "refuse_same_runtime": False,
    "minimum_validators": 0, "on_timeout": "reject",
}  # fmt: skip


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("quorum", 0), ("quorum", -1), ("quorum", True), ("quorum", 1.0), ("ttl_hours", 73), ("ttl_hours", 0),
        ("distinct_controllers", False), ("exclude_lineage", False), ("exclude_lineage", 1), ("on_timeout", "approve"),
        ("minimum_assurance", "asserted"), ("minimum_validators", -1), ("approvers", []), ("approvers", "ana"),
        ("approvers", ["ana", "ana"]), ("schema", "govern/gate-policy/v2"), ("version", ""), ("fail_open", True),
        ("refuse_same_runtime", None),
    ],
)  # fmt: skip
def test_what_would_loosen_a_gate_or_is_not_understood_is_refused(member, value):
    with pytest.raises(PolicyError, match="the gate policy cannot be used"):
        read_policy({**DOCUMENT, member: value})


@pytest.mark.parametrize("member", DOCUMENT)
def test_nothing_has_a_default_that_nobody_wrote(member):
    with pytest.raises(PolicyError):
        read_policy({name: value for name, value in DOCUMENT.items() if name != member})


def test_the_shipped_policy_is_the_default_and_its_digest_is_that_of_its_canonical_form():
    assert load_policy(None) is shipped_policy()
    policy = read_policy(DOCUMENT)
    assert policy.sha256 == sha256_hex(canonical_json(DOCUMENT))
    assert (shipped_policy().quorum, shipped_policy().ttl) == (1, timedelta(hours=72))


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"schema": "x", "schema": "y"}', " " * 70_000, "\udcff"])
def test_a_policy_file_that_cannot_be_read_is_no_policy(tmp_path, text):
    path = tmp_path / "policy.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(PolicyError):
        load_policy(path)


def test_a_policy_that_is_not_there_or_a_link_is_no_policy(tmp_path):
    with pytest.raises(UsageError, match="not_found"):
        load_policy(tmp_path / "policy.json")
    (tmp_path / "real.json").write_text(json.dumps(DOCUMENT))
    (tmp_path / "policy.json").symlink_to(tmp_path / "real.json")
    with pytest.raises(UsageError, match="symlink"):
        load_policy(tmp_path / "policy.json")


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_policy_that_others_can_write_is_no_policy(tmp_path, mode):
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(DOCUMENT))
    path.chmod(mode)
    with pytest.raises(UsageError, match="written by others"):
        load_policy(path)
    path.chmod(0o600)
    tmp_path.chmod(0o777)
    with pytest.raises(UsageError, match="chmod 700"):
        load_policy(path)


def test_assurances_are_ordered_from_the_weakest():
    assert Assurance.KEY_FILE.is_below(Assurance.PRESENCE)
    assert not Assurance.PRESENCE.is_below(Assurance.SSH_AGENT)
    assert not Assurance.KEY_FILE.is_below(Assurance.KEY_FILE)
