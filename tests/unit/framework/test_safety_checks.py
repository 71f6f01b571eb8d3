"""The six safety checks refuse the five failures they exist for, and what cannot be decided."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pandas as pd
import pytest

from governance_pipeline.errors import UsageError
from governance_pipeline.framework import safety_checks
from governance_pipeline.framework.folder import AUDIT_TRAIL, REGISTRY
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.safety_checks import (
    check_lock_orphaned,
    compare_datasets_by_primary_key,
    derive_timeout_from_percentiles,
    enforce,
    enforce_single_canonical,
    validator_is_independent,
    verify_output_hash,
)
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.trust.lineage import Lineage, Run

GONE = 2**31 - 1
ASSET = {
    "name": "sales", "canonical_path": "data/sales.db", "last_verified_hash": "a" * 64,
    "last_verified_at": "2026-01-01T00:00:00Z",
    "superseded_versions": [{"path": "data/sales_HISTORIC_2026-01-01_bbbbbbbb.db", "hash": "b" * 64,
                             "superseded_at": "2026-01-01T00:00:00Z", "reason": "two versions"}],
}  # fmt: skip


@pytest.fixture
def registry(folder):
    """Write a registry with one asset; gives its path."""
    path = folder.path(REGISTRY)
    path.write_text(json.dumps({"assets": [ASSET]}))
    return path


def _refused(result):
    with pytest.raises(FrameworkRefused) as caught:
        enforce(result)
    assert caught.value.exit_code == 4
    return caught.value.code


# ------------------------------------------------------------------ the five failures of the reference project


def test_reference_failure_comparison_by_rowid():
    """The same rows in another order: by position all differ, by key none; asked by position, nothing is compared."""
    old = pd.DataFrame({"rowid": [1, 2, 3], "id": ["a", "b", "c"], "n": [1, 2, 3]})
    new = pd.DataFrame({"rowid": [1, 2, 3], "id": ["c", "a", "b"], "n": [3, 1, 2]})
    by_position = compare_datasets_by_primary_key(old, new, "rowid")
    assert (by_position.ok, by_position.identical, by_position.divergent) == (False, None, None)
    assert _refused(by_position) == "KEY_IS_POSITION"
    by_key = enforce(compare_datasets_by_primary_key(old.drop(columns="rowid"), new.drop(columns="rowid"), "id"))
    assert (by_key.identical, by_key.divergent, by_key.only_old, by_key.only_new) == (3, 0, 0, 0)


def test_reference_failure_orphan_lock_unnoticed(tmp_path):
    """A lock file of a process that died keeps its number; the check sees that nobody is behind it."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    path = tmp_path / "corpus.lock"
    path.write_text(json.dumps({"pid": child.pid, "command": "load", "started": "x", "heartbeat": "x"}))
    found = check_lock_orphaned(path)
    assert (found.ok, found.orphaned, found.pid_verified) == (False, True, child.pid)
    assert _refused(found) == "LOCK_ORPHANED"


def test_reference_failure_invented_timeout():
    """A round number nobody measured, and one run called a sample."""
    for invented in (3600, [3600], []):
        assert _refused(derive_timeout_from_percentiles(invented)) in {"NO_SAMPLE", "SAMPLE_TOO_SMALL"}


def test_reference_failure_silent_duplicate(registry):
    """A second sales.db beside the registered one, in whatever folder and spelling."""
    for name in ("sales", "sales.db", "data/sales.db", "backup/Sales.DB", "\uff53ales.db", "data\\sales.db"):
        found = enforce_single_canonical(name, registry)
        assert (found.allowed, str(found.required_action), found.asset) == (False, "archive_first", "sales")
        assert _refused(found) == "CANONICAL_NAME_REGISTERED"


def test_reference_failure_self_certification():
    """The agent that did the work reports it as verified, under its own name or another of its own."""
    runs = [
        Run("build", session_id="s-1", agents=frozenset({"coder"})),
        Run("check", session_id="s-2", agents=frozenset({"checker"})),
        Run("kid", parent_run_id="build", session_id="s-3", agents=frozenset({"helper"})),
    ]
    lineage = Lineage(runs)
    for validator, rule in (("coder", "agent"), ("Coder\u200b", "agent"), ("helper", "ancestry")):
        found = validator_is_independent(validator, "coder", "build", lineage=lineage)
        assert (found.ok, found.rule) == (False, rule)
        assert _refused(found) == "VALIDATOR_NOT_INDEPENDENT"
    assert enforce(validator_is_independent("checker", "coder", "build", lineage=lineage)).ok


