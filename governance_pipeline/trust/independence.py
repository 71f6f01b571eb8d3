"""May this validator certify that work: the rules of spec/gate.md §4, and the table of their outcomes.

What belongs here: `audit_independence`, and the same question about one pair. What does not: what an attestation breaks
on its own (`attestation`) and the comparison of two sides (`pair`). Three answers, never two: broken, holds,
undecidable; whoever gates treats the last as broken. Names are claims of logs; keys and the trust root are what a
validator cannot choose.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from governance_pipeline.contracts.audit_independence import IndependenceRule as Rule
from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.trust.attestation import Attestation, Outcome, evidence_outcome, examined
from governance_pipeline.trust.pair import Side, compared, decisive, identity_under, lineage_outcomes
from governance_pipeline.trust.principals import Kind
from governance_pipeline.trust.production import (
    COLUMNS,
    RoundWork,
    is_same_runtime,
    round_work,
    rows_by_round,
    same_actor,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    import pandas as pd

    from governance_pipeline.trust.attestation import EnvelopeOf
    from governance_pipeline.trust.lineage import Lineage, Run
    from governance_pipeline.trust.root import TrustRoot

TABLE = "audit_independence"


@dataclass(frozen=True)
class Answer:
    """Whether a validator is independent; false in a condition unless it certainly is.

    `rule` is the first that failed or could not be decided, `lineage_path` what shows it.
    """

    is_independent: bool
    rule: Rule | None = None
    lineage_path: str | None = None

    def __bool__(self) -> bool:
        """Answer as a condition does."""
        return self.is_independent


def independence(
    core_attestations: pd.DataFrame,
    core_runs: pd.DataFrame,
    core_steps: pd.DataFrame,
    root: TrustRoot | None,
    now: datetime,
    *,
    core_changes: pd.DataFrame | None = None,
    core_file_changes: pd.DataFrame | None = None,
    core_declared: pd.DataFrame | None = None,
    core_evidence: pd.DataFrame | None = None,
    envelope_of: EnvelopeOf | None = None,
    refuse_same_runtime: bool = False,
) -> pd.DataFrame:
    """Make `audit_independence` of any number of rounds.

    Args:
        core_attestations: what claims to be a verdict.
        core_runs: the runs.
        core_steps: their steps.
        root: the trust root; None leaves every signature undecided, so nothing is independent for certain.
        now: instant at which keys are judged.
        core_changes: with core_file_changes who changed what; without them a run whose log hides it stays undecided.
        core_file_changes: see core_changes.
        core_declared: with core_evidence what was declared; without it a copied number cannot be told.
        core_evidence: see core_declared.
        envelope_of: gives the exact envelope at a line of a source file (`stored_envelopes.envelopes_in`).
        refuse_same_runtime: a validator of the same family of models is refused, not only flagged.

    Returns:
        One row per attestation and producing run.
    """
    tables = (core_runs, core_steps, core_changes, core_file_changes, core_declared, core_evidence)
    attested = rows_by_round(core_attestations)
    works = _works(dict(zip(COLUMNS, tables, strict=True)), list(attested))
    rows: list[dict[str, Any]] = []
    for round_id, attestations in attested.items():
        for row in attestations:
            rows += _pair_rows(row, examined(row, root, now, envelope_of), works[round_id], root, refuse_same_runtime)
    return frame_of(TABLE, rows)


def validator_is_independent(
    validator_agent_id: str,
    worker_agent_id: str,
    run_id: str,
    *,
    lineage: Lineage,
    root: TrustRoot | None = None,
    validator_run_id: str | None = None,
) -> Answer:
    """Tell whether one agent may certify what another did in a run: the small public face of the rules.

    Args:
        validator_agent_id: who would certify.
        worker_agent_id: who did the work.
        run_id: run in which it was done.
        lineage: the runs of the round (`lineage.lineage_of`).
        root: aliases and controllers, where a trust root is known.
        validator_run_id: run of the validator; None means the only run it has.

    Returns:
        True, or the first rule that failed or could not be decided: agent, principal, key, controller, run, session,
        ancestry. A run the lineage does not hold is unknown, hence not independent.
    """
    identity = identity_under(root)
    own = [run for run in lineage.runs() if same_actor([validator_agent_id], run.agents, identity)]
    only = own[0] if len(own) == 1 else None
    run = only if validator_run_id is None else lineage.run(validator_run_id)
    worker = lineage.run(run_id)
    agents = frozenset({worker_agent_id}) | (worker.agents if worker else frozenset())
    pair = (Side(frozenset({validator_agent_id}), run), Side(agents, worker))
    outcome = decisive(list(compared(*pair, lineage, root)))
    return Answer(True) if outcome is None else Answer(False, outcome.rule, outcome.path)


def _works(tables: Mapping[str, pd.DataFrame | None], round_ids: list[str]) -> dict[str, RoundWork]:
    """Give the work of each attested round, from the columns that matter."""
    by_round = {
        name: rows_by_round(frame.loc[frame["round_id"].isin(round_ids), ["round_id", *COLUMNS[name]]])
        for name, frame in tables.items()
        if frame is not None
    }
    return {
        round_id: round_work(**{name: groups.get(round_id, []) for name, groups in by_round.items()})
        for round_id in round_ids
    }


def _pair_rows(
    row: Mapping[str, Any],
    attestation: Attestation,
    work: RoundWork,
    root: TrustRoot | None,
    refuse_same_runtime: bool,
) -> Iterator[dict[str, Any]]:
    """Give the rows of one attestation: one per producing run, or one without a run when none is known."""
    identity, names = identity_under(root), _names(attestation)

    def is_validator(agent: str) -> bool:
        return same_actor([agent], names, identity) is not None

    own = work.own_runs(is_validator)
    run, run_outcome = _validation_run(attestation, work, own)
    alone = [*attestation.outcomes, run_outcome]
    if attestation.verdict is not None:
        alone.append(evidence_outcome(attestation.verdict, work, run))
    key = attestation.signer and attestation.signer.key_fingerprint
    side = Side(names, run, key, needs_no_run=_is_person(attestation, root) and run_outcome is None)
    producers: list[Run | None] = [*work.producers(is_validator)]
    for producer in producers or [None]:
        outcomes = list(alone)
        if producer is None:
            outcomes.append(Outcome(Rule.PRODUCER_UNKNOWN, None, shared="no run is known to have produced"))
        else:
            outcomes += _against(side, producer, own, work, root)
            outcomes.append(_runtime_outcome(run, producer) if refuse_same_runtime else None)
        yield _table_row(row, attestation, run, producer, decisive(outcomes))


def _against(side: Side, producer: Run, own: list[Run], work: RoundWork, root: TrustRoot | None) -> Iterator[Outcome]:
    if producer in own and work.changed(producer) is None:
        # Its own run, and the log does not show what it changed: neither a producer nor clear of it.
        yield Outcome(Rule.PRODUCER_UNKNOWN, None, shared=producer.run_id)
        return
    if not producer.agents:
        yield Outcome(Rule.PRODUCER_UNKNOWN, None, shared=f"the agent of run {producer.run_id}")
    other = Side(producer.agents, producer)
    yield from compared(side, other, work.lineage, root)
    for run in own:  # a clean run that is named must not hide one that the producer started
        if run not in (side.run, producer):
            yield from (o for o in lineage_outcomes(run, producer, work.lineage, root) if o.holds is False)


def _runtime_outcome(run: Run | None, producer: Run) -> Outcome | None:
    same = None if run is None else is_same_runtime(run, producer)
    shared = producer.model_id or producer.platform
    return None if same is False else Outcome(Rule.RUNTIME, None if same is None else False, shared=shared)


def _validation_run(attestation: Attestation, work: RoundWork, own: list[Run]) -> tuple[Run | None, Outcome | None]:
    """Find the run in which an attestation was reached, and the outcome when that cannot be told."""
    verdict = attestation.verdict
    if verdict is None or verdict.run_id is None:
        if len(own) == 1:
            return own[0], None
        return None, None if not own else Outcome(Rule.RUN, None, shared="which of its runs it validated in")
    run = work.lineage.run(verdict.run_id)
    if run is None or not run.agents:
        return run, Outcome(Rule.RUN, None, shared=verdict.run_id)
    if run not in own:
        return run, Outcome(Rule.RUN, False, shared=verdict.run_id)
    if None not in (verdict.session_id, run.session_id) and verdict.session_id != run.session_id:
        return run, Outcome(Rule.SESSION, False, shared=verdict.session_id)
    return run, None


def _table_row(
    row: Mapping[str, Any], attestation: Attestation, run: Run | None, producer: Run | None, outcome: Outcome | None
) -> dict[str, Any]:
    signer = attestation.signer
    return {
        **{name: row[name] for name in ("round_id", "form", "result", "path", "file_sha256", "line", "pointer")},
        "validator_id": attestation.validator_id,
        "principal_id": signer.principal if signer else None,
        "key_fingerprint": signer.key_fingerprint if signer else None,
        "attestation_sha256": row["payload_sha256"],
        "validator_run_id": run and run.run_id,
        "producer_run_id": producer and producer.run_id,
        "producer_agent_ids": json.dumps(sorted(producer.agents) if producer else [], ensure_ascii=False),
        "is_signature_verified": attestation.is_signature_verified,
        "is_independent": outcome.holds if outcome else True,
        "rule": outcome and str(outcome.rule),
        "reason_code": outcome and str(outcome.code),
        "shared_value": outcome and outcome.shared,
        "lineage_path": outcome and outcome.path,
        "is_same_runtime": is_same_runtime(run, producer) if run and producer else None,
    }


def _names(attestation: Attestation) -> frozenset[str]:
    names = (attestation.validator_id, attestation.signer and attestation.signer.principal)
    return frozenset(name for name in names if name)


def _is_person(attestation: Attestation, root: TrustRoot | None) -> bool:
    if root is None or attestation.signer is None:
        return False
    principal = root.principal(attestation.signer.principal)
    return principal is not None and principal.kind is Kind.HUMAN
