"""What may be dismissed: the shipped policy, or a copy beside the configuration of the verifier that only tightens it.

What belongs here: reading both, and what of a copy would loosen. What does not: whether a dismissal counts
(dismissals). A copy has the name of the shipped file, and only its owner may be able to write it: whoever could would
decide what may be waved through. Source: spec/verdict.md §4.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import PolicyError, RecordRefused
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.trust.owned_files import owned_bytes
from governance_pipeline.verdict.document_schema import document_fault

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "dismissal-1.json"
COPY_BYTES: Final = 64 * 1024
"""Largest copy that is read; the shipped policy has less than one KiB."""


class DismissalPolicy(NamedTuple):
    """Codes nobody can dismiss, and the shortest reason in characters."""

    not_dismissible: frozenset[str]
    minimum_reason_characters: int


def dismissal_policy(folder: Path | None = None) -> DismissalPolicy:
    """Give the policy in force.

    Args:
        folder: where a copy may lie, under the name of the shipped file; None: there is none.

    Raises:
        PolicyError: the copy is looser than the shipped policy (says in what), or is no policy.
        UsageError: it is no regular file, or others than its owner may write it.
    """
    shipped = shipped_dismissal_policy()
    path = None if folder is None else folder / FILE
    if path is None or not (path.exists() or path.is_symlink()):
        return shipped
    data = owned_bytes(path, "policy", COPY_BYTES)
    if len(data) > COPY_BYTES:
        raise PolicyError(f"policy {excerpt(str(path))} is larger than {COPY_BYTES} bytes; none of ours is")
    try:
        copy = read_dismissal_policy(parse_json(data))
    except (RecordRefused, PolicyError) as reason:
        raise PolicyError(f"policy {excerpt(str(path))} cannot be used: {reason}") from None
    faults = [
        f"{code} is left out of not_dismissible" for code in sorted(shipped.not_dismissible - copy.not_dismissible)
    ]
    if copy.minimum_reason_characters < shipped.minimum_reason_characters:
        faults.append(f"minimum_reason_characters must be at least {shipped.minimum_reason_characters}")
    if faults:
        raise PolicyError(f"policy {excerpt(str(path))} does not tighten the shipped one: {'; '.join(faults)}")
    return copy


def read_dismissal_policy(document: Any) -> DismissalPolicy:
    """Read a dismissal policy from the values of a strictly parsed JSON document.

    Raises:
        PolicyError: it breaks its schema.
    """
    fault = document_fault("dismissal-policy-v1.json", document)
    if fault is not None:
        raise PolicyError(f"dismissal policy: {fault}")
    return DismissalPolicy(frozenset(document["not_dismissible"]), document["minimum_reason_characters"])


@cache
def shipped_dismissal_policy() -> DismissalPolicy:
    """Read the dismissal policy that ships with the package (once per process)."""
    return read_dismissal_policy(json.loads(shipped_dismissal_bytes()))


def shipped_dismissal_bytes() -> bytes:
    """Read the document of the dismissal policy that ships with the package: what a copy starts from."""
    return (resources.files("governance_pipeline.verdict") / "policy" / FILE).read_bytes()
