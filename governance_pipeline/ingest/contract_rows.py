"""Rows of `core_rounds` and `core_criteria`: the round contract as tables.

What belongs here: the mapping of a contract to columns. What does not: what makes a contract valid (rounds.load).
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.errors import Fault
    from governance_pipeline.rounds.contract import RoundContract
    from governance_pipeline.vocabulary import ContractState


def round_row(
    state: ContractState, contract: RoundContract | None, faults: Sequence[Fault], contract_sha256: str | None
) -> dict[str, Any]:
    """Give the contract columns of `core_rounds`; a silent contract leaves them null, a list as JSON text."""
    row: dict[str, Any] = {
        "contract_state": state.value,
        "contract_sha256": contract_sha256,
        "contract_fault": fault_text(faults[0]) if faults else None,
    }
    return row if contract is None else row | _round_columns(contract) | _scope_columns(contract)


def criteria_rows(contract: RoundContract | None) -> list[dict[str, Any]]:
    """Give one row of `core_criteria` per criterion, in the order written; none without a valid contract."""
    criteria = contract.criteria if contract else None
    return [
        {
            "criterion_id": criterion.id,
            "key_result_id": criterion.kr,
            "is_required": criterion.required,
            "weight": criterion.weight,
            "statement": criterion.text,
            "check_command": criterion.check,
        }
        for criterion in criteria or ()
    ]


def fault_text(fault: Fault) -> str:
    """Give a fault as one line: where, code, message."""
    where = f"line {fault.line}: " if fault.line is not None else ""
    return f"{where}{fault.code}: {fault.message}"


def _round_columns(contract: RoundContract) -> dict[str, Any]:
    key_results = contract.key_results
    return {
        "objective": contract.objective,
        "project": contract.project,
        "cohort": contract.cohort,
        "task_kind": contract.task_kind,
        "language": contract.language,
        "parent_round_id": contract.parent,
        "baseline_version": contract.baseline_version,
        "mode": contract.mode.value,
        "contributes_to": _json(contract.contributes_to),
        "key_results": _json(None if key_results is None else [asdict(result) for result in key_results]),
        "goal_substitution": contract.policy.goal_substitution,
        "material_files_count": contract.policy.material_files,
        "material_churn_count": contract.policy.material_churn,
        "repo_path": contract.repo.path if contract.repo else None,
        "repo_base_id": contract.repo.base if contract.repo else None,
        "is_repo_directed": contract.repo.directed if contract.repo else None,
    }


def _scope_columns(contract: RoundContract) -> dict[str, Any]:
    scope, modules = contract.scope, contract.modules
    return {
        "scope_include": _json(scope.include),
        "scope_non_goals": _json(scope.non_goals),
        "scope_public": _json(scope.public),
        "scope_objective_set": _json(scope.objective_set),
        "scope_canonical": _json(scope.canonical),
        "module_rule": scope.module_rule,
        "modules": _json(None if modules is None else [[module.name, module.globs] for module in modules]),
    }


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)
