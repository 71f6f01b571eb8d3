"""Looking for a finding again: one id, one finding, or a refusal that says what to do."""

from __future__ import annotations

import pytest

from governance_pipeline.errors import UsageError
from governance_pipeline.verdict.again import look_again
from governance_pipeline.verdict.controls import control_tables
from governance_pipeline.verdict.findings import findings
from governance_pipeline.verdict.policy_document import shipped_policy

TABLES = control_tables({"raw_log_files": [{"quarantined": 1, "lines_in": 1}]})


@pytest.fixture
def stored():
    return findings(TABLES, shipped_policy())


def test_an_id_nobody_has_is_refused():
    with pytest.raises(UsageError, match="no finding begins with ffffffff"):
        look_again("ffffffff", TABLES, shipped_policy(), None)


def test_digits_that_begin_several_ids_are_refused(stored):
    assert len(stored) == 2
    with pytest.raises(UsageError, match="give more digits"):
        look_again("", TABLES, shipped_policy(), stored)


def test_a_finding_is_given_as_the_detectors_give_it_now(stored):
    again = look_again(stored["finding_id"].iloc[0], TABLES, shipped_policy(), stored)
    assert (again.is_reproduced, again.entry["code"]) == (True, "required-check-not-run")


def test_a_finding_that_is_only_stored_is_given_as_it_was(stored):
    clean = control_tables({"raw_log_files": [{"accepted": 1, "lines_in": 1}]})
    again = look_again(stored["finding_id"].iloc[0], clean, shipped_policy(), stored)
    assert (again.is_reproduced, again.entry["code"]) == (False, "required-check-not-run")
