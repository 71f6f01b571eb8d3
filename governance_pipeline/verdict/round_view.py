"""One round as detectors see it: its rows, its contract, and the policy in force for it.

What belongs here: access to tables by round, and what more than one detector asks of them. What does not: what follows
from a row. Rows are plain dicts with None for null. Nothing here reads a file or a clock.
"""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from governance_pipeline.contracts.frames import plain_rows, to_arrow
from governance_pipeline.contracts.registry import contract_of
from governance_pipeline.errors import PolicyError, UsageError
from governance_pipeline.rounds.contract import Mode
from governance_pipeline.rounds.evidence import Evidence, EvidenceState, last_states
from governance_pipeline.vocabulary import ContractState, Disposition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pandas as pd
    import pyarrow as pa

    from governance_pipeline.verdict.calibration import Records
    from governance_pipeline.verdict.policy_document import Policy

    Tables = Mapping[str, pd.DataFrame]
    Row = Mapping[str, Any]

Made = TypeVar("Made")

INPUTS: Final = (
    "raw_log_files",
    "raw_quarantine",
    "core_rounds",
    "core_criteria",
    "core_steps",
    "core_declared",
    "core_file_changes",
    "core_change_facts",
    "core_changes",
    "core_evidence",
    "audit_cross_checks",
    "audit_integrity",
    "audit_independence",
    "features_step_surface",
    "features_round",
    "features_amplification",
    "features_graph_surface",
    "features_conformal",
)
"""Every table a verdict is made from."""

FOLDER_INPUTS: Final = ("audit_registry", "audit_rebaseline")
"""Tables of the governed folder a verdict reads as they stand when it is made; of no single round."""

NO_FOLDER: Final[Mapping[str, pd.DataFrame]] = MappingProxyType({})
"""There is no governed folder, so nothing is registered and no re-baseline can be due by it."""

NOT_CALIBRATED: Final[Records] = MappingProxyType({})
"""No signal is calibrated."""

CONTRACT_FILE: Final = "round.toml"
EVIDENCE_FILE: Final = "evidence.jsonl"


class RowsByRound:
    """Tables of any number of rounds, read one round at a time; a table nobody asks for costs nothing.

    Held as Arrow: cutting one round out of a pandas frame costs milliseconds, out of an Arrow table next to nothing.
    """

    def __init__(self, tables: Tables, inputs: Iterable[str] = INPUTS, folder: Tables = NO_FOLDER) -> None:
        """Take the tables, and those of the governed folder.

        Raises:
            UsageError: one of `inputs` is missing. A missing table is not an empty one: it would hide what it holds.
        """
        missing = [table for table in inputs if table not in tables]
        if missing:
            raise UsageError(f"a verdict needs the tables {', '.join(missing)}; make them first")
        self._tables = tables
        self._folder = folder
        self._sorted: dict[str, pa.Table] = {}
        self._bounds: dict[str, dict[str, tuple[int, int]]] = {}

    @property
    def round_ids(self) -> list[str]:
        """Rounds at hand, sorted."""
        return sorted(str(round_id) for round_id in self._tables["core_rounds"]["round_id"])

    def whole(self, table: str) -> pa.Table:
        """Give a table with the rows of each round together, in stored order."""
        if table not in self._sorted:
            frame = self._tables[table].sort_values("round_id", kind="stable", ignore_index=True)
            self._sorted[table] = to_arrow(contract_of(table), frame)
            positions = frame.groupby("round_id", sort=False).indices
            self._bounds[table] = {str(key): (int(at[0]), int(at[-1]) + 1) for key, at in positions.items()}
        return self._sorted[table]

    def bounds(self, table: str, round_id: str) -> tuple[int, int]:
        """Give the first position of a round's rows in `whole` and the one after the last."""
        self.whole(table)
        return self._bounds[table].get(round_id, (0, 0))

    def part(self, table: str, round_id: str) -> pa.Table:
        """Give the rows of one round, in stored order, columns as the contract of the table."""
        first, end = self.bounds(table, round_id)
        return self.whole(table).slice(first, end - first)

    def folder_rows(self, table: str) -> list[dict[str, Any]]:
        """Give the rows of a table of the governed folder, null as None; none where there is no such folder."""
        if table not in FOLDER_INPUTS:
            raise KeyError(table)
        frame = self._folder.get(table)
        return [] if frame is None else plain_rows(frame)


