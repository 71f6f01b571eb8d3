"""The checks of change events are killed by every mutant, and one that could not fail would be found."""

from __future__ import annotations

import pandas as pd
import pytest

from governance_pipeline.rounds.change_checks import CHANGE_CHECKS
from governance_pipeline.trajectory import change_proof
from governance_pipeline.trajectory.change_proof import change_proofs, changes_that_cannot_fail
from governance_pipeline.trajectory.comparisons import Compared, compared


@pytest.mark.parametrize("field", list(CHANGE_CHECKS))
@pytest.mark.parametrize("fault", ["computed from the declared number", "computed constant"])
def test_a_check_that_cannot_fail_is_found(monkeypatch, field, fault):
    def faulty(event, count, rules, **more):
        for one in compared(event, count, rules, **more):
            if one.field == field and fault == "computed from the declared number":
                same = one.declared
                yield Compared(one.field, same, same, one.data_type, one.result)
            elif one.field == field:
                yield one._replace(computed=one.computed._replace(value=1))
            else:
                yield one

    monkeypatch.setattr(change_proof, "compared", faulty)
    failed = [proof.check_id for proof in change_proofs() if not proof.can_fail]
    assert failed == [CHANGE_CHECKS[field].check_id]
    records = pd.DataFrame({"round_id": ["r-2", "r-1", "r-1", "r-3"], "check_id": [*failed * 3, "another"]})
    found = changes_that_cannot_fail(records)
    assert [list(row[:3]) for row in found.itertuples(index=False)] == [
        [round_id, failed[0], "check_cannot_fail"] for round_id in ("r-1", "r-2")
    ]


def test_every_check_of_change_events_can_fail():
    proofs = change_proofs()
    assert [proof.check_id for proof in proofs] == [check.check_id for check in CHANGE_CHECKS.values()]
    assert all(proof.can_fail and proof.records == proof.declared_flipped == 3 for proof in proofs)


def test_of_sound_checks_nothing_is_listed():
    records = pd.DataFrame({"round_id": "r-1", "check_id": [check.check_id for check in CHANGE_CHECKS.values()]})
    assert changes_that_cannot_fail(records).empty
