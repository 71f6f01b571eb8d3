"""The gate policy (`govern/gate-policy/v1`): who may open a gate, how many, how sure, for how long.

What belongs here: reading a document, and the one that ships. What does not: the values, which are data beside the
trust root (or `policy/gate-policy-1.json`), and applying them. The schema has no word that would open a gate by itself:
a timeout rejects, lineage is excluded, and a window is 72 hours at most (research/security.md b7), so a policy can only
be stricter than the one that ships.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import PolicyError, RecordRefused
from governance_pipeline.gate.documents import document_fault
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.trust.owned_files import owned_bytes

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA: Final = "govern/gate-policy/v1"
POLICY_BYTES: Final = 64 * 1024
"""Largest policy that is read; the shipped one has 400 bytes."""


class Assurance(StrEnum):
    """How sure it is that a person signed, weakest first (spec/gate.md §3)."""

    KEY_FILE = "key_file"
    SSH_AGENT = "ssh_agent"
    PRESENCE = "presence"

    def is_below(self, other: Assurance) -> bool:
        """Tell whether this is weaker than another."""
        order = tuple(Assurance)
        return order.index(self) < order.index(other)


@dataclass(frozen=True)
class GatePolicy:
    """A gate policy in force.

    Attributes:
        version: as the document says.
        sha256: digest of the RFC 8785 form of the document.
        approvers: ids that may approve; None means every principal with the role approver.
        quorum: approvers needed, by distinct keys and distinct controllers.
        minimum_assurance: weakest way of signing that counts.
        ttl: how long a request and a decision last.
        refuse_same_runtime: a validator of the producers' family of models is not independent.
        minimum_validators: independent verdicts PASSED that must be there.
    """

    version: str
    sha256: str
    approvers: frozenset[str] | None
    quorum: int
    minimum_assurance: Assurance
    ttl: timedelta
    refuse_same_runtime: bool
    minimum_validators: int


def read_policy(document: Any) -> GatePolicy:
    """Read a policy from the values of a strictly parsed JSON document.

    Raises:
        PolicyError: it breaks its schema, which is also where it is looser than a gate may be.
    """
    fault = document_fault("gate-policy-v1", document)
    if fault is not None:
        raise PolicyError(f"the gate policy cannot be used: {fault}; see schema {SCHEMA}")
    approvers = document["approvers"]
    return GatePolicy(
        version=document["version"],
        sha256=sha256_hex(canonical_json(document)),
        approvers=None if approvers is None else frozenset(approvers),
        quorum=document["quorum"],
        minimum_assurance=Assurance(document["minimum_assurance"]),
        ttl=timedelta(hours=document["ttl_hours"]),
        refuse_same_runtime=document["refuse_same_runtime"],
        minimum_validators=document["minimum_validators"],
    )


def load_policy(path: Path | None) -> GatePolicy:
    """Read the policy a configuration names; None means the one that ships.

    Raises:
        UsageError: no regular file, or others than its owner may write it or its folder.
        PolicyError: no strict JSON, too large, or as `read_policy`. There is no way on without a policy.
    """
    if path is None:
        return shipped_policy()
    data = owned_bytes(path, "gate policy", POLICY_BYTES)
    if len(data) > POLICY_BYTES:
        raise PolicyError(f"gate policy {path} is larger than {POLICY_BYTES} bytes; none of ours is")
    try:
        document = parse_json(data)
    except RecordRefused as reason:
        raise PolicyError(f"gate policy {path} is no strict JSON: {reason}") from None
    return read_policy(document)


@cache
def shipped_policy() -> GatePolicy:
    """Read the policy that ships with the package (once per process)."""
    file = resources.files("governance_pipeline.gate") / "policy" / "gate-policy-1.json"
    return read_policy(parse_json(file.read_bytes()))
