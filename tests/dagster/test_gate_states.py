"""What Dagster shows of a round is why nothing passes now, also after it was published."""

from __future__ import annotations

from assets_defs.deciding import standings


def test_a_freeze_is_shown_although_the_round_was_published(asked):
    asked.approve("r-1")
    assert asked.run("r-1").success
    assert standings(asked.lake, asked.gate, ["r-1"])["r-1"].is_open
    asked.ledger.append("FREEZE", "ana", {"round_id": "r-1", "reason": "look again"}, ts=asked.gate.now())
    standing = standings(asked.lake, asked.gate, ["r-1", "r-2"])["r-1"]
    assert (standing.is_open, standing.state) == (False, "CONSUMED")
    assert standing.reason.startswith("FROZEN: 'ana' has frozen round r-1")
