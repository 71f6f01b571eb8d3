"""The sensor `dismissals`: a dismissed finding is judged again once, and again when its last day is over."""

from __future__ import annotations

from datetime import date, timedelta

import dagster as dg
import pytest

from assets_defs.dismissal_sensor import JUDGED, dismissals
from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.gate.dismissals import dismiss
from governance_pipeline.ledger.root_keeping import KEY_FILE, add_principal
from governance_pipeline.storage.heartbeat import last_beat
from governance_pipeline.trust.config import load_config
from governance_pipeline.trust.keys import generate_key, load_signer
from governance_pipeline.trust.principals import Key, Kind, Principal, Role

ROUND = "r-1"


@pytest.fixture
def house(asked):
    """A house whose round r-1 declares a false number, and where eva may dismiss."""
    declared = asked.workspace.landing / ROUND / "declared.jsonl"
    declared.write_text(declared.read_text().replace('"value": 2', '"value": 9'))
    trust = asked.folder / "trust"
    key = Key(generate_key(trust / "eva.pem", None))
    eva = Principal("eva", Kind.HUMAN, "eva", frozenset({Role.DISMISSER}), (key,))
    add_principal(load_config(asked.config), eva, load_signer(trust / KEY_FILE, None), asked.clock())
    asked.workspace.trust = asked.gate.trust()
    asked.audit(ROUND)
    return asked


def tick(house):
    with dg.build_sensor_context(instance=house.instance, resources=house.resources) as context:
        return dismissals(context)


def say(house, until=None):
    [row] = [row for row in plain_rows(house.lake.get("verdict_findings", ROUND)) if row["decision"] == "warn"]
    signer = load_signer(house.folder / "trust" / "eva.pem", None)
    reason = "the agent counts its retries as steps"
    dismiss(house.gate.verifier(house.lake), row["finding_id"], reason, until, signer, clock=house.clock)


def run_requested(house):
    [request] = tick(house).run_requests
    house.workspace.trust = house.gate.trust()
    result = house.run(ROUND, job="full_audit_job", asset_selection=request.asset_selection)
    assert result.success
    return request, house.lake.get("verdict_rounds", ROUND)["status"].iloc[0]


def test_without_a_dismissal_nothing_is_launched(house):
    assert "says of each finding" in tick(house).skip_message
    assert last_beat(house.lake, "dismissals") is not None


def test_a_dismissed_finding_is_judged_again_once_and_again_when_its_last_day_is_over(house):
    say(house, until=date(2026, 11, 30))
    first, status = run_requested(house)
    assert {key.to_user_string() for key in first.asset_selection} == set(JUDGED)
    assert (first.partition_key, status) == (ROUND, "pass")
    assert isinstance(tick(house), dg.SkipReason)

    house.clock.now += timedelta(days=1)
    second, status = run_requested(house)
    assert (status, second.run_key == first.run_key) == ("warn", False)
    assert isinstance(tick(house), dg.SkipReason)


def test_a_tick_that_is_repeated_asks_under_the_same_key(house):
    say(house)
    assert len({tick(house).run_requests[0].run_key for _ in range(2)}) == 1
