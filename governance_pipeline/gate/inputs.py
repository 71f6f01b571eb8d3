"""The bytes a gate releases: read once, hashed, and never read again.

What belongs here: every upstream table of one round, from the content-addressed file in force to the frame that is
used. What does not: what they mean. The frames handed out are made from the very bytes whose digests are compared, so
there is no moment between check and use in which a file could be exchanged (research/security.md row 40).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.contracts.frames import from_arrow
from governance_pipeline.contracts.registry import contract_of, empty_frame
from governance_pipeline.errors import StorageError
from governance_pipeline.gate.gates import ACTION_GATES
from governance_pipeline.gate.parties import Parties, parties_of
from governance_pipeline.gate.proposals import FOLDER, Proposal, kept_proposal
from governance_pipeline.storage import parquet
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import pandas as pd
    import pyarrow as pa

    from governance_pipeline.gate.gates import Gate
    from governance_pipeline.storage.lake import Lake


class Input(NamedTuple):
    """One upstream table of one round: digest and size of its file in bytes, and its rows."""

    sha256: str
    size: int
    rows: pa.Table


class RoundInputs:
    """Every upstream table of one round, as it was read; at a gate of actions the proposal, and no table."""

    def __init__(
        self, gate: Gate, round_id: str, tables: Mapping[str, Input], proposal: Proposal | None = None
    ) -> None:
        """Take what was read; use `read_inputs`, or `proposed_inputs` for the bytes of an act at hand."""
        self.gate = gate
        self.round_id = round_id
        self.tables = tables
        self.proposal = proposal
        self._frames: dict[str, pd.DataFrame] = {}
        self._rows: dict[str, list[dict[str, Any]]] = {}

    @property
    def digests(self) -> dict[str, str]:
        """Table -> digest of its file; of a proposal its own digest."""
        if self.proposal is not None:
            return {FOLDER: self.proposal.sha256}
        return {table: read.sha256 for table, read in self.tables.items()}

    @cached_property
    def parties(self) -> Parties:
        """Who has a part in the round, by its tables; of a proposal, who proposes."""
        return parties_of(self) if self.proposal is None else Parties(tuple(sorted(self.proposal.producers)), ())

    def frame(self, table: str) -> pd.DataFrame:
        """Give a table as a frame with the dtypes of its contract; a proposal has no rows."""
        if self.proposal is not None:
            return empty_frame(table)
        if table not in self._frames:
            self._frames[table] = from_arrow(contract_of(table), self.tables[table].rows)
        return self._frames[table]

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Give the rows of a table, in stored order, null as None; a proposal has none."""
        if self.proposal is not None:
            return []
        if table not in self._rows:
            self._rows[table] = self.tables[table].rows.to_pylist()
        return self._rows[table]


def read_inputs(gate: Gate, round_id: str, lake: Lake) -> RoundInputs:
    """Read every upstream table of a round once and hash it; at a gate of actions the proposal in hand.

    Raises:
        StorageError: a table is not stored, or its bytes are not those its digest names; nothing is proposed.
    """
    if gate.name in ACTION_GATES:
        return proposed_inputs(gate, kept_proposal(lake, gate, round_id))
    return RoundInputs(gate, round_id, {table: _read(table, round_id, lake) for table in gate.upstream})


def proposed_inputs(gate: Gate, proposal: Proposal) -> RoundInputs:
    """Give the inputs of an act that is proposed, made from the bytes it is about to change."""
    return RoundInputs(gate, proposal.subject_id, {}, proposal)


def inputs_or_refusal(gate: Gate, round_id: str, lake: Lake) -> RoundInputs:
    """Read as `read_inputs`.

    Raises:
        Refusal: DIGEST_MISMATCH where that raises a StorageError.
    """
    try:
        return read_inputs(gate, round_id, lake)
    except StorageError as error:
        raise Refusal(ReasonCode.DIGEST_MISMATCH, str(error)) from error


def digests_in_force(gate: Gate, round_id: str, lake: Lake) -> dict[str, str | None]:
    """Give the digests the lake names for every upstream table, None where it has none; no table is read.

    Raises:
        StorageError: at a gate of actions, nothing is proposed.
    """
    if gate.name in ACTION_GATES:
        return {FOLDER: kept_proposal(lake, gate, round_id).sha256}
    return {table: lake.digest(table, round_id) for table in gate.upstream}


def _read(table: str, round_id: str, lake: Lake) -> Input:
    versions = lake.versions(table, round_id)
    found = versions.read_in_force()
    if found is None:
        raise StorageError(f"table {table} of round {round_id} is not in the lake ({versions.folder}); make it first")
    path, data = found  # `read_in_force` has held the bytes to the digest that is the name of the file
    return Input(path.stem, len(data), parquet.arrow_of(table, data, path))
