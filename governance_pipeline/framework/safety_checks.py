"""The six safety checks of a governed project: call one before each critical write, and `enforce` its result.

What belongs here: the public face: one signature, one typed result and one reason code per check. What does not: a
second way to do what another package owns: comparing tables is `crosscheck`'s, independence `trust`'s, hashing
`strict`'s, who lives `lock_standing`'s. Source: spec/framework.md §2; each check exists because its failure happened.

Every result has `ok`, `reason_code` and `message`; what cannot be decided is not ok.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from governance_pipeline.errors import GovernError, StorageError
from governance_pipeline.framework import folder as places
from governance_pipeline.framework.canonical_names import CanonicalCheck, enforce_single_canonical
from governance_pipeline.framework.lock_standing import Reason, Standing, place_of, standing_of
from governance_pipeline.framework.processes import Look
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.timeouts import DerivedTimeout, derive_timeout_from_percentiles
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import FileRefused, digest_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.crosscheck.dataset_diff import DatasetComparison
    from governance_pipeline.crosscheck.dataset_diff_inputs import Dataset
    from governance_pipeline.trust.lineage import Lineage
    from governance_pipeline.trust.root import TrustRoot

__all__ = [
    "CanonicalCheck",
    "DerivedTimeout",
    "HashCheck",
    "IndependenceCheck",
    "LockCheck",
    "check_lock_orphaned",
    "compare_datasets_by_primary_key",
    "derive_timeout_from_percentiles",
    "enforce",
    "enforce_single_canonical",
    "validator_is_independent",
    "verify_output_hash",
]

_SHA256: Final = re.compile(r"(?:sha256:)?([0-9a-f]{64})", re.ASCII | re.IGNORECASE)


class CheckResult(Protocol):
    """What every check gives back: whether it holds, and if not why, as a code and in words."""

    @property
    def ok(self) -> bool:
        """Whether the check holds."""

    @property
    def reason_code(self) -> StrEnum | None:
        """Why not."""

    @property
    def message(self) -> str:
        """The same in words."""


Result = TypeVar("Result", bound=CheckResult)


class HashFault(StrEnum):
    """Why a claimed file is not what it is said to be; the values never change their meaning."""

    MISMATCH = "hash_mismatch"
    UNREADABLE = "output_unreadable"
    NO_HASH = "expected_not_a_sha256"


class LockFault(StrEnum):
    """Why a lock cannot be taken for one of a living owner; the values never change their meaning."""

    ORPHANED = "lock_orphaned"
    UNKNOWN = "lock_owner_unknown"


class IndependenceFault(StrEnum):
    """Why a validator may not certify; the values never change their meaning."""

    NOT_INDEPENDENT = "validator_not_independent"


@dataclass(frozen=True, slots=True)
class HashCheck:
    """Whether a file has the hash somebody claims: both values, and the size in bytes of what was read."""

    ok: bool
    reason_code: HashFault | None
    message: str
    path: str
    expected: str
    actual: str | None
    size: int | None


@dataclass(frozen=True, slots=True)
class LockCheck:
    """Whether a lock has a living owner or none; `orphaned` is None where that cannot be told.

    `pid_verified` is the process that was looked at, `reason` what shows where the lock stands.
    """

    ok: bool
    reason_code: LockFault | None
    message: str
    orphaned: bool | None
    pid_verified: int | None
    standing: Standing | None
    reason: Reason | None


@dataclass(frozen=True, slots=True)
class IndependenceCheck:
    """Whether one agent may certify another; `rule` is the first that failed or could not be decided."""

    ok: bool
    reason_code: IndependenceFault | None
    message: str
    rule: str | None
    lineage_path: str | None


def enforce(result: Result) -> Result:
    """Give back the result of a check that holds: the gate in front of a critical write.

    Raises:
        FrameworkRefused: it does not hold; its code is the reason code in capitals.
    """
    if result.ok:
        return result
    raise FrameworkRefused(str(result.reason_code).upper(), result.message)


def verify_output_hash(claimed_path: str | Path, expected_hash: str) -> HashCheck:
    """Recompute the SHA-256 of a file that is claimed to have one.

    Args:
        claimed_path: the file; links are not followed.
        expected_hash: 64 hex digits of any case, with or without `sha256:`.

    Returns:
        Not ok when the hashes differ, the file cannot be read, or what is expected is no SHA-256; a bad claim is an
        answer and never an exception.
    """
    shown, match = excerpt(str(claimed_path)), _SHA256.fullmatch(str(expected_hash))
    expected = match.group(1).lower() if match else str(expected_hash)
    try:
        found = digest_file(Path(claimed_path))
    except (FileRefused, TypeError) as error:
        said = f"{shown} cannot be read, so nothing of it is verified: {error}"
        return HashCheck(False, HashFault.UNREADABLE, said, str(claimed_path), expected, None, None)
    facts = (str(claimed_path), expected, found.sha256, found.size)
    if match is None:
        said = f"{excerpt(expected, 80)} is no SHA-256; {shown} has {found.sha256}"
        return HashCheck(False, HashFault.NO_HASH, said, *facts)
    if found.sha256 != expected:
        said = f"{shown} has SHA-256 {found.sha256}, not {expected}; it is not the output that was claimed"
        return HashCheck(False, HashFault.MISMATCH, said, *facts)
    return HashCheck(True, None, "", *facts)


def compare_datasets_by_primary_key(
    old: Dataset, new: Dataset, key_field: str | Sequence[str], **options: Any
) -> DatasetComparison:
    """Compare two tables row by row through their primary key; see `crosscheck.dataset_diff`, whose face this is.

    Args:
        old: Parquet, CSV or DuckDB file, or a frame; opened for reading only.
        new: the same.
        key_field: column that identifies a row, or several that do so together; never a position.
        **options: tolerances, examples, screen, memory, as there.

    Returns:
        Counts of identical, divergent and one-sided rows, divergence per column and examples; not ok when asked to
        compare by position or rowid, or the key is missing, null or repeated, and nothing was compared then.

    Raises:
        UsageError: no key at all.
        UnreadableError: a side cannot be read.
    """
    from governance_pipeline.crosscheck.dataset_diff import compare_datasets_by_primary_key as compare

    return compare(old, new, () if key_field is None else key_field, **options)


def check_lock_orphaned(lock_path: str | Path) -> LockCheck:
    """Tell whether a lock was left behind by a process that is gone.

    Args:
        lock_path: either file of a lock of ours, or a lock file of another program that holds a process id.

    Returns:
        Not ok when the recorded process no longer exists (process id, boot and start are compared, so a process id
        that was used again is not the owner), and when that cannot be told. A lock nobody holds is ok.
    """
    try:
        judged = standing_of(place_of(Path(lock_path)), Look())
    except (StorageError, TypeError, ValueError) as error:
        said = f"{excerpt(str(lock_path))} cannot be judged: {error}"
        return LockCheck(False, LockFault.UNKNOWN, said, None, None, None, None)
    owner = judged.owner
    pid = None if owner is None else owner.process.pid
    facts = (pid, judged.standing, judged.reason)
    where = f"lock {excerpt(str(lock_path))}"
    if judged.standing is Standing.ORPHANED:
        said = f"{where} was left behind by process {pid} ({judged.reason}); take it over, it must block nobody"
        return LockCheck(False, LockFault.ORPHANED, said, True, *facts)
    if judged.standing is Standing.UNKNOWN:
        said = f"{where}: whether its owner lives cannot be told ({judged.reason}); {judged.detail or 'ask a person'}"
        return LockCheck(False, LockFault.UNKNOWN, said, None, *facts)
    return LockCheck(True, None, "", False, *facts)


def validator_is_independent(
    validator_agent_id: str,
    worker_agent_id: str,
    run_id: str,
    *,
    lineage: Lineage | None = None,
    root: TrustRoot | None = None,
    validator_run_id: str | None = None,
    project: Path | None = None,
) -> IndependenceCheck:
    """Tell whether one agent may certify what another did in a run; see `trust.independence`, whose face this is.

    Args:
        validator_agent_id: who would certify.
        worker_agent_id: who did the work.
        run_id: run in which it was done.
        lineage: the runs there were; None: those the audit trail of the project names.
        root: aliases and controllers, where a trust root is known.
        validator_run_id: run of the validator; None: the only one it has.
        project: folder of the governed project whose audit trail is read; None: the current folder.

    Returns:
        Not ok when the same agent, principal, session lineage or run certifies its own work, and when one of it cannot
        be told: an agent no run is known of is not independent for certain.
    """
    from governance_pipeline.trust.independence import validator_is_independent as independent

    try:
        known = _lineage(project) if lineage is None else lineage
        answer = independent(
            validator_agent_id, worker_agent_id, run_id, lineage=known, root=root, validator_run_id=validator_run_id
        )
    except GovernError as error:
        said = f"whether {excerpt(validator_agent_id, 80)} is independent cannot be told: {error}"
        return IndependenceCheck(False, IndependenceFault.NOT_INDEPENDENT, said, None, None)
    if answer:
        return IndependenceCheck(True, None, "", None, None)
    rule = None if answer.rule is None else str(answer.rule)
    said = f"{excerpt(validator_agent_id, 80)} may not certify what {excerpt(worker_agent_id, 80)} did: {_rule(rule)}"
    return IndependenceCheck(False, IndependenceFault.NOT_INDEPENDENT, said, rule, answer.lineage_path)


def _rule(rule: str | None) -> str:
    return f"rule {rule} failed or cannot be decided; let an independent validator or a person do it"


def _lineage(project: Path | None) -> Lineage:
    from governance_pipeline.framework.trail_lineage import lineage_of_trail

    return lineage_of_trail((Path() if project is None else project) / places.AUDIT_TRAIL)
