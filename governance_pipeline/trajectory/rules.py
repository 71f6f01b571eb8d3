"""What the contract of a round says about paths and criteria, read back from `core_rounds` and `core_criteria`.

What belongs here: the rules by which files of a round are placed. What does not: reading `round.toml` (rounds) and
counting anything. Source: spec/ingest.md §2.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import UsageError
from governance_pipeline.rounds.contract import Criterion, Module, RoundContract
from governance_pipeline.rounds.globs import Globs
from governance_pipeline.rounds.modules import ModuleMap
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.reasons import WITHOUT_CONTRACT, Reason
from governance_pipeline.vocabulary import ContractState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd


_PLACING: Final = ("scope_include", "scope_public", "modules", "module_rule")
"""Columns of `core_rounds` that say where a file lies."""


@dataclass(frozen=True, slots=True)
class RoundRules:
    """The rules of one round.

    Attributes:
        round_id: the round.
        state: state of its contract; without a valid one only the default module rule is known.
        include: globs of the scope; None when none is declared.
        public: globs of public boundaries; None when none is declared.
        modules: names the module of a file.
        declares_modules: the contract names modules itself, so that M and H of an event can be held against it.
        contract: its criteria, as far as the fold of evidence reads a contract; None without a valid one.
        placing: what the contract writes of scope, boundaries and modules; rounds that write the same place a file the
            same, so it is placed once for all of them.
    """

    round_id: str
    state: ContractState
    include: Globs | None
    public: Globs | None
    modules: ModuleMap
    declares_modules: bool
    contract: RoundContract | None
    placing: tuple[str | None, ...]

    @property
    def no_contract(self) -> Reason | None:
        """Why the contract says nothing; None when it is valid."""
        return WITHOUT_CONTRACT[self.state]


def rules_of(core_rounds: pd.DataFrame, core_criteria: pd.DataFrame) -> dict[str, RoundRules]:
    """Read the rules of every round; one entry per row of `core_rounds`, by round id."""
    criteria: dict[str, list[Criterion]] = defaultdict(list)
    for row in rows_of(core_criteria, ("round_id", "criterion_id", "is_required")):
        criteria[row["round_id"]].append(Criterion(row["criterion_id"], required=row["is_required"]))
    return {row["round_id"]: _rules(row, tuple(criteria[row["round_id"]])) for row in rows_of(core_rounds)}


def refuse_strangers(rounds: Iterable[str], rules: Mapping[str, RoundRules]) -> None:
    """Refuse events of rounds that `core_rounds` does not have.

    Raises:
        UsageError: there are some; the first five are named.
    """
    strangers = sorted(set(rounds) - set(rules))
    if strangers:
        raise UsageError(f"core_rounds has no row of {strangers[:5]}; give the tables of the same rounds")


def _rules(row: Mapping[str, Any], criteria: tuple[Criterion, ...]) -> RoundRules:
    state = ContractState(row["contract_state"])
    table = _parsed(row["modules"])
    modules = None if table is None else tuple(Module(name, tuple(globs)) for name, globs in table)
    return RoundRules(
        round_id=row["round_id"],
        state=state,
        include=_globs(row["scope_include"]),
        public=_globs(row["scope_public"]),
        modules=ModuleMap(modules, row["module_rule"]),
        declares_modules=table is not None or row["module_rule"] is not None,
        contract=RoundContract(criteria=criteria) if state is ContractState.VALID else None,
        placing=tuple(row[name] for name in _PLACING),
    )


def _globs(text: str | None) -> Globs | None:
    patterns = _parsed(text)
    return None if patterns is None else Globs(patterns)


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text)
