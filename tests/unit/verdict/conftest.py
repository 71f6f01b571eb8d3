"""Rounds made of the few rows that matter, judged under the shipped policy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from governance_pipeline.verdict.controls import CONTROL_ROUND, control_tables
from governance_pipeline.verdict.findings import findings
from governance_pipeline.verdict.policy_document import shipped_policy
from governance_pipeline.verdict.verdicts import verdicts

if TYPE_CHECKING:
    from collections.abc import Callable

READ = {"raw_log_files": [{"lines_in": 1, "accepted": 1}]}
"""A log that was read: the least a round needs to pass."""

Rows = "Mapping[str, Sequence[Mapping[str, Any]]]"


def judged(rows: Rows, policy: Any = None) -> dict[str, Any]:
    """The verdict document of one round with these rows and a log that was read."""
    policy = policy or shipped_policy()
    tables = control_tables({**READ, **rows})
    frame = verdicts(tables, findings(tables, policy), policy)
    return json.loads(frame["document"].iloc[0])


@pytest.fixture
def judge() -> Callable[..., dict[str, Any]]:
    """Give the verdict document of a round made of rows; tables that are left out are empty."""
    return judged


@pytest.fixture
def codes() -> Callable[..., list[tuple[str, str]]]:
    """Give (code, decision) of every finding of a round made of rows."""

    def _codes(rows: Rows, policy: Any = None) -> list[tuple[str, str]]:
        return [(f["code"], f["decision"]) for f in judged(rows, policy)["new_findings"]]

    return _codes


@pytest.fixture
def round_id() -> str:
    """Id of the round the other fixtures make."""
    return CONTROL_ROUND
