"""Both proofs of the built-in checks: over the declared values and components of rounds, and on generated rows.

What belongs here: which rows of the tables a check is proved on. What does not: the proofs themselves
(`crosscheck.independence`, `crosscheck.mutation`). Source: spec/crosscheck.md §4.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.crosscheck.builtin import component_rows, declared_row
from governance_pipeline.crosscheck.catalogue import catalogue
from governance_pipeline.crosscheck.engine import CheckRun
from governance_pipeline.crosscheck.mutation import CANNOT_FAIL, SAMPLE_RECORDS, MutationProof, prove, prove_generated
from governance_pipeline.crosscheck.policy import shipped_epsilon_policy
from governance_pipeline.errors import UsageError
from governance_pipeline.vocabulary import RecordStatus

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from governance_pipeline.crosscheck.catalogue import CatalogueEntry
    from governance_pipeline.crosscheck.check import Check

COLUMNS: Final = ("round_id", "check_id", "code", "records", "declared_flipped", "components_moved")


def catalogue_proofs(only: Collection[str] | None = None) -> list[MutationProof]:
    """Prove built-in checks on generated rows, each once per process.

    Args:
        only: ids of the checks; None proves every one. Others than those of the catalogue are passed over.

    Raises:
        UsageError: a check of the catalogue reads what is declared; names it.
    """
    entries = [entry for entry in catalogue().entries if only is None or entry.check.id in only]
    for entry in entries:
        for code, message in entry.lineage.faults:
            raise UsageError(f"built-in check {entry.check.id}: {code}: {message}")
    return [_generated(entry.check) for entry in entries]


def checks_that_cannot_fail(
    core_declared: pd.DataFrame, core_components: pd.DataFrame, audit_cross_checks: pd.DataFrame
) -> pd.DataFrame:
    """Prove each built-in check of each round on its records and return those that survived a mutation.

    A check is proved on a sample of its verifiable records of the round, on generated rows where it has none.

    Args:
        core_declared: of any number of rounds.
        core_components: of the same rounds.
        audit_cross_checks: of the same rounds; records of checks that are not in the catalogue are passed over.

    Returns:
        One row per round and check: round_id, check_id, code (``check_cannot_fail`` or the load code of a formula
        that is not independent), and what the proof counted. Empty when all is well.
    """
    rows = [
        row
        for round_id, checks in audit_cross_checks.groupby("round_id", sort=True)
        for row in _survivors(
            str(round_id),
            core_declared[core_declared["round_id"] == round_id],
            core_components[core_components["round_id"] == round_id],
            checks,
        )
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _survivors(
    round_id: str, declared: pd.DataFrame, components: pd.DataFrame, checks: pd.DataFrame
) -> Iterator[tuple[Any, ...]]:
    entries = [e for e in catalogue().entries if e.check.id in set(checks["check_id"])]
    samples = {entry.check.id: _sample(checks, entry.check.id) for entry in entries}
    subjects = {subject for sample in samples.values() for subject in sample["subject_id"]}
    declared = declared[declared["subject_id"].isin(subjects)]
    parts = component_rows(components[components["subject_id"].isin(subjects)])
    for entry in entries:
        sample = samples[entry.check.id]
        proof = _proof(entry, round_id, declared, parts, set(sample["record_id"]), set(sample["subject_id"]))
        codes = [code for code, _ in entry.lineage.faults] + ([] if proof.can_fail else [CANNOT_FAIL])
        for code in codes:
            yield round_id, proof.check_id, code, proof.records, proof.declared_flipped, proof.components_moved


def _sample(checks: pd.DataFrame, check_id: str) -> pd.DataFrame:
    """The verifiable records of a check with the smallest ids, the same as `mutation.smallest` takes."""
    verifiable = (checks["check_id"] == check_id) & (checks["status"] != str(RecordStatus.UNVERIFIABLE))
    return checks[verifiable].sort_values("record_id").head(SAMPLE_RECORDS)


def _proof(
    entry: CatalogueEntry, round_id: str, declared: pd.DataFrame, parts: Any, ids: set[str], subjects: set[str]
) -> MutationProof:
    check, policy = entry.check, shipped_epsilon_policy()
    if not ids:
        return _generated(check)
    rows = [row for subject in subjects for row in parts.get((round_id, entry.format, subject), [])]
    run = CheckRun(check, policy, round_id).fed(sorted(rows, key=lambda row: (row.source, row.line)))
    claims = declared[(declared["format"] == entry.format) & (declared["field"] == check.field)]
    records = run.records([declared_row(row) for row in plain_rows(claims)], with_undeclared=False)
    return prove(run, [record for record in records if record.record_id in ids], policy)


@cache
def _generated(check: Check) -> MutationProof:
    return prove_generated(check, shipped_epsilon_policy())
