"""What `govern crosscheck policy` prints: every policy in force, as one JSON document or as lines.

What belongs here: layout. What does not: what is in force (`crosscheck.policies`, `crosscheck.policy`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.crosscheck.policies import EPSILON_FILE, POLICIES_SCHEMA, SHIPPED, PolicyInForce
from governance_pipeline.crosscheck.policy import SCHEMA as EPSILON_SCHEMA
from governance_pipeline.crosscheck.policy import shipped_epsilon_policy
from governance_pipeline.crosscheck.shipped_policies import manifest
from governance_pipeline.strict.excerpt import escape_unprintable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from governance_pipeline.crosscheck.check_set import CheckSet
    from governance_pipeline.crosscheck.policy import EpsilonPolicy

_INDENT: Final = "  "


def policies_document(epsilon: PolicyInForce, in_force: Sequence[PolicyInForce]) -> dict[str, Any]:
    """Give `govern/crosscheck-policies/v1`: one entry per policy, epsilon first."""
    others = [policy for policy in in_force if policy.schema != EPSILON_SCHEMA]
    return {"schema": POLICIES_SCHEMA, "policies": [policy.to_json() for policy in (epsilon, *others)]}


def epsilon_in_force(policy: EpsilonPolicy, check_set: CheckSet | None, path: str) -> PolicyInForce:
    """Give the epsilon policy as an entry: the shipped one, or the one of a check file that lowers a maximum.

    Args:
        policy: in force.
        check_set: whose it is; None: of no check file.
        path: of the check file.
    """
    [shipped] = [entry for entry in manifest() if entry.file == EPSILON_FILE]
    if check_set is None or policy == shipped_epsilon_policy():
        return PolicyInForce(EPSILON_SCHEMA, SHIPPED, shipped.sha256, policy.to_json())
    return PolicyInForce(EPSILON_SCHEMA, path, check_set.sha256, policy.to_json())


def policy_lines(in_force: Sequence[PolicyInForce]) -> Iterator[str]:
    """Yield the policies beside epsilon as lines: each with where it comes from, its members indented below."""
    for policy in in_force:
        if policy.schema != EPSILON_SCHEMA:
            yield ""
            yield escape_unprintable(f"{policy.schema}  ({policy.source}, sha256 {policy.sha256})")
            yield from _members(policy.document, 1)


def _members(document: Any, level: int) -> Iterator[str]:
    for name, value in document.items():
        if name == "schema":
            continue
        if isinstance(value, dict):
            yield f"{_INDENT * level}{name}"
            yield from _members(value, level + 1)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"{_INDENT * level}{name}"
            for entry in value:
                yield from _entry(entry, level + 1)
        else:
            yield f"{_INDENT * level}{name}: {_said(value)}"


def _entry(entry: dict[str, Any], level: int) -> Iterator[str]:
    """One entry of a list: its first member on a line of its own, the others below it."""
    (_, first), *others = entry.items()
    yield f"{_INDENT * level}{_said(first)}"
    yield from (f"{_INDENT * (level + 1)}{name}: {_said(value)}" for name, value in others)


def _said(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_said, value)) or "none"
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
