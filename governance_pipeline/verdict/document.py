"""The verdict document (`govern/verdict/v1`) of one round.

What belongs here: its members, from rows that are there already. What does not: deciding, and how it looks. A pass is
worth what its document lists: what was verified, what was left out, and why. Source: spec/verdict.md §4.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.rounds.contract import Mode
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.change_skips import change_skips
from governance_pipeline.verdict.command_runs import seen_run
from governance_pipeline.verdict.criterion_state import criterion_state
from governance_pipeline.verdict.detectors.goal_substitution import goal_facts
from governance_pipeline.verdict.detectors.statistics import statistics_skipped
from governance_pipeline.verdict.dismissals import entry_of
from governance_pipeline.verdict.goal import judge_goal
from governance_pipeline.verdict.impact import impact
from governance_pipeline.verdict.required_checks import VALIDATOR_INDEPENDENCE, required_checks
from governance_pipeline.verdict.signals import GOAL_SUBSTITUTION, Decision, GapReason
from governance_pipeline.vocabulary import ContractState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from governance_pipeline.verdict.baseline import Baseline
    from governance_pipeline.verdict.round_view import RoundView

    Row = Mapping[str, Any]

SCHEMA: Final = "govern/verdict/v1"
SCOPE: Final = "checks_executed_only"

NOT_CHECKABLE: Final = "not_checkable"
NOT_IN_QUICK_MODE: Final = "not_in_quick_mode"


def verdict_document(
    view: RoundView, rows: Iterable[Row], baseline: Baseline, status: str, inputs: str
) -> dict[str, Any]:
    """Put the document of one round together.

    Args:
        view: the round.
        rows: its rows of `verdict_findings`, in order.
        baseline: what its findings are compared with.
        status: what they add up to.
        inputs: digest of the rows it was made from.
    """
    found = [(row, finding_entry(row)) for row in rows]
    return {
        "schema": SCHEMA,
        "round_id": view.round_id,
        "status": status,
        "requires_justification": any(row["decision"] == Decision.PAUSE for row, _ in found),
        "scope": SCOPE,
        "mode": str(view.mode),
        "contract": {"state": str(view.contract_state), "fault": _shown(view.contract_fault)},
        "baseline": {"round_id": baseline.round_id, "is_at_hand": baseline.first_seen is not None},
        "new_findings": [entry for row, entry in found if row["is_known"] is not True],
        "known_findings": [entry for row, entry in found if row["is_known"] is True],
        "criteria": [_criterion(view, row) for row in view.criteria],
        "impact": impact(view),
        "checks_run": checks_run(view),
        "checks_skipped": checks_skipped(view),
        "unknowns": unknowns(view, [row for row, _ in found], baseline),
        "policy": {"version": view.policy.version, "digest": view.policy.digest},
        "inputs_digest": inputs,
        "duration_ms": None,
        "reproduce": f"govern verdict check --round {view.round_id}",
    }


def finding_entry(row: Row) -> dict[str, Any]:
    """One finding as the document shows it, with the command that re-executes its detector."""
    place = {name: row[name] for name in ("path", "file_sha256", "line", "pointer")}
    return {
        "finding_id": row["finding_id"],
        "fingerprint": row["fingerprint"],
        "code": row["code"],
        "class": row["class"],
        "severity": row["severity"],
        "required": row["is_required"],
        "decision": row["decision"],
        "reason": row["reason"],
        "message": row["message"],
        "factors": json.loads(row["factors"]),
        "evidence": None if row["path"] is None else place,
        "first_seen": row["first_seen_round_id"],
        "dismissed": entry_of(row),
        "reproduce": f"govern verdict check --finding {row['finding_id']}",
    }


def checks_run(view: RoundView) -> list[dict[str, Any]]:
    """Count the required checks that came to a result, by kind; `{id, count}`, sorted by id."""
    counts = Counter(check.kind for check in view.once(required_checks) if check.ran)
    return [{"id": kind, "count": count} for kind, count in sorted(counts.items())]


def checks_skipped(view: RoundView) -> list[dict[str, Any]]:
    """Name everything that was left out, with its reason: `{id, required, reason}`.

    Required checks that did not run first; then declared numbers their format makes not checkable, what nobody could
    tell of changed files, and what this round is not asked for: for want of a contract, or in quick mode.
    """
    skipped = [
        {"id": check.id, "required": True, "reason": str(check.reason)}
        for check in view.once(required_checks)
        if not check.ran
    ]
    checked = {(row["declared_path"], row["subject_id"], row["field"]) for row in view.rows("audit_cross_checks")}
    skipped += [
        {"id": f"cross-check:{excerpt(row['field'], 80)}:{excerpt(row['subject_id'], 80)}", "required": False,
         "reason": NOT_CHECKABLE}
        for row in view.rows("core_declared")
        if (row["path"], row["subject_id"], row["field"]) not in checked
    ]  # fmt: skip
    skipped += change_skips(view)
    skipped += statistics_skipped(view)
    if not view.has_contract:
        names = ("criteria", "scope", GOAL_SUBSTITUTION)
        skipped += [{"id": name, "required": False, "reason": str(GapReason.NO_CONTRACT)} for name in names]
    if view.mode == Mode.QUICK:
        skipped.append({"id": VALIDATOR_INDEPENDENCE, "required": False, "reason": NOT_IN_QUICK_MODE})
    return skipped


def unknowns(view: RoundView, rows: Sequence[Row], baseline: Baseline) -> list[dict[str, Any]]:
    """List what is unknown: `{reason, about, finding_id}`; finding_id is null where the status does not rest on it."""
    listed: list[dict[str, Any]] = [
        {"reason": row["reason"], "about": row["message"], "finding_id": row["finding_id"]}
        for row in rows
        if row["decision"] in (Decision.UNKNOWN, Decision.BLOCK) and row["reason"] is not None
    ]
    listed += [
        {"reason": row["reason"], "about": f"dismissed: {row['message']}", "finding_id": None}
        for row in rows
        if row["dismissed_decision"] in (Decision.UNKNOWN, Decision.BLOCK) and row["reason"] is not None
    ]
    return listed + [
        {"reason": str(reason), "about": about, "finding_id": None} for reason, about in _silent(view, baseline)
    ]


def _silent(view: RoundView, baseline: Baseline) -> Iterable[tuple[GapReason, str]]:
    """What is unknown and decides nothing."""
    if view.contract_state == ContractState.ABSENT:
        yield GapReason.NO_CONTRACT, "the round has no contract"
    if view.contract_state == ContractState.INVALID:
        yield GapReason.NO_CONTRACT, f"the round contract is invalid: {_shown(view.contract_fault) or 'no reason kept'}"
    if view.has_contract and view.promised("scope_include") is None:
        yield GapReason.NO_SCOPE, "the contract declares no scope"
    if baseline.first_seen is None:
        yield GapReason.NO_BASELINE, "the parent round is not at hand: no finding can be called known"
    outcome = judge_goal(view.once(goal_facts), view.policy)
    if outcome.active and outcome.fires is None:
        conditions = {"surface": outcome.material, "evidence": outcome.no_evidence, "deviation": outcome.deviation}
        unknown = ", ".join(name for name, value in conditions.items() if value is None)
        yield GapReason.NO_EVIDENCE, f"goal substitution cannot be judged: {unknown} unknown"


def _criterion(view: RoundView, row: Row) -> dict[str, Any]:
    record = view.last_evidence.get(row["criterion_id"]) or {}
    command = row["check_command"]
    return {
        "criterion_id": row["criterion_id"],
        "key_result_id": row["key_result_id"],
        "required": row["is_required"],
        "state": criterion_state(view, row["criterion_id"]),
        "strength": record.get("strength"),
        "check": _shown(command),
        "check_was_seen": None if command is None else seen_run(view, command) is not None,
        "exit_code": record.get("exit_code"),
        "output_sha256": _shown(record.get("output_sha256")),
    }


def _shown(text: str | None) -> str | None:
    return None if text is None else excerpt(text)
