"""The relaunch of a red process passes the gate: by a person who did not launch it, for this interruption, once."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from governance_pipeline.framework.authorize import authorize
from governance_pipeline.framework.locks import Locks
from governance_pipeline.framework.red_processes import RedPlan, RedState, interruption_of, red_process, red_record
from governance_pipeline.framework.red_relaunch import relaunch_approved, relaunch_question
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.timeouts import derive_timeout_from_percentiles
from governance_pipeline.trust.reasons import Refusal

if "registry_house" not in sys.modules:
    _spec = importlib.util.spec_from_file_location("registry_house", Path(__file__).with_name("registry_house.py"))
    sys.modules["registry_house"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["registry_house"])
house_module = sys.modules["registry_house"]
NOON, HOUR = house_module.NOON, house_module.HOUR
MEASURED = derive_timeout_from_percentiles([float(n) for n in range(1, 201)])


@pytest.fixture
def house(tmp_path):
    """A house in which the red process corpus has crashed once."""
    made = house_module.House(tmp_path)
    _crash(made, "run-1")
    return made


def _plan(run_id):
    return RedPlan("corpus", run_id, "worker", "load.py", "a" * 64, MEASURED)


def _crash(house, run_id, **more):
    with pytest.raises(ZeroDivisionError), red_process(house.folder, _plan(run_id), Locks(house.folder), **more):
        1 / 0  # noqa: B018 - the crash


def _relaunch(house, run_id, now=NOON + HOUR):
    def approved(interruption):
        relaunch_approved(house.folder, house.verifier(now), interruption, "worker", run_id, now)

    with red_process(house.folder, _plan(run_id), Locks(house.folder), may_relaunch=approved):
        pass


def _refused(house, run_id, now=NOON + HOUR):
    with pytest.raises(FrameworkRefused) as caught:
        _relaunch(house, run_id, now)
    return caught.value


def _request(house, now=NOON):
    return _asked(house, "worker", now).request_id


def _asked(house, agent, now=NOON):
    interruption = interruption_of(house.folder, "corpus")
    return authorize(relaunch_question(interruption, agent), house.folder, house.verifier(now), now)


def test_a_relaunch_nobody_decided_on_asks_and_starts_nothing(house):
    refusal = _refused(house, "run-2")
    request = _request(house, NOON + HOUR)
    assert refusal.code == "RELAUNCH_NEEDS_APPROVAL"
    assert f"govern gate approve {request}" in str(refusal)
    assert red_record(house.folder, "corpus")[0]["run_id"] == "run-1"
    assert f"govern gate approve {request}" in str(_refused(house, "run-2")), "asked once"


def test_an_approved_relaunch_starts_once_and_the_next_interruption_is_asked_about_anew(house):
    house.world.decide(_request(house), now=NOON)
    _relaunch(house, "run-2")
    assert red_record(house.folder, "corpus")[0]["state"] == RedState.FINISHED
    _crash(house, "run-3")
    refusal = _refused(house, "run-4")
    assert "govern gate approve" in str(refusal)
    assert red_record(house.folder, "corpus")[0]["run_id"] == "run-3"


def test_an_approval_is_used_up_by_the_relaunch_even_when_that_fails_too(house):
    house.world.decide(_request(house), now=NOON)

    def approved(interruption):
        relaunch_approved(house.folder, house.verifier(NOON + HOUR), interruption, "worker", "run-2", NOON + HOUR)

    _crash(house, "run-2", may_relaunch=approved)
    assert "govern gate approve" in str(_refused(house, "run-3", NOON + 2 * HOUR))


def test_nobody_approves_a_relaunch_they_want_themselves(house):
    request = _asked(house, "ana").request_id
    with pytest.raises(Refusal, match="SELF_APPROVAL"):
        house.world.decide(request, who="ana", now=NOON)


def test_no_row_of_the_allow_list_replaces_the_approval(house):
    house.allow(standing="| worker | relaunch_red_process | * | nights |")
    assert _refused(house, "run-2").code == "RELAUNCH_NEEDS_APPROVAL"
