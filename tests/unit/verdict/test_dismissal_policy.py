"""What may be dismissed: a copy beside the configuration tightens, and nothing else."""

import json

import pytest

from governance_pipeline.errors import GovernError
from governance_pipeline.verdict.dismissal_policy import (
    FILE,
    dismissal_policy,
    shipped_dismissal_bytes,
    shipped_dismissal_policy,
)

SHIPPED = json.loads(shipped_dismissal_bytes())
CODES = SHIPPED["not_dismissible"]


def copied(folder, text):
    path = folder / FILE
    path.write_text(text)
    path.chmod(0o600)
    return folder


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"not_dismissible": CODES[1:]}, CODES[0]),
        ({"not_dismissible": []}, "left out"),
        ({"minimum_reason_characters": 1}, "at least 10"),
        ({"minimum_reason_characters": 0}, "cannot be used"),
        ({"more": 1}, "cannot be used"),
        ({"schema": "govern/policy/v1"}, "cannot be used"),
    ],
)
def test_a_copy_that_is_looser_or_no_policy_is_refused(tmp_path, changes, words):
    with pytest.raises(GovernError, match=words):
        dismissal_policy(copied(tmp_path, json.dumps({**SHIPPED, **changes})))


@pytest.mark.parametrize("text", ["", "{", '{"schema": 1, "schema": 2}', "[" * 100_000, " " * 70_000])
def test_a_copy_that_is_no_json_is_refused(tmp_path, text):
    with pytest.raises(GovernError):
        dismissal_policy(copied(tmp_path, text))


def test_a_copy_others_may_write_or_that_leads_nowhere_is_refused(tmp_path):
    copied(tmp_path, json.dumps(SHIPPED)).joinpath(FILE).chmod(0o666)
    with pytest.raises(GovernError):
        dismissal_policy(tmp_path)
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).symlink_to(tmp_path / "nowhere")
    with pytest.raises(GovernError):
        dismissal_policy(tmp_path)


def test_a_tighter_copy_is_in_force_and_none_is_the_shipped_one(tmp_path):
    assert dismissal_policy(tmp_path) == dismissal_policy() == shipped_dismissal_policy()
    tight = {**SHIPPED, "not_dismissible": [*CODES, "test-deleted"], "minimum_reason_characters": 40}
    policy = dismissal_policy(copied(tmp_path, json.dumps(tight)))
    assert "test-deleted" in policy.not_dismissible
    assert policy.minimum_reason_characters == 40
