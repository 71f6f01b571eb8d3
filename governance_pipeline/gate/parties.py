"""Who has a part in a round: who produced, who validated, who asks.

What belongs here: the names, from the round's own tables. What does not: whether one of them may approve
(`trust.pair`). The requester is the service principal of the pipeline, never guessed from the user of the machine
(spec/gate.md §1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.contracts.registry import empty_frame
from governance_pipeline.trust.actors import round_actors

if TYPE_CHECKING:
    from governance_pipeline.gate.inputs import RoundInputs

REQUESTER: Final = "service:governance-pipeline"
"""The principal that asks for every decision."""
UNNAMED_RUN: Final = "run:"
"""Prefix of a producer whose log names no agent: it is known by its run only."""


class Parties(NamedTuple):
    """Names as the logs write them, sorted: producers (agents, and runs without an agent), and validators."""

    producers: tuple[str, ...]
    validators: tuple[str, ...]

    @property
    def actors(self) -> tuple[str, ...]:
        """Everybody who must not approve: producers, validators and the requester."""
        return tuple(sorted({*self.producers, *self.validators, REQUESTER}))


def parties_of(inputs: RoundInputs) -> Parties:
    """Collect the parties of a round; no producers means that nobody is known to have made it."""
    tables = [inputs.frame(name) for name in ("core_runs", "core_steps", "core_changes")]
    agents = round_actors(empty_frame("core_attestations"), *tables).get(inputs.round_id, [])
    named = {row["run_id"] for name in ("core_runs", "core_steps") for row in inputs.rows(name) if row["agent_id"]}
    unnamed = {row["run_id"] for row in inputs.rows("core_runs")} - named
    claimed = (row["validator_id"] for row in inputs.rows("core_attestations"))
    signed = (row["principal_id"] for row in inputs.rows("audit_independence"))
    return Parties(
        producers=tuple(sorted({*agents, *(UNNAMED_RUN + run_id for run_id in unnamed)})),
        validators=tuple(sorted({name for name in (*claimed, *signed) if name is not None})),
    )
