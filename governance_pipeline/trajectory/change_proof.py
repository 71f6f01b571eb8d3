"""Proof by mutation that the checks of change events can fail: the same two halves as for every other check.

What belongs here: the mutants of a generated list of files, and what must come of them, through the very counting and
comparing that rounds go through. What does not: the checks (rounds) and the comparison (`comparisons`).
Source: spec/crosscheck.md §4.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pandas as pd

from governance_pipeline.rounds.change_checks import CHANGE_CHECKS
from governance_pipeline.rounds.globs import Globs
from governance_pipeline.rounds.modules import ModuleMap
from governance_pipeline.strict.numbers import EXACT, ZERO, canonical
from governance_pipeline.trajectory.comparisons import compared
from governance_pipeline.trajectory.event_rows import Origin
from governance_pipeline.trajectory.events import Declared, Event
from governance_pipeline.trajectory.files import event_files
from governance_pipeline.trajectory.rules import RoundRules
from governance_pipeline.trajectory.terms import counted
from governance_pipeline.vocabulary import ContractState, DataType, RecordStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from governance_pipeline.trajectory.comparisons import Compared

    Listed = list[tuple[str, int, int]]

CANNOT_FAIL: Final = "check_cannot_fail"
"""Code of a check that survived a mutant (spec/crosscheck.md §4)."""

_FILES: Final[tuple[tuple[tuple[str, int, int], ...], ...]] = (
    (("public/a", 3, 1), ("inner/b", 5, 0)),
    (("public/a", 1, 0), ("public/c", 2, 2), ("lib/d", 9, 2)),
    (("lib/x", 4, 0), ("lib/x", 1, 1), ("inner/b", 7, 3)),
)
"""Files of three events: path, lines added, lines deleted."""

_RULES: Final = RoundRules(
    "proof", ContractState.VALID, None, Globs(["public/**"]), ModuleMap(None, "dir:1"), declares_modules=True,
    contract=None, placing=("public/**", "dir:1"),
)  # fmt: skip


class ChangeProof(NamedTuple):
    """What came of the mutants of one check; members as of a proof of a built-in check."""

    check_id: str
    records: int
    declared_flipped: int
    components_moved: bool

    @property
    def can_fail(self) -> bool:
        """Whether no mutation survived."""
        return 0 < self.records == self.declared_flipped and self.components_moved


def change_proofs() -> list[ChangeProof]:
    """Prove the check of each number a change event carries, in the order F L M P H."""
    sound = _compared([list(files) for files in _FILES])
    return [_proof(field, sound) for field in CHANGE_CHECKS]


def changes_that_cannot_fail(audit_cross_checks: pd.DataFrame) -> pd.DataFrame:
    """Prove the checks of change events that rounds have records of, and return those that survived a mutant.

    Args:
        audit_cross_checks: of any number of rounds; records of other checks are passed over.

    Returns:
        One row per round and check: round_id, check_id, code (``check_cannot_fail``), and what the proof counted.
        Empty when all is well.
    """
    pairs = audit_cross_checks[["round_id", "check_id"]].drop_duplicates()
    used = {check.check_id for check in CHANGE_CHECKS.values()}.intersection(pairs["check_id"])
    survivors = {proof.check_id: proof for proof in change_proofs() if not proof.can_fail} if used else {}
    rows = [
        (round_id, check_id, CANNOT_FAIL, *survivors[check_id][1:])
        for round_id, check_id in zip(pairs["round_id"], pairs["check_id"], strict=True)
        if check_id in survivors
    ]
    columns = ["round_id", "check_id", "code", "records", "declared_flipped", "components_moved"]
    return pd.DataFrame(sorted(rows), columns=columns)


def _proof(field: str, sound: Sequence[dict[str, Compared]]) -> ChangeProof:
    flipped = sum(_is_noticed(field, at, one[field]) for at, one in enumerate(sound))
    before = [one[field].computed for one in sound]
    moved = any([one[field].computed for one in _compared(mutant)] != before for mutant in _mutants())
    return ChangeProof(CHANGE_CHECKS[field].check_id, len(sound), flipped, moved)


def _is_noticed(field: str, at: int, one: Compared) -> bool:
    """Shift one declared number away from the computed one: a mismatch, and the computed number is the same bits."""
    value, epsilon = one.declared.value or ZERO, one.result.epsilon or ZERO
    unit = max(Decimal(1), abs(value) / 1000) if one.data_type is DataType.FLOAT else Decimal(1)
    shifted = canonical(EXACT.add(EXACT.add(value, 2 * epsilon), unit))
    number = shifted if field == "H" else int(shifted)
    found = _compared([list(files) for files in _FILES], {(at, field): number})[at][field]
    return found.result.status is RecordStatus.MISMATCH and found.computed == one.computed


def _mutants() -> Iterator[list[Listed]]:
    """Change one component of every event: a file added, outside and inside the boundary, removed, or a line more."""
    yield [[*files, ("new/never-seen", 17, 4)] for files in _FILES]
    yield [[*files, ("public/never-seen", 17, 4)] for files in _FILES]
    yield [list(files[1:]) for files in _FILES]
    yield [[(path, added + 1, deleted), *files[1:]] for (path, added, deleted), *files in map(list, _FILES)]


def _compared(listed: Sequence[Listed], shifted: dict[tuple[int, str], Any] | None = None) -> list[dict[str, Compared]]:
    """Count and compare as for a round; an event declares what its files give, but for the numbers that are shifted."""
    rows = [
        {"event": at, "file_path": path, "added_count": added, "deleted_count": deleted, "module": None}
        for at, files in enumerate(listed)
        for path, added, deleted in files
    ]
    counts = counted(event_files(_frame(rows), [_RULES] * len(listed)))
    found = []
    for at, count in enumerate(counts):
        right = {"F": count.files, "L": count.churn, "M": count.modules, "P": count.public, "H": repr(count.entropy)}
        changed = {name: value for (event, name), value in (shifted or {}).items() if event == at}
        event = _event(at + 1, Declared(**{**right, **changed}))
        found.append({one.field: one for one in compared(event, count, _RULES)})
    return found


def _event(step: int, numbers: Declared) -> Event:
    return Event("proof", step, Origin.NATIVE, None, None, "changes.jsonl", "0" * 64, step, None, True, numbers)


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    numbers = {"added_count": "Int64", "deleted_count": "Int64"}
    return pd.DataFrame(rows).astype({"event": "int64", "file_path": "string", "module": "string", **numbers})