class RoundView:
    """One round and what its contract makes of it.

    A contract whose `[policy]` is looser than the policy document is refused here as invalid (spec/verdict.md §2):
    whatever depends on it is then as unknown as without one.
    """

    def __init__(
        self, source: RowsByRound, round_id: str, policy: Policy, calibrations: Records = NOT_CALIBRATED
    ) -> None:
        """Look at the round `round_id` of `source` under a policy document, with the calibrations in force."""
        self._source = source
        self.round_id = round_id
        self.calibrations = calibrations
        self._document = policy

        self._rows: dict[str, list[dict[str, Any]]] = {}
        self._made: dict[Callable[[RoundView], Any], Any] = {}

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Give the rows of a table of this round, null as None."""
        if table not in self._rows:
            self._rows[table] = self.part(table).to_pylist()
        return self._rows[table]

    def folder_rows(self, table: str) -> list[dict[str, Any]]:
        """Give the rows of one of `FOLDER_INPUTS`, whichever round they concern, null as None."""
        return self._source.folder_rows(table)

    def once(self, make: Callable[[RoundView], Made]) -> Made:
        """Give what `make` makes of this round; made at the first question, because several detectors ask."""
        if make not in self._made:
            self._made[make] = make(self)
        made: Made = self._made[make]
        return made

    def part(self, table: str) -> pa.Table:
        """Give the rows of a table of this round as an Arrow table."""
        return self._source.part(table, self.round_id)

    def values(self, table: str, column: str) -> list[Any]:
        """Give one column of a table of this round; for tables too long to be turned into rows for one column."""
        values: list[Any] = self.part(table)[column].to_pylist()
        return values

    @cached_property
    def row(self) -> Row:
        """The round's row of `core_rounds`."""
        return self.rows("core_rounds")[0]

    @cached_property
    def _in_force(self) -> tuple[Policy, str | None]:
        if self.row["contract_state"] != ContractState.VALID:
            return self._document, self.row["contract_fault"]
        switch, files, churn = (
            self.row[name] for name in ("goal_substitution", "material_files_count", "material_churn_count")
        )
        try:
            return self._document.tightened(switch, files, churn), None
        except PolicyError as error:
            return self._document, f"policy_loosened: {error}"

    @property
    def policy(self) -> Policy:
        """The policy document, tightened by the contract."""
        return self._in_force[0]

    @property
    def contract_fault(self) -> str | None:
        """Why the contract is invalid; None when it is valid or absent."""
        return self._in_force[1]

    @property
    def contract_state(self) -> ContractState:
        """State of the contract under this policy."""
        if self.row["contract_state"] == ContractState.VALID and self.contract_fault is not None:
            return ContractState.INVALID
        return ContractState(self.row["contract_state"])

    @property
    def has_contract(self) -> bool:
        """Whether there is a valid contract."""
        return self.contract_state == ContractState.VALID

    def promised(self, column: str) -> Any:
        """What the contract says in a column of `core_rounds`; None when it is silent, invalid or absent."""
        return self.row[column] if self.has_contract else None

    @property
    def mode(self) -> Mode:
        """How strictly gaps are judged; quick without a valid contract."""
        return Mode(self.promised("mode") or Mode.QUICK)

    @property
    def parent_round_id(self) -> str | None:
        """The round this one continues."""
        parent: str | None = self.promised("parent_round_id")
        return parent

    @cached_property
    def parent_row(self) -> Row | None:
        """Row of `core_rounds` of the round this one continues; None without one, or when it is not at hand."""
        parent = self.parent_round_id
        rows = [] if parent is None else self._source.part("core_rounds", parent).to_pylist()
        return rows[0] if rows else None

    @cached_property
    def criteria(self) -> list[dict[str, Any]]:
        """Rows of `core_criteria`; none without a valid contract."""
        return self.rows("core_criteria") if self.has_contract else []

    @cached_property
    def evidence(self) -> list[dict[str, Any]]:
        """Rows of `core_evidence` by step and line."""
        return sorted(self.rows("core_evidence"), key=lambda row: (row["step_index"], row["line"] or 0))

    @cached_property
    def last_evidence(self) -> dict[str, dict[str, Any]]:
        """Criterion id -> the record that decides it."""
        records = {(row["step_index"], row["line"] or 0): row for row in self.evidence}
        folded = last_states(
            Evidence(step, line, row["criterion_id"], EvidenceState(row["state"]), row["strength"])
            for (step, line), row in records.items()
        )
        return {criterion: records[last.step, last.line] for criterion, last in folded.items()}

    @cached_property
    def steps_by_command(self) -> dict[str, list[dict[str, Any]]]:
        """Command without blanks around it -> steps that ran it, in stored order."""
        known: dict[str, list[dict[str, Any]]] = {}
        for row in self.rows("core_steps"):
            if row["command"] is not None:
                known.setdefault(row["command"].strip(), []).append(row)
        return known

    @cached_property
    def output_digests(self) -> frozenset[str]:
        """Digests, computed at ingest, of every output the logs hold or name."""
        columns = ("output_result_sha256", "output_file_sha256")
        return frozenset(digest for name in columns for digest in self.values("core_steps", name)) - {None}

    @cached_property
    def quarantined(self) -> dict[str, list[dict[str, Any]]]:
        """Path -> records of the file that could not be used, in file order."""
        broken: dict[str, list[dict[str, Any]]] = {}
        for row in self.rows("raw_quarantine"):
            if row["disposition"] == Disposition.QUARANTINED:
                broken.setdefault(row["path"], []).append(row)
        return broken

    @property
    def lost_evidence(self) -> int:
        """Lines of evidence.jsonl that could not be used: each may be the last word on any criterion."""
        return len(self.quarantined.get(EVIDENCE_FILE, ()))
