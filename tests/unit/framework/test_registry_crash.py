"""Killed at any moment of a change, and with two changing at once, registry and archive lose nothing and agree again."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.registry import load_registry
from governance_pipeline.trust.reasons import Refusal

if "registry_house" not in sys.modules:
    _spec = importlib.util.spec_from_file_location("registry_house", Path(__file__).with_name("registry_house.py"))
    sys.modules["registry_house"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["registry_house"])
house_module = sys.modules["registry_house"]
NOON, HOUR, digest = house_module.NOON, house_module.HOUR, house_module.digest

FILE, ARCHIVE = "data/customers.csv", f"data/customers_HISTORIC_20261130_{digest('first')[:8]}.csv"
PROGRAM = Path(__file__).with_name("registry_process.py")
EFFECTS_AT_MOST = 80


def _approved(root):
    house = house_module.House(root)
    house.add()
    house.approve(house.wanted())
    return house


def _run(house, at):
    words = [sys.executable, str(PROGRAM), str(house.root), str(at), (NOON + HOUR).isoformat()]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)


def _check_after_a_kill(house, at):
    """Whatever was reached: no version is lost, everything that is there is whole, and the same command finishes it."""
    assert house.path(FILE).read_text() in ("first", "second"), at
    kept = [
        house.path(FILE),
        house.path(ARCHIVE),
        house.world.lake.root / "files" / digest("first")[:2] / digest("first"),
    ]
    assert any(path.exists() and path.read_text() == "first" for path in kept), at
    assert len(load_registry(house.path("03_state/canonical_registry.json")).assets) == 1, at
    assert set(house.states().values()) <= {"verified", "unfinished"}, (at, house.states())
    with suppress(FrameworkRefused):  # NOTHING_TO_CHANGE: it was done when the process died
        house.supersede(house.wanted())
    assert house.path(FILE).read_text() == "second", at
    assert house.path(ARCHIVE).read_text() == "first", at
    assert house.states() == {("customers", FILE): "verified", ("customers", ARCHIVE): "verified"}, at
    assert len(house.world.events("CONSUMED")) == len(house.world.events("DONE")) == 1, at
    left = [path for path in house.folder.root.rglob("*") if path.name.startswith((".tmp-", ".registry-new"))]
    assert [path for path in left if path.parent.name != "03_state"] == [], at


@pytest.mark.parametrize("at", [14])
def test_killed_in_the_middle_of_a_change_the_same_command_finishes_it(tmp_path, at):
    house = _approved(tmp_path)
    assert _run(house, at).returncode == -9
    _check_after_a_kill(house, at)


@pytest.mark.long
def test_killed_at_every_write_nothing_is_lost_and_the_same_command_finishes_it(tmp_path):
    for at in range(1, EFFECTS_AT_MOST):
        house = _approved(tmp_path / str(at))
        ended = _run(house, at)
        if ended.returncode == 0:
            assert ended.stdout.startswith(f"done {digest('second')}")
            break
        assert ended.returncode == -9, ended.stderr
        _check_after_a_kill(house, at)
    else:
        pytest.fail("the process never reached its end")
    assert at > 20  # there were that many moments to die at


@pytest.mark.long
def test_of_two_processes_that_replace_at_once_one_does_and_the_other_is_told(tmp_path):
    house = _approved(tmp_path)
    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(lambda _: _run(house, 0), range(2)))
    said = sorted(ended.stdout.split(" ")[0] or ended.stderr.strip().splitlines()[-1] for ended in ends)
    assert [ended.returncode for ended in ends].count(0) >= 1
    assert said[-1] == "done" or "done" in said
    assert any("NOTHING_TO_CHANGE" in ended.stderr or "refused" in ended.stdout for ended in ends)
    assert len(house.world.events("CONSUMED")) == len(house.world.events("REGISTRY_SUPERSEDED")) == 1
    assert house.states() == {("customers", FILE): "verified", ("customers", ARCHIVE): "verified"}


def test_a_change_that_was_begun_is_finished_although_a_freeze_came_since(tmp_path):
    house = _approved(tmp_path)
    _kill_before_the_file(house)
    house.world.ledger.append("FREEZE", "ben", {"reason": "scope changed"}, ts=NOON + HOUR)
    assert set(house.states().values()) == {"unfinished"}
    assert house.supersede(house.wanted()).asset.last_verified_hash == digest("second")
    with pytest.raises(Refusal, match="FROZEN"):
        house.add("more", "data/more.csv")


def _kill_before_the_file(house):
    """Use the decision and write nothing, as a process that dies right after it does."""
    from governance_pipeline.framework.registry_proposal import proposal_of
    from governance_pipeline.gate.acting import pass_act

    proposal = proposal_of(house.folder, house.world.lake, house.wanted())
    pass_act(proposal, house.verifier(NOON + HOUR), f"registry-{proposal.sha256}", NOON + HOUR)