# ------------------------------------------------------------------ each check beyond its reference failure


@pytest.mark.parametrize("spell", [str, str.upper, "sha256:{}".format])
def test_a_file_with_the_hash_it_is_said_to_have_is_verified(tmp_path, spell):
    path = tmp_path / "out.csv"
    path.write_bytes(b"1,2\n")
    found = enforce(verify_output_hash(path, spell(sha256_hex(b"1,2\n"))))
    assert (found.actual, found.size) == (sha256_hex(b"1,2\n"), 4)


def test_a_file_with_other_bytes_is_refused_with_both_hashes(tmp_path):
    path = tmp_path / "out.csv"
    path.write_bytes(b"1,3\n")
    found = verify_output_hash(path, sha256_hex(b"1,2\n"))
    assert (found.expected, found.actual) == (sha256_hex(b"1,2\n"), sha256_hex(b"1,3\n"))
    assert _refused(found) == "HASH_MISMATCH"


@pytest.mark.parametrize("claimed", ["none.csv", "", "folder", "link", "fifo", "a\0b", "x" * 5000, None])
def test_a_bad_claim_is_an_answer_and_never_an_exception(tmp_path, monkeypatch, claimed):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("/dev/null")
    os.mkfifo(tmp_path / "fifo")
    found = verify_output_hash(claimed, "0" * 64)
    assert (found.ok, found.actual) == (False, None)
    assert _refused(found) == "OUTPUT_UNREADABLE"


@pytest.mark.parametrize("expected", ["", "abc", "g" * 64, "0" * 63, None, 7])
def test_an_expectation_that_is_no_hash_is_refused_and_the_hash_is_told(tmp_path, expected):
    path = tmp_path / "out.csv"
    path.write_bytes(b"")
    found = verify_output_hash(path, expected)
    assert found.actual == sha256_hex(b"")
    assert _refused(found) == "EXPECTED_NOT_A_SHA256"


@pytest.mark.parametrize("key", [None, [], ()])
def test_a_comparison_without_a_key_is_a_wrong_argument(key):
    frame = pd.DataFrame({"id": [1]})
    with pytest.raises(UsageError, match="needs a key"):
        compare_datasets_by_primary_key(frame, frame, key)


@pytest.mark.parametrize(
    ("column", "code"),
    [
        ("gone", "KEY_MISSING"),
        ("", "KEY_MISSING"),
        ("holes", "KEY_NULL"),
        ("twice", "KEY_DUPLICATE"),
        ("share", "KEY_TYPE"),
    ],
)
def test_a_key_that_identifies_no_row_is_refused(column, code):
    frame = pd.DataFrame({"id": [1, 2], "holes": ["a", None], "twice": ["a", "a"], "share": [0.1, 0.2]})
    assert _refused(compare_datasets_by_primary_key(frame, frame, column)) == code


def test_two_files_are_compared_by_a_composite_key_with_counts_and_examples(tmp_path):
    (tmp_path / "old.csv").write_text("a,b,n\n1,1,5\n1,2,6\n2,1,7\n")
    (tmp_path / "new.csv").write_text("a,b,n\n2,1,7\n1,2,60\n3,1,8\n")
    found = enforce(compare_datasets_by_primary_key(tmp_path / "old.csv", tmp_path / "new.csv", ["a", "b"]))
    assert (found.identical, found.divergent, found.only_old, found.only_new) == (1, 1, 1, 1)
    assert [(c.name, c.divergent, len(c.examples)) for c in found.columns] == [("n", 1, 1)]


def test_a_lock_that_is_free_or_has_a_living_owner_is_no_orphan(folder):
    from governance_pipeline.framework.locks import Locks

    locks = Locks(folder)
    assert enforce(check_lock_orphaned(locks.folder / "db.lock")).orphaned is False
    locks.claim("db", os.getpid(), "x")
    for name in ("db.json", "db.lock"):
        assert enforce(check_lock_orphaned(locks.folder / name)).pid_verified == os.getpid()


