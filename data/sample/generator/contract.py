"""The round contract (`round.toml`) of a plan."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from generator.model import Draft


def contract_text(draft: Draft) -> str:
    """Write the contract; C1 (and C2 where planned) belong to KR1 and name the command that proves them."""
    blocks = [_round(draft), _scope(draft), _modules(draft), _policy(draft), _key_result(draft)]
    plan = draft.plan
    criteria = [("C1", plan.criterion, plan.check)]
    if plan.second_criterion is not None:
        criteria.append(("C2", *plan.second_criterion))
    blocks += [criterion_text(*criterion) for criterion in criteria]
    return "\n".join(block for block in blocks if block)


def criterion_text(criterion_id: str, text: str, check: str) -> str:
    """Write one required criterion."""
    return _block(
        "[[criterion]]",
        [("id", criterion_id), ("kr", "KR1"), ("required", True), ("weight", 1), ("text", text), ("check", check)],
    )


def _round(draft: Draft) -> str:
    plan, project = draft.plan, draft.project
    parent = None if plan.orphan else f"{project.prefix}-{plan.number - 1:04d}"
    lines = [
        ("objective", plan.objective),
        ("project", project.name),
        ("cohort", project.cohort),
        ("task_kind", project.task_kind),
        ("language", project.language),
        ("parent", parent),
        ("baseline_version", plan.baseline_version),
        ("mode", plan.mode),
        ("contributes_to", ["KR1"]),
    ]
    return 'schema = "govern/round/v1"\n\n' + _block("[round]", lines)


def _scope(draft: Draft) -> str:
    project = draft.project
    return _block(
        "[scope]",
        [
            ("include", list(project.include)),
            ("non_goals", list(project.non_goals)),
            ("public", list(project.public)),
            ("objective_set", [draft.plan.steps[-1][0][0]]),
        ],
    )


def _modules(draft: Draft) -> str:
    return _block("[modules]", [(name, [glob]) for name, glob in draft.plan.modules]) if draft.plan.modules else ""


def _policy(draft: Draft) -> str:
    plan = draft.plan
    return _block("[policy]", [("goal_substitution", plan.goal_substitution)]) if plan.goal_substitution else ""


def _key_result(draft: Draft) -> str:
    return _block("[[key_result]]", [("id", "KR1"), ("text", draft.project.key_result)])


def _block(header: str, lines: list[tuple[str, object]]) -> str:
    """Write one table; None is left out. JSON text of these values is TOML too."""
    body = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in lines if value is not None]
    return "\n".join([header, *body]) + "\n"
