"""The policies beside the epsilon policy, as they are in force: shipped, or a copy that only tightens.

What belongs here: reading a copy, saying what in it is looser, and the escalation policy as values. What does not: the
epsilon policy, which a check file tightens (`crosscheck.policy`), and applying any of them.

A copy lies beside the configuration of the verifier under the name of the shipped file, and only its owner may be able
to write it: whoever could would decide from when a case is late and how it may be closed.

Source: spec/crosscheck.md §2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.crosscheck.shipped_policies import ShippedPolicy, manifest, shipped_document
from governance_pipeline.errors import PolicyError, RecordRefused
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.yaml_text import parse_yaml
from governance_pipeline.trust.owned_files import owned_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

POLICIES_SCHEMA: Final = "govern/crosscheck-policies/v1"
SHIPPED: Final = "shipped"
EPSILON_FILE: Final = "epsilon_policy.yaml"
ESCALATION_FILE: Final = "escalation_policy.yaml"
COPY_BYTES: Final = 64 * 1024
"""Largest copy that is read; the largest shipped policy has 3 KiB."""

_SHOWN_CHARACTERS: Final = 80


class Change(StrEnum):
    """How a member of a copy may differ from the shipped one; a member without an entry may not."""

    LOWER = "at most"
    HIGHER = "at least"
    FEWER = "some of"


TIGHTENED_BY: Final[Mapping[str, Change]] = {
    "outcomes": Change.FEWER,
    "minimum_reason_characters": Change.HIGHER,
    "overdue_after_days.mismatch": Change.LOWER,
    "overdue_after_days.unverifiable": Change.LOWER,
}
"""Member, with its parents, -> the direction that is tighter. All are of the escalation policy."""


class PolicyInForce(NamedTuple):
    """One policy in force.

    Attributes:
        schema: name and version.
        source: `shipped`, or the path of the copy that tightens it.
        sha256: digest of the bytes of that file.
        document: what it says.
    """

    schema: str
    source: str
    sha256: str
    document: Mapping[str, Any]

    @property
    def is_tightened(self) -> bool:
        """Whether a copy is in force."""
        return self.source != SHIPPED

    def to_json(self) -> dict[str, Any]:
        """Give its entry in `govern/crosscheck-policies/v1`."""
        return {**self._asdict(), "is_tightened": self.is_tightened}


@dataclass(frozen=True, slots=True)
class EscalationPolicy:
    """From when a case is late, and how it may be closed.

    Attributes:
        overdue_after_days: whole days open from which a case is overdue, for `mismatch` and `unverifiable`.
        outcomes: what a resolution may say.
        minimum_reason_characters: length a reason has at least.
    """

    overdue_after_days: Mapping[str, int]
    outcomes: tuple[str, ...]
    minimum_reason_characters: int


def policies_in_force(folder: Path | None = None) -> list[PolicyInForce]:
    """Give all policies in force, in the order of the manifest.

    Args:
        folder: where copies lie, under the names of the shipped files; None: there are none.

    Raises:
        PolicyError: a copy is looser than the shipped policy (says in what), is no policy, or is of epsilon.
        UsageError: a copy is no regular file, or others than its owner may write it.
    """
    return [_in_force(policy, folder) for policy in manifest()]


def escalation_policy(folder: Path | None = None) -> EscalationPolicy:
    """Give the escalation policy in force; arguments and errors as `policies_in_force`."""
    [policy] = [policy for policy in manifest() if policy.file == ESCALATION_FILE]
    document = _in_force(policy, folder).document
    return EscalationPolicy(
        dict(document["overdue_after_days"]), tuple(document["outcomes"]), document["minimum_reason_characters"]
    )


def loosened(shipped: Any, copy: Any, place: str = "") -> Iterator[str]:
    """Yield what in a copy is looser than the shipped policy, or simply another thing; nothing when it only tightens.

    Args:
        shipped: the shipped document, or a member of it.
        copy: the same of the copy.
        place: member with its parents.
    """
    if isinstance(shipped, dict):
        if not isinstance(copy, dict):
            yield f"{place or 'the document'} is no mapping"
            return
        yield from (f"{_place(place, excerpt(name, 40))} is unknown" for name in copy if name not in shipped)
        yield from (f"{_place(place, name)} is missing" for name in shipped if name not in copy)
        for name in shipped.keys() & copy.keys():
            yield from loosened(shipped[name], copy[name], _place(place, name))
    elif (change := TIGHTENED_BY.get(place)) is None and isinstance(shipped, list) and isinstance(copy, list):
        if len(shipped) != len(copy):
            yield f"{place} has {len(copy)} entries, not {len(shipped)}"
        for number, pair in enumerate(zip(shipped, copy, strict=False), 1):
            yield from loosened(*pair, f"{place}[{number}]")
    elif not _is_tighter(shipped, copy, change):
        said = f"{change} " if change else ""
        yield f"{place} is {excerpt(repr(copy), _SHOWN_CHARACTERS)}, it must be {said}{shipped!r}"


def _in_force(policy: ShippedPolicy, folder: Path | None) -> PolicyInForce:
    shipped = shipped_document(policy.file)
    path = None if folder is None else folder / policy.file
    if path is None or not (path.exists() or path.is_symlink()):
        return PolicyInForce(policy.schema, SHIPPED, policy.sha256, shipped)
    if policy.file == EPSILON_FILE:
        raise PolicyError(
            f"{path}: epsilon is tightened in a check file, by its member epsilon_policy; remove the copy"
        )
    data = owned_bytes(path, "policy", COPY_BYTES)
    if len(data) > COPY_BYTES:
        raise PolicyError(f"policy {path} is larger than {COPY_BYTES} bytes; none of ours is")
    try:
        copy = parse_yaml(data)
    except RecordRefused as reason:
        raise PolicyError(f"policy {path} cannot be read: {reason}") from None
    faults = sorted(loosened(shipped, copy))
    if faults:
        raise PolicyError(f"policy {path} does not tighten the shipped one: {'; '.join(faults)}")
    return PolicyInForce(policy.schema, str(path), sha256_hex(data), copy)


def _is_tighter(shipped: Any, copy: Any, change: Change | None) -> bool:
    if type(copy) is not type(shipped):  # 1 is not true, and a number kept as it was written is no whole number
        return False
    if change is Change.LOWER:
        return bool(0 <= copy <= shipped)
    if change is Change.HIGHER:
        return bool(copy >= shipped)
    if change is Change.FEWER:
        return bool(copy) and all(copy.count(item) == 1 and item in shipped for item in copy)
    return bool(copy == shipped)


def _place(parent: str, name: str) -> str:
    return f"{parent}.{name}" if parent else name