@pytest.mark.parametrize("text", ["no json", '{"pid": %d}' % os.getppid()])  # noqa: UP031 - braces are JSON here
def test_a_lock_nobody_can_tell_about_is_neither_orphaned_nor_ok(tmp_path, text):
    path = tmp_path / "job.lock"
    path.write_text(text)
    found = check_lock_orphaned(path)
    assert found.orphaned is None
    assert _refused(found) == "LOCK_OWNER_UNKNOWN"


@pytest.mark.parametrize("name", ["a\0b.lock", None, "folder.lock"])
def test_a_path_that_is_no_lock_is_an_answer(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.lock").mkdir()
    found = check_lock_orphaned(name)
    assert (found.ok, found.orphaned) == (False, None)


def test_a_name_nobody_registered_may_be_written(registry):
    found = enforce(enforce_single_canonical("data/stock.db", registry))
    assert (found.allowed, str(found.required_action)) == (True, "none")


def test_an_archived_version_is_overwritten_by_nobody(registry):
    found = enforce_single_canonical(ASSET["superseded_versions"][0]["path"], registry)
    assert str(found.required_action) == "use_another_name"
    assert _refused(found) == "ARCHIVED_NAME_REGISTERED"


@pytest.mark.parametrize("text", [None, "", "{}", '{"assets": [{"name": "x"}]}'])
def test_a_registry_that_cannot_be_read_allows_nothing(folder, text):
    path = folder.path(REGISTRY)
    if text is not None:
        path.write_text(text)
    assert _refused(enforce_single_canonical("data/stock.db", path)) == "REGISTRY_UNREADABLE"


@pytest.mark.parametrize("name", ["", "  ", None, "/", "."])
def test_a_write_without_a_name_is_refused(registry, name):
    assert _refused(enforce_single_canonical(name, registry)) == "NO_NAME"


def _trail(folder, *entries):
    path = folder.path(AUDIT_TRAIL)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries) + "not json\n7\n")


def _entry(run_id, agent_id, session_id, **more):
    return {"run_id": run_id, "agent_id": agent_id, "session_id": session_id, "tool_called": "x", **more}


def test_by_three_arguments_the_audit_trail_of_the_project_says_who_ran_what(folder, monkeypatch):
    monkeypatch.chdir(folder.root)
    assert validator_is_independent("checker", "coder", "build").rule == "run", "of no run nothing is certain"
    _trail(
        folder,
        _entry("build", "coder", "s-1"),
        _entry("check", "checker", "s-2"),
        _entry("inner", "kid", "s-3", parent_run_id="build"),
        _entry("again", "twin", "s-1"),
    )
    assert enforce(validator_is_independent("checker", "coder", "build")).ok
    for validator, rule in (("coder", "agent"), ("kid", "ancestry"), ("twin", "session"), ("stranger", "run")):
        assert validator_is_independent(validator, "coder", "build").rule == rule
    assert not validator_is_independent("checker", "coder", "another run").ok


def test_a_run_whose_entries_contradict_each_other_is_not_independent_for_certain(folder):
    _trail(
        folder, _entry("build", "coder", "s-1"), _entry("check", "checker", "s-2"), _entry("check", "checker", "s-1")
    )
    assert not validator_is_independent("checker", "coder", "build", project=folder.root).ok


def test_a_trail_that_is_no_file_certifies_nobody(folder):
    folder.path(AUDIT_TRAIL).mkdir(parents=True)
    found = validator_is_independent("checker", "coder", "build", project=folder.root)
    assert (found.ok, found.rule) == (False, None)
    assert "cannot be told" in found.message


def test_the_signatures_are_those_of_the_contract():
    import inspect

    wanted = {
        "verify_output_hash": ["claimed_path", "expected_hash"],
        "compare_datasets_by_primary_key": ["old", "new", "key_field"],
        "check_lock_orphaned": ["lock_path"],
        "derive_timeout_from_percentiles": ["sample_durations", "percentile", "safety_multiplier"],
        "enforce_single_canonical": ["asset_name", "registry_path"],
        "validator_is_independent": ["validator_agent_id", "worker_agent_id", "run_id"],
    }
    for name, arguments in wanted.items():
        parameters = inspect.signature(getattr(safety_checks, name)).parameters.values()
        assert [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD] == arguments
