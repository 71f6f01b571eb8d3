"""The checks a round cannot pass without, and whether each came to a result.

What belongs here: which checks are required (spec/verdict.md §3) and what counts as having run. What does not: their
results, which are findings of the detectors. Every required check is named, run or not, so that a pass says what was
verified and what was left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.rounds.contract import Mode
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.command_runs import seen_run
from governance_pipeline.verdict.detector import Place, contract_place, place_of
from governance_pipeline.verdict.independence_rows import attestations
from governance_pipeline.verdict.round_view import CONTRACT_FILE
from governance_pipeline.verdict.signals import GapReason
from governance_pipeline.vocabulary import ContractState, RecordStatus, UnknownReason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.verdict.round_view import RoundView

    Row = Mapping[str, Any]

LOG_ACCOUNTED: Final = "log-accounted"
CROSS_CHECK: Final = "cross-check"
OUTPUT_HASH: Final = "output-hash"
CRITERION_COMMAND: Final = "criterion-command"
VALIDATOR_INDEPENDENCE: Final = "validator-independence"

COMPONENT_REASONS: Final = frozenset(
    {
        UnknownReason.COMPONENTS_INCOMPLETE,
        UnknownReason.COMPONENTS_MISSING,
        UnknownReason.COMPONENT_MISSING_VALUE,
        UnknownReason.COMPONENT_NOT_A_NUMBER,
        UnknownReason.COMPONENT_NOT_FINITE,
    }
)
"""Why a record is unverifiable for want of its parts: a gap of its own code, `components-missing`."""

_DECLARED_REASONS: Final = frozenset({UnknownReason.DECLARED_MISSING, UnknownReason.DECLARED_QUARANTINED})


class RequiredCheck(NamedTuple):
    """One required check of a round.

    Attributes:
        kind: one of the constants above; for a cross-check also `cross-check:<check id>`.
        subject: what it checks, as texts that mean the same in every round.
        ran: it came to a result.
        place: where it looks.
        message: why it did not run, safe to print; empty when it did.
        reason: what is unknown when it did not run.
        is_reported: a finding of another code says why.
        required: always, here.
    """

    kind: str
    subject: tuple[str, ...]
    ran: bool
    place: Place | None
    message: str = ""
    reason: GapReason = GapReason.CHECK_NOT_RUN
    is_reported: bool = False
    required: bool = True

    @property
    def id(self) -> str:
        """Name of the check in the round, safe to print."""
        return ":".join((self.kind, *(excerpt(part, 80) for part in self.subject if part)))


def required_checks(view: RoundView) -> list[RequiredCheck]:
    """List every required check of a round: files, cross-checks, hashes, commands, and in final mode the validator."""
    checks = [*_files(view), *_cross_checks(view), *_hashes(view), *_commands(view)]
    if view.mode == Mode.FINAL:
        checks.append(_validator(view))
    return checks


def record_subject(row: Row, round_id: str) -> tuple[str, ...]:
    """What a cross-check record is about; the round itself has the same name in every round."""
    subject = row["subject_id"] or ""
    return row["check_id"], row["field"], "(round)" if subject == round_id else subject


def record_place(row: Row) -> Place:
    """Where the declared value of a cross-check record stands."""
    return Place(row["declared_path"], row["declared_file_sha256"], row["declared_line"], row["declared_pointer"])


def hash_subject(row: Row, round_id: str) -> tuple[str, ...]:
    """What a row of `audit_integrity` is about, the round's name taken out of the run's."""
    return row["run_id"].removeprefix(round_id), str(row["step_index"])


def _files(view: RoundView) -> Iterator[RequiredCheck]:
    """One check per file: it was read whole, and every record of it has a place.

    A contract that was read is no log, so it is not counted as one; a contract that is refused is a file that was not
    read. Of a file that a step names as its output, only the digest is used, so its bytes are all there is to read.
    """
    if view.contract_state == ContractState.INVALID:
        message = f"the round contract is refused: {excerpt(view.contract_fault or 'no reason kept', 200)}"
        broken = view.quarantined.get(CONTRACT_FILE)
        place = Place(CONTRACT_FILE, view.row["contract_sha256"], broken[0]["line"] if broken else None)
        yield RequiredCheck(LOG_ACCOUNTED, (CONTRACT_FILE,), False, place, message)
    for row in view.rows("raw_log_files"):
        path = row["path"]
        if path != CONTRACT_FILE or view.contract_state == ContractState.ABSENT:
            fault = _file_fault(row)
            message = "" if fault is None else f"{excerpt(path, 80)} was not read whole: {excerpt(fault, 200)}"
            yield RequiredCheck(LOG_ACCOUNTED, (path,), fault is None, _file_place(view, row), message)


def _file_fault(row: Row) -> str | None:
    if row["reason_code"] is not None:
        return str(row["reason_code"])
    parts = row["accepted"] + row["quarantined"] + row["blank"] + row["duplicates"]
    if parts != row["lines_in"]:
        return f"{row['lines_in']} records in, {parts} accounted for"
    return f"{row['quarantined']} of {row['lines_in']} records could not be used" if row["quarantined"] else None


def _file_place(view: RoundView, row: Row) -> Place:
    broken = view.quarantined.get(row["path"])
    if broken:
        return Place(row["path"], row["file_sha256"], broken[0]["line"], broken[0]["pointer"])
    return Place(row["path"], row["file_sha256"])


def _cross_checks(view: RoundView) -> Iterator[RequiredCheck]:
    for row in view.rows("audit_cross_checks"):
        kind, *subject = record_subject(row, view.round_id)
        ran = row["status"] != RecordStatus.UNVERIFIABLE
        reason = row["reason_code"]
        is_declared = reason in _DECLARED_REASONS
        yield RequiredCheck(
            f"{CROSS_CHECK}:{kind}",
            tuple(subject),
            ran,
            record_place(row),
            "" if ran else f"{excerpt(row['field'], 80)} could not be compared: {reason}",
            GapReason.DECLARED_MISSING if is_declared else GapReason.CHECK_NOT_RUN,
            is_reported=reason in COMPONENT_REASONS,
        )


def _hashes(view: RoundView) -> Iterator[RequiredCheck]:
    for row in view.rows("audit_integrity"):
        ran = row["status"] != RecordStatus.UNVERIFIABLE
        message = "" if ran else f"the output of step {row['step_index']} could not be hashed: {row['reason_code']}"
        yield RequiredCheck(OUTPUT_HASH, hash_subject(row, view.round_id), ran, place_of(row), message)


def _commands(view: RoundView) -> Iterator[RequiredCheck]:
    for row in view.criteria:
        if not row["is_required"] or row["check_command"] is None:
            continue
        seen = seen_run(view, row["check_command"])
        message = (
            ""
            if seen is not None
            else f"no log shows a run of the command of criterion {excerpt(row['criterion_id'], 80)}: "
            f"{excerpt(row['check_command'], 120)}"
        )
        place = seen or contract_place(view)
        yield RequiredCheck(CRITERION_COMMAND, (row["criterion_id"],), seen is not None, place, message)


def _validator(view: RoundView) -> RequiredCheck:
    found = attestations(view)
    decided = [row for row in found if row.is_independent is not None]
    if decided:
        return RequiredCheck(VALIDATOR_INDEPENDENCE, (), True, decided[0].place)
    message = (
        "no validator attests a round in final mode"
        if not found
        else f"whether the validator is independent could not be decided: {excerpt(found[0].rule or 'unknown', 120)}"
    )
    place = found[0].place if found else contract_place(view)
    return RequiredCheck(VALIDATOR_INDEPENDENCE, (), False, place, message)
