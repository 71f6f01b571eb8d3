"""A round with a false number: closed until a person resolves its case through the command, then the usual way opens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import dagster as dg
import pytest
from gate_house import ASSETS, HOUR, Clock, GateHouse, make_trust, refusal_of

from governance_pipeline.cli.main import run as govern
from governance_pipeline.errors import GovernError
from governance_pipeline.gate.case_deciding import state_case
from governance_pipeline.gate.cases import Cases
from governance_pipeline.trust.case_statement import Outcome
from governance_pipeline.trust.keys import load_signer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FALSE = "r-false"


@pytest.fixture
def closed(tmp_path: Path, house) -> Iterator[GateHouse]:
    """Give a house with one round that declares 7 steps and has 3, asked about through Dagster."""
    folder = tmp_path / "closed"
    clock = Clock()
    make_trust(folder / "trust", clock.now, "ana", "ben")
    with dg.DagsterInstance.ephemeral() as instance:
        made = GateHouse(folder, instance, clock)
        made.register(FALSE)
        house.__class__.write_round(made, FALSE, declared=7, steps=3)
        made.audit(FALSE)
        assert made.run(FALSE, job="gate_job").success
        yield made


def cases(house: GateHouse) -> Cases:
    return Cases(house.gate.verifier(house.lake), house.clock())


def resolve(house: GateHouse, who: str = "ben") -> None:
    [standing] = cases(house).standings()
    signer = load_signer(house.config.parent / f"{who}.pem", None)
    state_case(
        house.gate.verifier(house.lake), standing.case.case_id, FALSE, "the log counts plans as steps", signer,
        Outcome.SOURCE_WRONG, clock=house.clock,
    )  # fmt: skip


def test_a_mismatch_keeps_the_gate_closed_until_its_case_is_resolved_and_then_a_person_may_approve(closed, capsys):
    assert "BLOCKED_POLICY" in refusal_of(closed.run(FALSE))
    assert closed.check_status("no_open_mismatch") == {FALSE: "FAILED"}
    assert closed.files(FALSE) == set()
    with pytest.raises(GovernError, match="BLOCKED_POLICY"):
        closed.approve(FALSE)

    place = ["--lake", str(closed.lake.root), "--config", str(closed.config), "--json"]
    capsys.readouterr()
    assert govern(["crosscheck", "cases", "list", *place]) == 0
    [case] = json.loads(capsys.readouterr().out)["cases"]
    assert (case["state"], case["reason"], case["records"][0]["declared"], case["records"][0]["computed"]) == (
        "open", "mismatch", 7, 3,
    )  # fmt: skip
    words = ["--as", "source_wrong", "--digest", case["sha256"][:8], "--reason", "the log counts plans as steps"]
    words += ["--key", str(closed.config.parent / "ben.pem"), *place]
    assert govern(["crosscheck", "cases", "resolve", case["case_id"], *words]) == 0

    closed.clock.now = max(event.ts for event in closed.ledger.events())  # the command takes the clock of the machine
    assert "MISSING" in refusal_of(closed.run(FALSE))  # it only awaits a decision now
    assert closed.check_status("no_open_mismatch") == {FALSE: "SUCCEEDED"}
    before = {table: closed.lake.digest(table, FALSE) for table in ("audit_cross_checks", "audit_escalations")}
    closed.ask(FALSE)
    closed.approve(FALSE)
    assert closed.run(FALSE).success
    assert closed.files(FALSE) == closed.shown_as_made() == {(asset, FALSE) for asset in ASSETS}
    assert {table: closed.lake.digest(table, FALSE) for table in before} == before


def test_the_check_of_the_escalations_follows_the_ledger_and_the_table_does_not_change(closed):
    checked = dg.AssetSelection.assets("audit_escalations")
    shown = []
    for step in (lambda: None, lambda: resolve(closed)):
        step()
        assert closed.run_selection(checked, FALSE).success
        shown.append(closed.check_status("no_open_mismatch", "audit_escalations")[FALSE])
    assert shown == ["FAILED", "SUCCEEDED"]
    assert closed.lake.get("audit_escalations", FALSE)["state"].tolist() == ["open"]


def test_the_failed_check_shows_both_values_age_and_state(closed):
    closed.clock.now += 73 * HOUR
    closed.run(FALSE)
    key = dg.AssetCheckKey(dg.AssetKey("gate_decisions"), "no_open_mismatch")
    [record, *_] = closed.instance.event_log_storage.get_asset_check_execution_history(key, limit=1)
    evaluation = record.event.dagster_event.asset_check_evaluation_data
    assert (evaluation.passed, evaluation.severity, evaluation.blocking) == (False, dg.AssetCheckSeverity.ERROR, True)
    [row] = [row.data for row in evaluation.metadata["rows"].records]
    assert (row["declared"], row["computed"], row["state"], row["age_days"]) == ("7", "3", "open", "3")
    assert row["is_overdue"] == "True"


def test_a_resolved_case_is_asked_anew_when_the_round_changes(closed):
    resolve(closed)
    assert "MISSING" in refusal_of(closed.run(FALSE))
    log = closed.workspace.landing / FALSE / "declared.jsonl"
    log.write_text(log.read_text().replace("7", "8"))
    closed.audit(FALSE)
    closed.ask(FALSE)
    assert "BLOCKED_POLICY" in refusal_of(closed.run(FALSE))
    states = {(str(standing.state), standing.is_current) for standing in cases(closed).standings()}
    assert states == {("resolved", False), ("open", True)}
