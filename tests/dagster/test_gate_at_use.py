"""A decision is about exactly these bytes, now: what changes between signing and use closes the gate again."""

from __future__ import annotations

import dagster as dg
import pytest
from gate_house import ASSETS, HOUR, executed_again, refusal_of

from assets_defs import publishing
from governance_pipeline.errors import StorageError
from governance_pipeline.gate.decision import Verb
from governance_pipeline.trust.reasons import Refusal

PASSAGE = ["INTENT", "CONSUMED", "RELEASED", "DONE"]


def test_an_approved_round_is_published_once_with_its_receipt(asked):
    [decision] = asked.approve("r-1")
    assert asked.run("r-1").success
    assert asked.files() == asked.shown_as_made() == {(asset, "r-1") for asset in ASSETS}
    for asset in ASSETS:
        assert asked.events("r-1", asset) == PASSAGE
        [record] = asked.instance.fetch_materializations(dg.AssetKey(asset), limit=9).records
        said = {name: value.value for name, value in record.asset_materialization.metadata.items()}
        assert said["decision_ids"] == [decision]
        assert said["approved_by"] == ["ana"]
        assert said["request_id"] == asked.request_id("r-1")
        assert said["sha256"] == asked.lake.digest(asset, "r-1")
        assert said["is_throwaway"] is True


def test_a_second_run_is_a_replay_and_changes_nothing(asked):
    asked.approve("r-1")
    assert asked.run("r-1").success
    before = {asset: asked.lake.digest(asset, "r-1") for asset in ASSETS}
    result = asked.run("r-1")
    assert "REPLAYED" in refusal_of(result)
    assert {asset: asked.lake.digest(asset, "r-1") for asset in ASSETS} == before
    assert asked.events("r-1").count("CONSUMED") == len(ASSETS)


def test_one_changed_byte_upstream_is_refused_and_asked_about_anew(asked):
    asked.approve("r-1")
    old = asked.request_id("r-1")
    asked.change_one_byte("r-1")
    result = asked.run("r-1")
    assert "DIGEST_MISMATCH" in refusal_of(result)
    assert asked.files() == set()
    assert asked.run("r-1", job="gate_job").success
    new = asked.request_id("r-1")
    assert new != old
    table = asked.lake.get("gate_requests", "r-1").set_index("request_id")
    assert dict(table["state"]) == {old: "SUPERSEDED", new: "PENDING"}
    assert table.loc[new, "supersedes"] == old
    assert "MISSING" in refusal_of(asked.run("r-1")), "nobody has decided about the changed work yet"
    with pytest.raises(Refusal, match="SUPERSEDED"):
        asked.decide("r-1", Verb.APPROVE, request_id=old)
    asked.approve("r-1")
    assert asked.run("r-1").success


def test_unchanged_work_is_not_asked_about_twice(asked):
    before = asked.events()
    assert asked.run("r-1", "r-5", job="gate_job").success
    assert asked.events() == before


def test_a_round_audited_again_with_the_same_bytes_stays_approved(asked):
    asked.approve("r-1")
    asked.audit("r-1")
    assert asked.run("r-1").success


@pytest.mark.parametrize(
    ("what_happens", "code"),
    [
        (lambda house: house.decide("r-1", Verb.REVOKE), "REVOKED"),
        (lambda house: house.decide("r-1", Verb.REJECT, who="ben"), "REVOKED"),
        (lambda house: setattr(house.clock, "now", house.clock.now + 72 * HOUR), "EXPIRED"),
        (lambda house: setattr(house.clock, "now", house.clock.now - 48 * HOUR), "CLOCK_SUSPECT"),
        (lambda house: house.change_one_byte("r-1"), "DIGEST_MISMATCH"),
        (lambda house: house.config.unlink(), "MISSING"),
    ],
    ids=["revoked", "rejected", "expired", "clock set back", "changed", "no gate any more"],
)
def test_a_run_already_asked_for_is_refused(asked, what_happens, code):
    """The sensor asked for the run while the gate was open; nothing that held then counts."""
    asked.approve("r-1")
    [request] = asked.tick().run_requests
    what_happens(asked)
    result = asked.run(request.partition_key, tags=request.tags)
    assert code in refusal_of(result)
    assert asked.files() == asked.shown_as_made() == set()


@pytest.mark.parametrize("asset", ASSETS)
def test_a_revocation_between_the_shown_check_and_the_write_is_seen(asked, monkeypatch, asset):
    """The check has passed and the step has begun; the guard still asks the ledger."""
    asked.approve("r-1")
    real = publishing.require_open_gate

    def revoked_first(gate, name, *rest):
        if name == asset:
            asked.decide("r-1", Verb.REVOKE)
        return real(gate, name, *rest)

    monkeypatch.setattr(publishing, "require_open_gate", revoked_first)
    result = asked.run("r-1")
    assert asked.check_status("human_approval") == {"r-1": "SUCCEEDED"}
    assert not result.success
    assert not asked.lake.has(asset, "r-1")


def test_a_run_that_failed_while_writing_stays_approved_and_goes_on(asked, monkeypatch):
    asked.approve("r-1")
    with monkeypatch.context() as broken:
        broken.setattr("assets_defs.publishing.publish", _disk_is_full)
        failed = asked.run("r-1")
    assert "disk is full" in refusal_of(failed)
    assert asked.files() == set()
    assert "REPLAYED" in refusal_of(asked.run("r-1")), "another run cannot take over what was used"
    with executed_again(asked, failed.run_id, "r-1") as result:
        assert result.success
    assert asked.files() == {(asset, "r-1") for asset in ASSETS}
    assert [asked.events("r-1", asset) for asset in ASSETS] == [PASSAGE] * len(ASSETS)


def test_a_revoked_round_does_not_go_on_after_a_crash_either(asked, monkeypatch):
    asked.approve("r-1")
    with monkeypatch.context() as broken:
        broken.setattr("assets_defs.publishing.publish", _disk_is_full)
        failed = asked.run("r-1")
    asked.decide("r-1", Verb.REVOKE)
    with executed_again(asked, failed.run_id, "r-1") as result:
        assert "REVOKED" in refusal_of(result)
    assert asked.files() == set()


def _disk_is_full(*_, **__):
    raise StorageError("the disk is full")
