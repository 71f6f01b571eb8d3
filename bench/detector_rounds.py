"""Changes of files as rounds, and what the built-in detectors find in them.

What belongs here: facts of changed files in, findings out, through the tables and the rules every verdict uses. What
does not: where changes come from (history, planted faults).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.contracts.registry import empty_frame, frame_of
from governance_pipeline.ingest.change_facts.rows import fact_columns
from governance_pipeline.verdict.detectors import DETECTORS
from governance_pipeline.verdict.policy_document import shipped_policy
from governance_pipeline.verdict.round_view import INPUTS, RoundView, RowsByRound

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from governance_pipeline.ingest.change_facts.fact import ChangeFact
    from governance_pipeline.verdict.detector import Detector

CODES = (
    "parse-failure",
    "test-deleted",
    "test-disabled",
    "assertion-removed",
    "public-signature-narrowed",
    "dependency-added",
    "dependency-unpinned",
    "canonical-write-unapproved",
)
"""Detectors of what a change did to files; the others read records of a round, which a commit does not carry."""

PUBLIC = ("*.py", "*.go", "*.java", "*.rs", "*.ts", "*.tsx", "*.js", "*.mjs", "*.cjs", "*.jsx")
"""What counts as public: every file of a language that is read.

A project would list less, so this gives the most findings there can be."""

_DIGEST = "a" * 64
_SOURCE = {"path": "logs/git-log.jsonl", "file_sha256": _DIGEST, "line": 1, "pointer": ""}


class Found(NamedTuple):
    """One finding: its code and what it is about."""

    code: str
    subject: tuple[str, ...]


@dataclass(frozen=True)
class Round:
    """Files of one change with their facts, and the globs its contract calls canonical."""

    round_id: str
    files: Sequence[tuple[str, Sequence[ChangeFact]]]
    canonical: Sequence[str] = field(default=("(none)",))


def judge(rounds: Sequence[Round]) -> dict[str, frozenset[Found]]:
    """Give the findings of each round, by its id."""
    tables = {table: empty_frame(table) for table in INPUTS}
    tables["core_rounds"] = frame_of("core_rounds", map(_round, rounds))
    tables["core_file_changes"] = frame_of("core_file_changes", (row for one in rounds for row in _changes(one)))
    tables["core_change_facts"] = frame_of("core_change_facts", (row for one in rounds for row in _facts(one)))
    source, policy = RowsByRound(tables), shipped_policy()
    detectors = [detector for detector in DETECTORS if detector.code in CODES]
    return {one.round_id: _found(detectors, RoundView(source, one.round_id, policy)) for one in rounds}


def _found(detectors: Sequence[Detector], view: RoundView) -> frozenset[Found]:
    return frozenset(
        Found(detector.code, tuple(hit.subject)) for detector in detectors for hit in detector.detect(view)
    )


def _round(one: Round) -> dict[str, Any]:
    return {
        "round_id": one.round_id, "contract_state": "valid", "contract_sha256": _DIGEST, "runs_count": 0,
        "scope_public": json.dumps(PUBLIC), "scope_canonical": json.dumps(list(one.canonical)),
    }  # fmt: skip


def _changes(one: Round) -> Iterator[dict[str, Any]]:
    for at, (path, _) in enumerate(one.files, start=1):
        yield {"round_id": one.round_id, "origin": "log", "run_id": "history", "step_index": 1, "change_index": at,
               "file_path": path, **_SOURCE}  # fmt: skip


def _facts(one: Round) -> Iterator[dict[str, Any]]:
    for at, (path, facts) in enumerate(one.files, start=1):
        for number, fact in enumerate(facts, start=1):
            yield {"round_id": one.round_id, "origin": "log", "run_id": "history", "step_index": 1,
                   "change_index": at, "fact_index": number, "file_path": path, **fact_columns(fact),
                   **_SOURCE}  # fmt: skip
