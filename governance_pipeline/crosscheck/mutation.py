"""Dynamic proof of a check: a changed declared value is always noticed, a changed component moves the computed one.

What belongs here: the mutants and what must come of them. What does not: the static proof (`crosscheck.independence`)
and the rows of a check that has none (`crosscheck.generated`).

Every aggregate is a function of the rows of one source, so the mutation tried on components is one more row: it needs
no second reading of the sources and no row kept. Its values are small, large, zero and of either sign, so that it is
not lost in a float, between the extremes or in a factor; its texts were not seen before.

Source: spec/crosscheck.md §4.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.crosscheck.formula import ALL_ROWS
from governance_pipeline.crosscheck.generated import generated_run
from governance_pipeline.crosscheck.record_sets import VERIFIABLE, smallest
from governance_pipeline.crosscheck.rows import ComponentRow, DeclaredRow, Value
from governance_pipeline.strict.numbers import EXACT, ZERO, canonical
from governance_pipeline.vocabulary import DataType, RecordStatus, UnknownReason, ValueKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from governance_pipeline.crosscheck.check import Check
    from governance_pipeline.crosscheck.engine import CheckRun
    from governance_pipeline.crosscheck.formula import Formula
    from governance_pipeline.crosscheck.policy import EpsilonPolicy
    from governance_pipeline.crosscheck.record import CrossCheckRecord
    from governance_pipeline.crosscheck.record_sets import Records

SCHEMA: Final = "govern/crosscheck-proof/v1"
CANNOT_FAIL: Final = "check_cannot_fail"
"""Code of a check that survived a mutation."""

SAMPLE_RECORDS: Final = 200
"""Verifiable records with the smallest record_id each check of a batch is proved on (spec/crosscheck.md §4)."""

_EXPONENTS: Final = {0, 9, 18, 27, 35}
_FLOAT_EXPONENTS: Final = {60, 150, 290}
"""Powers of ten a mutant value is scaled by, beside that of the computed number; beyond 37 only a float holds it."""

_FACTORS: Final = (3, 5, 7, 11, 13, 17, 19, 23)
"""Different per column, so that no two columns of a formula cancel each other."""


class Flipped(NamedTuple):
    """How many declared values could be shifted, and how many of them were a mismatch then."""

    tried: int
    noticed: int


@dataclass(frozen=True, slots=True)
class MutationProof:
    """What came of the mutants of one check.

    Attributes:
        check_id: the check.
        records: records whose declared value was shifted: verifiable ones, generated ones where there are none.
        declared_flipped: how many of them were a mismatch then, with the computed number bit-identical.
        components_moved: whether the computed number of a record moved with a component.
    """

    check_id: str
    records: int
    declared_flipped: int
    components_moved: bool

    @property
    def declared_noticed(self) -> bool:
        """Whether every shifted value was noticed; nothing shifted is no proof."""
        return 0 < self.records == self.declared_flipped

    @property
    def can_fail(self) -> bool:
        """Whether no mutation survived."""
        return self.declared_noticed and self.components_moved

    def to_json(self) -> dict[str, Any]:
        """Return the entry of this check in ``govern/crosscheck-proof/v1``."""
        return {
            "check_id": self.check_id,
            "records": self.records,
            "declared_flipped": self.declared_flipped,
            "components_moved": self.components_moved,
            "can_fail": self.can_fail,
        }


def prove(
    run: CheckRun,
    records: Records,
    policy: EpsilonPolicy,
    limit: int | None = SAMPLE_RECORDS,
    counted: Flipped | None = None,
) -> MutationProof:
    """Try the mutants of one check.

    Args:
        run: the check with the component totals of at least the sampled subjects; it is not changed.
        records: all records of the check.
        policy: epsilon policy in force.
        limit: records whose declared value is shifted, those with the smallest record_id; None shifts all. Components
            are changed on at most `SAMPLE_RECORDS`: one that moves is enough.
        counted: what shifting them gave, where that was found out while the records were made.
    """
    sample = smallest(records, SAMPLE_RECORDS, VERIFIABLE)
    if counted is None:
        shifted = (
            [record for record in records if record.status in VERIFIABLE]
            if limit is None
            else smallest(records, limit, VERIFIABLE)
        )
        counted = flipped(run, shifted)
    tried, noticed = counted
    moved = _moves(run, sample)
    if not tried:
        made, made_records = generated_run(run.check, policy)
        tried, noticed = flipped(made, made_records)
        moved = moved if sample else _moves(made, made_records)
    return MutationProof(run.check.id, tried, noticed, moved)


def prove_generated(check: Check, policy: EpsilonPolicy) -> MutationProof:
    """Prove a check on generated rows alone."""
    run, records = generated_run(check, policy)
    return MutationProof(check.id, *flipped(run, records), _moves(run, records))


def proof_document(proofs: Sequence[MutationProof]) -> dict[str, Any]:
    """Return the document of ``govern crosscheck prove``, by check id."""
    ordered = sorted(proofs, key=lambda proof: proof.check_id)
    return {"schema": SCHEMA, "checks": [proof.to_json() for proof in ordered]}


def shifted_records(run: CheckRun, records: Sequence[CrossCheckRecord]) -> list[CrossCheckRecord]:
    """Return the records of verifiable declared values moved by 2·epsilon + one unit, away from the computed one."""
    return run.records([_shifted(record) for record in records], with_undeclared=False)


def flipped(run: CheckRun, records: Sequence[CrossCheckRecord]) -> Flipped:
    """Return how many of these verifiable declared values could be shifted, and how many became a mismatch then."""
    before = {record.record_id: record for record in records}
    tried = noticed = 0
    for after in shifted_records(run, records):
        if after.reason_code is UnknownReason.OVERFLOW:
            continue  # a shifted value that does not fit proves nothing
        old = before[after.record_id]
        tried += 1
        is_same = (after.computed, after.components_digest) == (old.computed, old.components_digest)
        noticed += is_same and after.status is RecordStatus.MISMATCH
    return Flipped(tried, noticed)


def _shifted(record: CrossCheckRecord) -> DeclaredRow:
    assert record.declared is not None
    assert record.computed is not None
    assert record.epsilon is not None
    declared, computed, epsilon = Decimal(record.declared), Decimal(record.computed), Decimal(record.epsilon)
    unit = Decimal(1)
    if record.data_type is DataType.FLOAT:
        unit = max(unit, EXACT.scaleb(declared.copy_abs(), -3))  # one thousandth: a float cannot lose it
    step = EXACT.add(EXACT.multiply(epsilon, Decimal(2)), unit)
    value = EXACT.add(declared, step if declared >= computed else step.copy_negate())
    return DeclaredRow(record.subject_id, Value(ValueKind.NUMBER, canonical(value)), *record.declared_pointer)


def _moves(run: CheckRun, records: Sequence[CrossCheckRecord]) -> bool:
    """Whether one more component row moves the computed number of any record."""
    return any(
        after.computed is not None and after.computed != record.computed
        for record in records
        for row in _mutants(run.check, record)
        for after in run.alone(record.subject_id).fed([row]).records([_as_it_was(record)], with_undeclared=False)
    )


def _as_it_was(record: CrossCheckRecord) -> DeclaredRow:
    return DeclaredRow(record.subject_id, Value(ValueKind.NUMBER, record.declared), *record.declared_pointer)


def _mutants(check: Check, record: CrossCheckRecord) -> Iterator[ComponentRow]:
    assert record.subject_id is not None
    size = Decimal(record.computed or 0).adjusted() + 1
    exponents = _EXPONENTS | {size} | (_FLOAT_EXPONENTS if check.data_type is DataType.FLOAT else set())
    for source in sorted(check.formula.sources):
        for number, values in enumerate(_values(check.formula, source, sorted(exponents))):
            counted = {
                column.name: Value(ValueKind.TEXT, f"not seen before {number}")
                for column in check.formula.columns
                if column.source == source and column.name not in values and column.name != ALL_ROWS
            }
            yield ComponentRow(record.subject_id, source, 1, {**counted, **values})


def _values(formula: Formula, source: str, exponents: list[int]) -> Iterator[dict[str, Value]]:
    """Numbers for the columns of one source that are read as numbers; one empty row where there are none."""
    names = sorted(formula.numeric_columns(source))
    if not names:
        yield {}
        return
    yield dict.fromkeys(names, Value(ValueKind.NUMBER, canonical(ZERO)))
    for exponent in exponents:
        for sign in (1, -1):
            numbers = (EXACT.scaleb(Decimal(sign * _FACTORS[i % len(_FACTORS)]), exponent) for i in range(len(names)))
            yield {name: Value(ValueKind.NUMBER, canonical(n)) for name, n in zip(names, numbers, strict=True)}
            for alone in names if len(names) > 1 else ():
                one = EXACT.scaleb(Decimal(sign), exponent)
                yield {name: Value(ValueKind.NUMBER, canonical(one if name == alone else ZERO)) for name in names}
