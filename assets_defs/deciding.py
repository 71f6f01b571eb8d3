"""The asset `gate_decisions`: shows per round whether the gate is open, and is made only where it is.

What belongs here: the two blocking checks of that asset and the order of its events. What does not: the decision, which
the gate makes, and the control, which is in the gated assets: whatever is shown here, they ask again.
"""

import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import dagster as dg
import pandas as pd

from assets_defs.case_checks import open_rows
from assets_defs.check_status import Judged, judged_rows, result_of
from assets_defs.partitions import rounds
from assets_defs.recording import metadata_of
from assets_defs.resources import Gatekeeper
from assets_defs.tables import DECISIONS, REQUESTS
from governance_pipeline.contracts.registry import empty_frame
from governance_pipeline.errors import GovernError
from governance_pipeline.gate.cases import Cases
from governance_pipeline.gate.facts import failed_facts, judged_again
from governance_pipeline.gate.gates import GATES
from governance_pipeline.gate.inputs import read_inputs
from governance_pipeline.gate.passage import Verifier
from governance_pipeline.gate.states import State
from governance_pipeline.gate.tables import gate_decisions, gate_requests, gate_states
from governance_pipeline.pipeline import joined, split
from governance_pipeline.storage.lake import Lake
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trust.reasons import ReasonCode, Refusal

OPEN = "OPEN"
FACT_COLUMNS = [
    "validator_id",
    "producer_run_id",
    "is_independent",
    "rule",
    "reason_code",
    "shared_value",
    "lineage_path",
]

Yielded = Iterator[dg.AssetCheckResult | dg.MaterializeResult[Any]]


class Standing(NamedTuple):
    """Where a round stands at the gate.

    Attributes:
        state: OPEN, or the state of its request (PENDING, BLOCKED_POLICY, …); MISSING when nothing can be asked.
        reason: why it is closed, after the reason code; empty when it is open.
        rows: the decisions that open it, as in `gate_decisions`.
    """

    state: str
    reason: str
    rows: pd.DataFrame

    @property
    def is_open(self) -> bool:
        """Whether the gate was open when it was asked."""
        return self.state == OPEN


def decided(context: dg.AssetExecutionContext, lake: Lake, keeper: Gatekeeper) -> Yielded:
    """Show whether the gate is open for each round of this run; make the table only when it is for all of them.

    Raises:
        dg.Failure: the gate is closed for a round; nothing was made, and no retry helps.
    """
    found = standings(lake, keeper, context.partition_keys)
    closed = {key: standing for key, standing in found.items() if not standing.is_open}
    if not closed and dg.AssetKey(DECISIONS) in context.selected_asset_keys:
        for round_id, standing in found.items():
            _store(context, lake, round_id, standing)
        yield dg.MaterializeResult(asset_key=DECISIONS)  # first, so that the checks are about this materialization
    facts = {round_id: _independence(lake, keeper, round_id) for round_id in context.partition_keys}
    cases = {round_id: _cases(lake, keeper, round_id) for round_id in context.partition_keys}
    shown = ({key: _judged(standing) for key, standing in found.items()}, facts, cases)
    for spec, judged in zip(CHECK_SPECS, shown, strict=True):
        if spec.key in context.selected_asset_check_keys:
            yield result_of(context, spec, judged)
    if closed:
        raise refused({key: standing.reason for key, standing in closed.items()})


def standings(lake: Lake, keeper: Gatekeeper, round_ids: Sequence[str]) -> dict[str, Standing]:
    """Ask for each round whether the gate is open, using nothing; whatever goes wrong is a closed gate."""
    try:
        return _standings(keeper.verifier(lake), keeper, round_ids)
    except GovernError as error:
        return dict.fromkeys(round_ids, _closed(error))


def refused(reasons: Mapping[str, str]) -> dg.Failure:
    """Make the failure of a step that was refused: each round with its reason; no retry opens a gate."""
    shown = {excerpt(key): excerpt(reason, 600) for key, reason in reasons.items()}
    said = "; ".join(f"{round_id}: {reason}" for round_id, reason in shown.items())
    return dg.Failure(
        f"the gate is closed, nothing was made: {said}",
        metadata={"refused_rounds": dg.MetadataValue.json(shown)},
        allow_retries=False,
    )


def spec_of_check(name: str, description: str) -> dg.AssetCheckSpec:
    """Make a blocking check of `gate_decisions`, per round."""
    with warnings.catch_warnings():  # partitioned checks are a preview in the pinned version (decision 0003)
        warnings.simplefilter("ignore", dg.PreviewWarning)
        return dg.AssetCheckSpec(name, asset=DECISIONS, description=description, blocking=True, partitions_def=rounds)


