"""The policy document (`govern/policy/v1`): what is blocking, what blocks in final mode, and the goal switch.

What belongs here: reading a document, the one that ships, and tightening it by a round contract. What does not: the
weights themselves, which are data (`policy/policy-1.json`). Source: spec/verdict.md §1-3, §7.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import PolicyError
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.verdict.document_schema import document_fault
from governance_pipeline.verdict.signals import CLASS_OF_CODE, Severity, SignalClass

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA: Final = "govern/policy/v1"
DEFAULT_MATERIAL_FILES: Final = 10
DEFAULT_MATERIAL_CHURN: Final = 400
"""Surface from which a round is material when the document names no threshold: files, lines (spec/verdict.md §7)."""


class GoalSwitch(StrEnum):
    """What a substituted goal leads to, mildest first."""

    OFF = "off"
    OBSERVE = "observe"
    WARN = "warn"


_SWITCHES: Final = tuple(GoalSwitch)
_GOAL_SEVERITY: Final = {
    GoalSwitch.OFF: Severity.OBSERVE,
    GoalSwitch.OBSERVE: Severity.OBSERVE,
    GoalSwitch.WARN: Severity.WARNING,
}


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy in force.

    Attributes:
        version: as the document says.
        digest: `sha256:` and the hex digest of the RFC 8785 form of the document as given.
        severity: severity of a fact by code.
        default_severity: of the facts `severity` does not name.
        final_block: codes of gaps that block a round in final mode.
        goal_substitution: what a substituted goal leads to.
        material_files: distinct files from which a surface is material.
        material_churn: lines added and deleted from which a surface is material.
    """

    version: str
    digest: str
    severity: Mapping[str, Severity]
    default_severity: Severity
    final_block: frozenset[str]
    goal_substitution: GoalSwitch
    material_files: int
    material_churn: int

    @property
    def goal_severity(self) -> Severity:
        """Severity of a substituted goal: warning at most, whatever `severity` and `default_severity` say."""
        return _GOAL_SEVERITY[self.goal_substitution]

    def tightened(self, switch: str | None, files: int | None, churn: int | None) -> Policy:
        """Give the policy for one round, whose contract may only tighten it; None leaves a value as it is.

        The digest stays that of the document: the contract's own values have their digest in the round.

        Raises:
            PolicyError: a value is looser. The contract is then invalid, so no round can switch off its own check.
        """
        goal = self.goal_substitution if switch is None else GoalSwitch(switch)
        if _SWITCHES.index(goal) < _SWITCHES.index(self.goal_substitution):
            raise PolicyError(
                f"goal_substitution = {goal} is looser than the policy's {self.goal_substitution}; leave it out"
            )
        for name, value, limit in (
            ("material_files", files, self.material_files),
            ("material_churn", churn, self.material_churn),
        ):
            if value is not None and value > limit:
                raise PolicyError(f"{name} = {value} is looser than the policy's {limit}; write at most {limit}")
        return replace(
            self,
            goal_substitution=goal,
            material_files=self.material_files if files is None else files,
            material_churn=self.material_churn if churn is None else churn,
        )


def read_policy(document: Any) -> Policy:
    """Read a policy from the values of a strictly parsed JSON document.

    Raises:
        PolicyError: it breaks its schema, or `final_block` names a code that is known not to be of class B.
    """
    fault = document_fault("policy-v1.json", document)
    if fault is not None:
        raise PolicyError(f"policy: {fault}")
    final_block = frozenset(document.get("final_block") or ())
    strangers = sorted(code for code in final_block if CLASS_OF_CODE.get(code, SignalClass.GAP) != SignalClass.GAP)
    if strangers:
        raise PolicyError(f"policy: final_block takes codes of class B; {', '.join(strangers)} is none")
    return Policy(
        version=document["version"],
        digest=policy_digest(document),
        severity={code: Severity(value) for code, value in (document.get("severity") or {}).items()},
        default_severity=Severity(document.get("default_severity") or Severity.WARNING),
        final_block=final_block,
        goal_substitution=GoalSwitch(document.get("goal_substitution") or GoalSwitch.OFF),
        material_files=document.get("material_files") or DEFAULT_MATERIAL_FILES,
        material_churn=document.get("material_churn") or DEFAULT_MATERIAL_CHURN,
    )


def policy_digest(document: Any) -> str:
    """Digest of a policy document as given: `sha256:` and 64 hex digits over its RFC 8785 form.

    Raises:
        UnreadableError: the document has no such form; every one that keeps its schema has.
    """
    return f"sha256:{sha256_hex(canonical_json(document))}"


@cache
def shipped_policy() -> Policy:
    """Read the policy that ships with the package (once per process)."""
    return read_policy(json.loads(shipped_policy_bytes()))


def shipped_policy_bytes() -> bytes:
    """Read the document of the policy that ships with the package."""
    return (resources.files("governance_pipeline.verdict") / "policy" / "policy-1.json").read_bytes()
