"""A registered asset changes only as a person has approved it, once, and what it replaces is never lost."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.framework.locks import Locks
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.registry import load_registry
from governance_pipeline.framework.registry_changes import LOCK, restore
from governance_pipeline.framework.registry_history import read_registry_history
from governance_pipeline.framework.registry_proposal import Kind
from governance_pipeline.framework.registry_rows import rows
from governance_pipeline.trust.reasons import Refusal

if "registry_house" not in sys.modules:
    _spec = importlib.util.spec_from_file_location("registry_house", Path(__file__).with_name("registry_house.py"))
    sys.modules["registry_house"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["registry_house"])
house_module = sys.modules["registry_house"]
NOON, HOUR, digest = house_module.NOON, house_module.HOUR, house_module.digest

FILE = "data/customers.csv"
REGISTRY = "03_state/canonical_registry.json"


@pytest.fixture
def house(tmp_path):
    """A house with one registered asset."""
    made = house_module.House(tmp_path)
    made.add()
    return made


def _code(call):
    with pytest.raises((Refusal, FrameworkRefused)) as caught:
        call()
    return str(caught.value.code)


def _archive(text: str, on="20261130"):
    return f"data/customers_HISTORIC_{on}_{digest(text)[:8]}.csv"


def test_nothing_changes_before_a_person_has_approved_it(house):
    wanted = house.wanted()
    assert _code(lambda: house.supersede(wanted)) == "MISSING"
    house.ask(wanted)
    assert _code(lambda: house.supersede(wanted)) == "MISSING"
    assert house.path(FILE).read_text() == "first"
    assert house.states() == {("customers", FILE): "verified"}


def test_other_bytes_than_those_approved_are_refused(house):
    house.approve(house.wanted("second"))
    assert _code(lambda: house.supersede(house.wanted("third"))) == "DIGEST_MISMATCH"
    assert house.path(FILE).read_text() == "first"


def test_an_approval_does_not_fit_once_the_asset_itself_has_changed(house):
    wanted = house.wanted()
    house.approve(wanted)
    house.path(FILE).write_text("somebody wrote here")
    assert _code(lambda: house.supersede(wanted)) == "DIGEST_MISMATCH"
    assert house.path(FILE).read_text() == "somebody wrote here"


def test_what_was_replaced_is_archived_under_a_name_that_says_what_it_is(house):
    wanted = house.wanted()
    house.approve(wanted)
    done = house.supersede(wanted)
    archived = _archive("first")
    assert (done.archived, done.approvers) == ((archived,), ("ana",))
    assert house.path(FILE).read_text() == "second"
    assert house.path(archived).read_text() == "first"
    assert house.path(archived).stat().st_mode & 0o222 == 0
    asset = load_registry(house.path(REGISTRY)).asset("customers")
    assert asset.last_verified_hash == digest("second")
    [version] = asset.superseded_versions
    assert (version.path, version.hash, version.reason) == (archived, digest("first"), "a new month")
    assert house.states() == {("customers", FILE): "verified", ("customers", archived): "verified"}


def test_a_decision_is_used_once_even_when_the_old_bytes_come_back(house):
    wanted = house.wanted()
    house.approve(wanted)
    house.supersede(wanted)
    assert _code(lambda: house.supersede(wanted)) == "NOTHING_TO_CHANGE"
    back = house.wanted("first", "work/old.csv")
    house.approve(back, NOON + HOUR)
    house.supersede(back)
    assert _code(lambda: house.supersede(wanted)) == "SUPERSEDED"
    house.ask(wanted, NOON + HOUR)
    assert _code(lambda: house.supersede(wanted, NOON + 2 * HOUR)) == "SUPERSEDED"
    assert house.path(FILE).read_text() == "first"


def test_bytes_written_around_the_gate_are_archived_too_when_a_person_settles_it(house):
    house.path(FILE).write_text("somebody wrote here")
    assert house.states() == {("customers", FILE): "changed"}
    wanted = house.wanted("second")
    house.approve(wanted)
    done = house.supersede(wanted)
    # The verified bytes were never kept by anybody; what a person approved says so.
    assert done.archived == (_archive("somebody wrote here"),)
    [event] = house.world.ledger.events(types={"REGISTRY_SUPERSEDED"})
    assert event.body["lost"] == [digest("first")]


def test_the_divergent_copy_can_be_the_one_that_goes(house):
    copy = house.file("data/customers_v2_FINAL.csv", "divergent")
    wanted = house.wanted()._replace(file=copy, kind=Kind.ARCHIVE)
    house.approve(wanted)
    done = house.supersede(wanted)
    assert not copy.exists()
    assert house.path(done.archived[0]).read_text() == "divergent"
    assert house.path(FILE).read_text() == "first"
    assert set(house.states().values()) == {"verified"}


def test_a_divergent_copy_goes_only_while_the_canonical_one_is_sound(house):
    wanted = house.wanted()._replace(kind=Kind.ARCHIVE)
    house.path(FILE).write_text("somebody wrote here")
    assert _code(lambda: house.ask(wanted)) == "CHANGED_OUTSIDE"
    house.path(FILE).write_text("first")
    with pytest.raises(UsageError, match="canonical file itself"):
        house.ask(wanted._replace(file=house.path(FILE)))


def test_the_archive_replaces_nothing(house):
    wanted = house.wanted()
    house.approve(wanted)
    house.file(_archive("first"), "in the way")
    with pytest.raises(StorageError, match="replaces nothing"):
        house.supersede(wanted)
    assert house.path(FILE).read_text() == "first"
    assert house.states() == {("customers", FILE): "unfinished"}
    house.path(_archive("first")).unlink()
    house.supersede(wanted)
    assert house.path(FILE).read_text() == "second"


def test_a_freeze_stops_every_canonical_write(house):
    wanted = house.wanted()
    house.approve(wanted)
    house.world.ledger.append("FREEZE", "ben", {"reason": "scope changed"}, ts=NOON)
    assert _code(lambda: house.supersede(wanted)) == "FROZEN"
    assert _code(lambda: house.add("more", "data/more.csv")) == "FROZEN"


@pytest.mark.parametrize(
    ("name", "file", "code"),
    [("customers", "data/other.csv", "ALREADY_REGISTERED"), ("clients", FILE, "PATH_REGISTERED")],
)
def test_a_name_and_a_path_are_registered_once(house, name, file, code):
    assert _code(lambda: house.add(name, file)) == code


def test_registering_the_same_again_changes_nothing(house):
    before = house.path(REGISTRY).read_bytes()
    house.add()
    assert house.path(REGISTRY).read_bytes() == before
    assert len(read_registry_history(house.world.ledger, house.folder).assets) == 1


@pytest.mark.parametrize("file", ["../outside.csv", "/etc/hostname", "data/nothing.csv"])
def test_a_file_outside_the_project_or_none_at_all_is_not_registered(house, file, tmp_path):
    (tmp_path / "outside.csv").write_text("x")
    with pytest.raises(UsageError, match="no file below the project"):
        house.add("other", file, now=NOON) if house.path(file).exists() else _added(house, file)


def _added(house, file):
    from governance_pipeline.framework.registry_changes import add

    return add(house.folder, house.verifier(), "other", Path(file), agent="worker", reason="r", now=NOON)


def test_a_registry_edited_by_hand_is_found_refused_and_restored_from_the_ledger(house):
    path = house.path(REGISTRY)
    document = json.loads(path.read_text())
    document["assets"][0]["last_verified_hash"] = digest("second")
    path.write_text(json.dumps(document))
    house.path(FILE).write_text("second")  # file and state agree with each other, and nobody has approved it
    assert house.states() == {("customers", FILE): "mismatch"}
    assert _code(lambda: house.supersede(house.wanted("third"))) == "STATE_MISMATCH"
    restore(house.folder, house.verifier(), NOON)
    assert house.states() == {("customers", FILE): "changed"}


def test_an_entry_that_vanished_or_was_smuggled_in_is_found(house):
    path = house.path(REGISTRY)
    document = json.loads(path.read_text())
    house.file("data/x.csv", "x")
    smuggled = {**document["assets"][0], "name": "x", "canonical_path": "data/x.csv", "last_verified_hash": digest("x")}
    path.write_text(json.dumps({"assets": [smuggled]}))
    assert house.states() == {("customers", FILE): "unregistered", ("x", "data/x.csv"): "unrecorded"}


def test_a_change_that_only_the_ledger_claims_is_named_as_unapproved(house):
    body = {
        "project": str(house.folder.root.resolve()), "name": "customers", "from_sha256": digest("first"),
        "to_sha256": digest("second"), "archived": [], "lost": [], "reason": "forged", "decision_id": digest("d"),
        "subject_sha256": digest("s"),
    }  # fmt: skip
    house.world.ledger.append("REGISTRY_SUPERSEDED", "forger", body, ts=NOON)
    house.path(FILE).write_text("second")
    restore(house.folder, house.verifier(), NOON)
    assert house.states() == {("customers", FILE): "unapproved"}


def test_a_missing_archive_and_a_missing_file_are_found(house):
    wanted = house.wanted()
    house.approve(wanted)
    archived = house.path(house.supersede(wanted).archived[0])
    archived.unlink()
    house.path(FILE).unlink()
    assert set(house.states().values()) == {"missing"}


def test_without_a_ledger_nothing_is_called_verified(house):
    frame = rows(house.folder, None, NOON)
    assert list(frame["state"]) == ["unknown"]
    assert len(rows(house.folder, house.verifier(), NOON)) == 1


def test_two_folders_share_a_ledger_and_not_an_approval(house, tmp_path):
    wanted = house.wanted()
    house.approve(wanted)
    other = house_module.House(tmp_path / "twin")
    other.world = house.world
    other.add()
    assert _code(lambda: other.supersede(other.wanted())) == "DIGEST_MISMATCH"
    assert other.path(FILE).read_text() == "first"


def test_who_wants_a_change_does_not_approve_it(house):
    wanted = house.wanted()._replace(agent="ana")
    assert _code(lambda: house.approve(wanted)) == "SELF_APPROVAL"


def test_a_change_of_the_baseline_makes_an_approval_stale(house):
    wanted = house.wanted()
    house.approve(wanted)
    state = house.path("03_state/current_state.json")
    state.write_text(state.read_text().replace('"1.0.0"', '"2.0.0"'))
    assert _code(lambda: house.supersede(wanted)) == "DIGEST_MISMATCH"


def test_a_registry_that_names_a_thing_twice_is_refused_with_the_place(house):
    path = house.path(REGISTRY)
    entry = json.loads(path.read_text())["assets"][0]
    path.write_text(json.dumps({"assets": [entry, entry]}))
    with pytest.raises(UsageError, match=r"\$\.assets\[1\]: a second asset named 'customers'"):
        load_registry(path)
    path.write_text(json.dumps({"assets": [entry, {**entry, "name": "again"}]}))
    with pytest.raises(UsageError, match="is canonical twice"):
        load_registry(path)


def test_a_proposal_holds_both_digests_and_every_byte_that_goes(house):
    from governance_pipeline.framework.registry_proposal import proposal_of

    action = proposal_of(house.folder, house.world.lake, house.wanted()).action
    assert (action["from_sha256"], action["to_sha256"]) == (digest("first"), digest("second"))
    assert (action["archive"], action["lost"]) == ([digest("first")], [])
    assert proposal_of(house.folder, house.world.lake, house.wanted()).producers == ("worker",)


def test_a_lock_left_by_a_writer_that_died_is_taken_over_in_the_ledger(house):
    Locks(house.folder).claim(LOCK, 2**31 - 1, "a writer that died")
    house.add()
    (told,) = house.verifier().ledger.events(types={"LOCK_TAKEN_OVER"})
    assert (told.body["lock"], told.body["dead_owner"]["command"]) == (LOCK, "a writer that died")
    assert not house.path("03_state/locks/takeovers.jsonl").exists()