CHECK_SPECS = (
    spec_of_check("human_approval", "Decisions that count, by people with no part in the round, cover its bytes now."),
    spec_of_check("validator_is_independent", "Every validator of the round is independent, judged by the root now."),
    spec_of_check("no_open_mismatch", "Each mismatch of the round was resolved by a person, in a way that counts now."),
)


def _standings(verifier: Verifier, keeper: Gatekeeper, round_ids: Sequence[str]) -> dict[str, Standing]:
    decisions = [gate_decisions(gate, round_ids, verifier, keeper.now()) for gate in GATES.values()]
    parts = split(joined(DECISIONS, decisions), round_ids)
    is_open = {round_id: part["gate"].nunique() == len(GATES) for round_id, part in parts.items()}
    closed = [round_id for round_id in round_ids if not is_open[round_id]]
    requests = gate_requests(closed, verifier, keeper.now()) if closed else empty_frame(REQUESTS)
    in_force = {row["round_id"]: row for row in requests.to_dict("records") if row["state"] != State.SUPERSEDED}
    silent = [key for key, row in in_force.items() if pd.isna(row["code"])]
    refusals = _refusals(verifier, keeper, silent)
    return {
        round_id: Standing(OPEN, "", part)
        if is_open[round_id]
        else _awaiting(in_force.get(round_id), round_id, part, refusals.get(round_id))
        for round_id, part in parts.items()
    }


def _refusals(verifier: Verifier, keeper: Gatekeeper, round_ids: Sequence[str]) -> dict[str, str]:
    """Return round -> why passage is refused, for requests whose own state names no reason (a freeze after use)."""
    states = [state for gate in GATES.values() for state in gate_states(gate, round_ids, verifier, keeper.now())]
    return {state.round_id: f"{state.code}: {state.message}" for state in states if state.code is not None}


def _awaiting(
    request: Mapping[Hashable, Any] | None, round_id: str, rows: pd.DataFrame, refusal: str | None
) -> Standing:
    """Say where the request in force about a round stands."""
    if request is None:
        return Standing(str(ReasonCode.MISSING), f"MISSING: nobody was asked about round {round_id}", rows)
    state, code = str(request["state"]), request["code"]
    if pd.isna(code):  # without a refusal it was decided this very moment; whoever runs now is told by the guard
        return Standing(state, refusal or f"{state}: look again", rows)
    hint = f"; look with `govern gate show {request['request_id']}`" if state == State.PENDING else ""
    return Standing(state, f"{code}: {str(request['message']).removeprefix(f'{code}: ')}{hint}", rows)


def _closed(error: GovernError) -> Standing:
    code = error.code if isinstance(error, Refusal) else ReasonCode.INTERNAL
    return Standing(str(code), f"{code}: {str(error).removeprefix(f'{code}: ')}", pd.DataFrame())


def _store(context: dg.AssetExecutionContext, lake: Lake, round_id: str, standing: Standing) -> None:
    metadata = metadata_of(lake, DECISIONS, round_id, lake.put(DECISIONS, round_id, standing.rows))
    people = sorted(set(standing.rows["approver_id"]))
    metadata["approved_by"] = dg.MetadataValue.json([excerpt(name) for name in people])
    context.add_asset_metadata(metadata, asset_key=DECISIONS, partition_key=round_id)


def _judged(standing: Standing) -> Judged:
    texts = {"state": standing.state, **({} if standing.is_open else {"reason": excerpt(standing.reason, 600)})}
    return Judged(standing.is_open, {name: dg.MetadataValue.text(text) for name, text in texts.items()})


def _cases(lake: Lake, keeper: Gatekeeper, round_id: str) -> Judged:
    """Judge the mismatches of a round by the ledger; what cannot be judged does not hold."""
    try:
        return judged_rows(open_rows(lake, Cases(keeper.verifier(lake), keeper.now()), round_id))
    except GovernError as error:
        return _judged(_closed(error))


def _independence(lake: Lake, keeper: Gatekeeper, round_id: str) -> Judged:
    """Judge the validators of a round by its table and anew; what cannot be judged does not hold."""
    try:
        verifier, gates = keeper.verifier(lake), list(GATES.values())
        inputs = read_inputs(gates[0], round_id, lake)
        again = judged_again(inputs, verifier.root, verifier.policy, keeper.now(), lake.root)
        failed = [*failed_facts(inputs.rows("audit_independence")), *failed_facts(again)]
        return judged_rows(pd.DataFrame(failed, columns=FACT_COLUMNS).drop_duplicates())
    except GovernError as error:
        return _judged(_closed(error))
