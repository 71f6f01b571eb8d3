"""`gated_materializations_are_consumed`: what Dagster shows of a gated asset was made by a run that passed the gate."""

from __future__ import annotations

import dagster as dg
import pytest
from gate_house import ASSETS, executed_again

from assets_defs import gate_checks


def found(house):
    """Run the job of the ledger; give asset and round -> what the check says."""
    job = house.defs.resolve_job_def("ledger_job")
    result = job.execute_in_process(instance=house.instance, raise_on_error=False)
    checks = {check.check_name: check for check in result.get_asset_check_evaluations()}
    check = checks["gated_materializations_are_consumed"]
    rows = [] if check.passed else [row.data for row in check.metadata["rows"].records]
    assert check.passed is not bool(rows)
    return {(row["asset"], row["round_id"]): row["message"] for row in rows}


def report(house, asset, **more):
    house.instance.report_runless_asset_event(dg.AssetMaterialization(asset, **more))


@pytest.mark.parametrize("asset", ASSETS)
def test_a_report_that_names_no_round_is_found(asked, asset):
    report(asked, asset, metadata={"approved_by": ["ana"]})
    assert asked.shown_as_made() == set()
    [(key, message)] = found(asked).items()
    assert key == (asset, "")
    assert "reported, not published" in message


def test_a_report_that_hides_a_publication_is_found(asked):
    """The page of the asset shows the newest event, with whatever metadata its author wished."""
    asked.approve("r-1", "r-2")
    assert asked.run("r-1").success
    assert asked.run("r-2").success
    assert found(asked) == {}
    digest = asked.lake.digest(ASSETS[0], "r-1")
    report(asked, ASSETS[0], partition="r-1", metadata={"approved_by": "mallory", "sha256": digest})
    [(key, message)] = found(asked).items()
    assert key == (ASSETS[0], "r-1")
    assert "what Dagster shows of it was reported" in message


def test_a_wiped_report_is_gone(asked):
    report(asked, ASSETS[0], partition="r-1")
    report(asked, ASSETS[0])
    assert set(found(asked)) == {(ASSETS[0], "r-1"), (ASSETS[0], "")}
    asked.instance.wipe_assets([dg.AssetKey(ASSETS[0])])
    assert found(asked) == {}


def test_another_run_that_shows_a_published_round_as_made_is_found(asked):
    """A code location of somebody else with an asset of the same name: a real run, which never was at the gate."""
    asked.approve("r-1")
    assert asked.run("r-1").success

    @dg.asset(name=ASSETS[0], partitions_def=dg.DynamicPartitionsDefinition(name="rounds"))
    def impostor() -> None:
        pass

    assert dg.materialize([impostor], partition_key="r-1", instance=asked.instance).success
    assert set(found(asked)) == {(ASSETS[0], "r-1")}


def test_the_run_that_passed_executed_again_shows_it_as_it_is(asked):
    asked.approve("r-1")
    first = asked.run("r-1")
    assert first.success
    report(asked, ASSETS[0], partition="r-1")
    assert set(found(asked)) == {(ASSETS[0], "r-1")}
    with executed_again(asked, first.run_id, "r-1", *ASSETS) as again:
        assert again.success
        assert again.run_id != first.run_id
    newest = asked.instance.fetch_materializations(dg.AssetKey(ASSETS[0]), limit=1).records[0]
    assert newest.run_id != first.run_id
    assert found(asked) == {}


def test_every_page_is_read(asked, monkeypatch):
    monkeypatch.setattr(gate_checks, "PAGE_RECORDS", 2)
    for round_id in ("r-1", "r-2", "r-3", "r-2", "r-4", "r-5"):
        report(asked, ASSETS[0], partition=round_id)
    assert set(found(asked)) == {(ASSETS[0], f"r-{number}") for number in range(1, 6)}
