"""The guardian of a run: five structural tests run on it, eight claims it bears out, pass or block.

What belongs here: running the structural tests over a batch that is ready. What does not: what a claim needs
(`crosscheck.report_claims`), the validator itself, and the layout of the report.

Nothing here is a constant: a test that did not run has no result, and a batch without a record of some check is tested
on a generated one, so that no test passes for want of cases. Source: spec/crosscheck.md §7.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.crosscheck.generated import generated_run
from governance_pipeline.crosscheck.mutation import SAMPLE_RECORDS, shifted_records
from governance_pipeline.crosscheck.record_sets import counts_of, smallest
from governance_pipeline.crosscheck.report import all_records, check_set_member, escalation_members, field_members
from governance_pipeline.crosscheck.report_claims import EPSILON_CODES, PASS, expected_claims, guardian_of
from governance_pipeline.crosscheck.report_field import field_rules
from governance_pipeline.crosscheck.report_record import record_faults
from governance_pipeline.crosscheck.report_validator import body_violations
from governance_pipeline.crosscheck.stored_records import StoredRecords
from governance_pipeline.crosscheck.stored_violations import accepted_mutants, stored_violations
from governance_pipeline.errors import UnreadableError
from governance_pipeline.strict.files import open_regular
from governance_pipeline.vocabulary import Action, RecordStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from governance_pipeline.crosscheck.batch import Batch
    from governance_pipeline.crosscheck.check import Check
    from governance_pipeline.crosscheck.record import CrossCheckRecord
    from governance_pipeline.crosscheck.report_field import FieldRules
    from governance_pipeline.crosscheck.report_shape import Violation
    from governance_pipeline.crosscheck.source import Source
    from governance_pipeline.crosscheck.sources import SourceAccount

_BLOCK_BYTES: Final = 2**20


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the proofs and the validator say of a batch.

    Attributes:
        structural_tests: results of the five tests, by name.
        validation: the eight claims, by name.
        guardian: pass or block.
        codes: codes of the violations found in the report.
    """

    structural_tests: Mapping[str, bool]
    validation: Mapping[str, bool]
    guardian: str
    codes: frozenset[str]

    @property
    def is_blocked(self) -> bool:
        """Whether the guardian blocks the batch."""
        return self.guardian != PASS


def judge(batch: Batch) -> Judgement:
    """Run the structural tests on a batch and return what its report may claim."""
    check_set, fields = check_set_member(batch), field_members(batch)
    codes = {violation.code for violation in _violations(batch, check_set, fields)}
    proofs, lineage = batch.proofs.values(), batch.check_set.lineage.values()
    tests = {
        "injected_mismatch_flagged": all(proof.declared_noticed for proof in proofs),
        "silent_overwrite_rejected": _is_overwriting_refused(batch, fields) and _are_sources_unchanged(batch),
        "epsilon_justified": not codes & EPSILON_CODES,
        "recompute_independent": all(proof.is_independent for proof in lineage)
        and all(proof.components_moved for proof in proofs),
    }
    tests["validator_passed"] = not codes and all(tests.values())
    if not all(tests.values()):
        codes.add("structural_test_false")
    claims = expected_claims(fields, codes, tests)
    return Judgement(tests, claims, guardian_of(claims), frozenset(codes))


def _violations(batch: Batch, check_set: dict[str, Any], fields: list[dict[str, Any]]) -> Iterator[Violation]:
    """What the validator says of the report; records that are stored are looked at as a set."""
    stored = {name: records for name, records in batch.records.items() if isinstance(records, StoredRecords)}
    if len(stored) == len(batch.records) and stored:
        return stored_violations(check_set, fields, stored, escalation_members(batch))
    records = (record.to_json() for record in all_records(batch))
    return body_violations(check_set, fields, records, escalation_members(batch))


def _is_overwriting_refused(batch: Batch, fields: list[dict[str, Any]]) -> bool:
    """Whether the validator refuses each overwritten record, and each mismatch whose declared became the computed."""
    sources = {source["name"]: source for source in check_set_member(batch)["sources"]}
    rules = {field["check_id"]: field_rules(field, sources, batch.check_set.policy) for field in fields}
    return all(_is_refused_throughout(check, batch, rules[check.id]) for check in batch.check_set.checks)


def _is_refused_throughout(check: Check, batch: Batch, rules: FieldRules | None) -> bool:
    """Every record is tried; of stored ones, SQL tries each and a sample shows the code of the refusal."""
    if rules is None:
        return False
    records = batch.records[check.id]
    tried: Iterable[CrossCheckRecord]
    if isinstance(records, StoredRecords):
        if accepted_mutants(records, rules):
            return False
        mismatches = smallest(records, SAMPLE_RECORDS, frozenset({RecordStatus.MISMATCH}))
        tried = chain(smallest(records, SAMPLE_RECORDS), mismatches)
    else:
        tried = records
    if not counts_of(records)[RecordStatus.MISMATCH]:  # made-up ones, so that no test passes for want of cases
        tried = chain(tried, shifted_records(*generated_run(check, batch.check_set.policy)))
    return all(_is_refused(record, rules) for record in tried)


def _is_refused(record: CrossCheckRecord, rules: FieldRules) -> bool:
    written = record.to_json()
    if "overwritten_true" not in _codes({**written, "overwritten": True}, rules):
        return False
    if record.status is not RecordStatus.MISMATCH:
        return True
    corrected = {
        **written,
        "declared": written["computed"],
        "delta": 0,
        "status": RecordStatus.MATCH.value,
        "mismatch": False,
        "action": Action.ACCEPT.value,
    }
    return "declared_altered" in _codes(corrected, rules)


def _codes(record: Mapping[str, Any], rules: FieldRules) -> set[str]:
    return {code for code, _ in record_faults(record, rules)}


def _are_sources_unchanged(batch: Batch) -> bool:
    """Whether each source still begins with the bytes that were read; a log may have grown meanwhile."""
    return all(_is_unchanged(batch.check_set.sources[name], account) for name, account in batch.accounts.items())


def _is_unchanged(source: Source, account: SourceAccount) -> bool:
    if source.file is None:
        return False
    digest, left = hashlib.sha256(), account.bytes
    try:
        with open_regular(source.file) as stream:
            while left and (block := stream.read(min(left, _BLOCK_BYTES))):
                digest.update(block)
                left -= len(block)
    except (UnreadableError, OSError):
        return False
    return not left and digest.hexdigest() == account.sha256
