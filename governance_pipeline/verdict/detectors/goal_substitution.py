"""`goal-substitution`: the facts behind the four conditions of `verdict.goal`, from the tables of a round.

A count that is only known to be at least so large is used where it already reaches its threshold, and is unknown
otherwise: a list of files that has gaps can show that a file is outside, never that none is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.rounds.globs import Globs
from governance_pipeline.rounds.paths import normal_form
from governance_pipeline.verdict.criterion_state import evidence_counts
from governance_pipeline.verdict.detector import Control, Detector, Hit, contract_place
from governance_pipeline.verdict.goal import GoalFacts, judge_goal
from governance_pipeline.verdict.signals import GOAL_SUBSTITUTION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.verdict.round_view import RoundView

_NATIVE: Final = "native"


class _Surface(NamedTuple):
    """What is known of a round's changes: the files seen, whether they are all, and the churn likewise.

    `least_files` is a lower bound of the distinct files: a step that lists none still says how many it changed.
    """

    files: frozenset[str]
    least_files: int
    is_every_file: bool
    least_churn: int
    is_all_churn: bool


def goal_facts(view: RoundView) -> GoalFacts:
    """Collect what is known of a round for the four conditions."""
    surface = _surface(view)
    files = _known(surface.least_files, view.policy.material_files, is_exact=surface.is_every_file)
    churn = _known(surface.least_churn, view.policy.material_churn, is_exact=surface.is_all_churn)
    contributes_to = view.promised("contributes_to")
    ids = None if contributes_to is None else tuple(json.loads(contributes_to))
    counts = evidence_counts(view)
    without_criteria: int | None = None if view.lost_evidence else 0
    return GoalFacts(
        contract=view.contract_state,
        files=files,
        churn=churn,
        contributes_to=ids,
        evidence={id_: counts.get(id_, without_criteria) for id_ in ids or ()},
        files_outside_scope=_matching(view, "scope_include", surface, is_inside=False),
        files_in_non_goals=_matching(view, "scope_non_goals", surface, is_inside=True),
    )


def _detect(view: RoundView) -> Iterator[Hit]:
    facts = goal_facts(view)
    if judge_goal(facts, view.policy).fires:
        yield Hit(
            (),
            f"much was changed ({_shown(facts.files, 'files')}, {_shown(facts.churn, 'lines')}), part of it outside "
            "what the round set out to do, and nothing proves any of its key results",
            {
                "files": facts.files,
                "churn": facts.churn,
                "material_files": view.policy.material_files,
                "material_churn": view.policy.material_churn,
                "contributes_to": list(facts.contributes_to or ()),
                "evidence": dict(facts.evidence),
                "files_outside_scope": facts.files_outside_scope,
                "files_in_non_goals": facts.files_in_non_goals,
                "policy": str(view.policy.goal_substitution),
            },
            contract_place(view),
        )


def _surface(view: RoundView) -> _Surface:
    steps = view.rows("features_step_surface")
    summary = next(iter(view.rows("features_round")), None)
    is_native = summary is not None and summary["origin"] == _NATIVE
    is_whole = summary is not None and _is_whole(summary, is_native=is_native)
    repeated = {row["step_index"] for row in steps if row["files_count"] is None}
    files = frozenset(
        normal_form(row["file_path"])
        for row in view.rows("core_file_changes")
        if (row["origin"] == _NATIVE) == is_native and not (is_native and row["step_index"] in repeated)
    )
    unlisted = _unlisted_steps(view) if is_native else set()
    counts = [row["files_count"] for row in steps]
    churn = [row["churn_count"] for row in steps]
    return _Surface(
        files=files,
        least_files=max([len(files), *(count for count in counts if count is not None)]),
        is_every_file=is_whole and None not in counts and not unlisted,
        least_churn=sum(lines for lines in churn if lines is not None),
        is_all_churn=is_whole and None not in churn,
    )


def _is_whole(summary: dict[str, Any], *, is_native: bool) -> bool:
    """Whether every change of the round is in a step that has a row."""
    if not is_native:
        return bool(summary["opaque_steps_count"] == 0)
    return not json.loads(summary["step_gaps"]) and summary["quarantined_changes_count"] == 0


def _unlisted_steps(view: RoundView) -> set[int]:
    """Steps of native events that changed files and list none of them."""
    return {row["step_index"] for row in view.rows("core_changes") if not row["has_files"] and row["files_count"] != 0}


def _matching(view: RoundView, column: str, surface: _Surface, *, is_inside: bool) -> int | None:
    globs = view.promised(column)
    if globs is None:
        return None
    match = Globs(json.loads(globs)).match
    return _known(sum(match(path) == is_inside for path in surface.files), 1, is_exact=surface.is_every_file)


def _known(at_least: int, threshold: int, *, is_exact: bool) -> int | None:
    return at_least if is_exact or at_least >= threshold else None


def _shown(count: int | None, unit: str) -> str:
    return f"{unit} unknown" if count is None else f"{count} {unit}"


_ROUND: Final = {
    "contributes_to": '["KR1"]',
    "scope_include": '["src/**"]',
    "goal_substitution": "warn",
    "material_files_count": 2,
}
_CHANGES: Final[Control] = {
    "core_criteria": [{"criterion_id": "C1", "key_result_id": "KR1"}],
    "core_changes": [{"has_files": True}],
    "core_file_changes": [{"file_path": "src/a.py"}, {"change_index": 2, "file_path": "docs/b.md"}],
    "features_step_surface": [{"files_count": 2, "churn_count": 12}],
    "features_round": [{"steps_count": 1}],
}

DETECTOR: Final = Detector(
    code=GOAL_SUBSTITUTION,
    rule="a material surface, zero evidence for the declared key results, and a file outside the declared scope",
    reads=(
        "raw_quarantine", "core_criteria", "core_evidence", "core_changes", "core_file_changes",
        "features_step_surface", "features_round",
    ),
    detect=_detect,
    fires_on={"core_rounds": [_ROUND], **_CHANGES},
    silent_on={
        "core_rounds": [_ROUND],
        **_CHANGES,
        "core_evidence": [{"state": "unproven", "strength": 0.25}],
    },
)  # fmt: skip
