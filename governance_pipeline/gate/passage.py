"""One question at a gate: may these bytes of this round pass, now, on these decisions.

What belongs here: everything the answer is made from, gathered once, and how a step drops a decision. What does not:
the steps themselves (`envelope_steps`, `passage_steps`) and their order (`verify`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.errors import StorageError
from governance_pipeline.gate.code_digest import gate_code_sha256
from governance_pipeline.gate.manifest import Manifest, PolicyRef, manifest_of
from governance_pipeline.gate.policy import GatePolicy, load_policy
from governance_pipeline.ledger.rebaselines import baseline_in_force
from governance_pipeline.ledger.trusted_root import trusted_root
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from governance_pipeline.gate.decision import Decision
    from governance_pipeline.gate.events import History, Recorded, Requested
    from governance_pipeline.gate.inputs import RoundInputs
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.trust.config import GateConfig
    from governance_pipeline.trust.dsse import Envelope
    from governance_pipeline.trust.principals import Key, Principal
    from governance_pipeline.trust.root import TrustRoot
    from governance_pipeline.trust.signatures import Proof


class Verifier(NamedTuple):
    """What a verifier works with: the tables, the ledger, and what it trusts."""

    lake: Lake
    ledger: Ledger
    root: TrustRoot
    policy: GatePolicy
    config: GateConfig


class SignedWith(NamedTuple):
    """A principal of the trust root, its key that made a signature, and what that signature shows."""

    principal: Principal
    key: Key
    proof: Proof


@dataclass
class Offer:
    """One decision offered at the gate; `event` is None for one nobody recorded. Steps fill in the rest."""

    data: bytes
    event: Recorded | None = None
    envelope: Envelope | None = None
    signers: tuple[SignedWith, ...] = ()
    decision: Decision | None = None

    @property
    def read(self) -> Envelope:
        """The envelope, once it was parsed."""
        if self.envelope is None:
            raise AssertionError("asked before the envelope was parsed")
        return self.envelope

    @property
    def said(self) -> Decision:
        """The decision, once it was read from the verified bytes."""
        if self.decision is None:
            raise AssertionError("asked before the decision was read")
        return self.decision


@dataclass
class Passage:
    """One question at a gate.

    Attributes:
        verifier: what is trusted.
        inputs: the bytes that are about to be used.
        history: what the ledger says, up to one event.
        request: the request that is in force for the round.
        offers: approvals still standing; a step removes those that fail it.
        now: the time.
        asset: the gated asset that wants to use the bytes; None when nothing is to be used yet.
        root_run_id: the run it belongs to, across retries.
        dropped: approvals that failed, with the reason.
        notes: what a person should read although it closes nothing.
    """

    verifier: Verifier
    inputs: RoundInputs
    history: History
    request: Requested
    offers: list[Offer]
    now: datetime
    asset: str | None = None
    root_run_id: str | None = None
    dropped: list[tuple[Offer, Refusal]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _manifests: dict[PolicyRef, Manifest] = field(default_factory=dict)

    @cached_property
    def actors(self) -> tuple[str, ...]:
        """Everybody who must not approve, by its tables and by the request."""
        return tuple(sorted({*self.inputs.parties.actors, *self.request.actors, self.request.requester}))

    @cached_property
    def project_baseline(self) -> str | None:
        """Version of the baseline that the last re-baseline brought; None before there was one."""
        return project_baseline(self.history, self.verifier, self.now)

    def manifest(self, policy: PolicyRef) -> Manifest:
        """Make the manifest of the bytes at hand under a policy."""
        if policy not in self._manifests:
            self._manifests[policy] = manifest_of(self.inputs, policy, gate_code_sha256(), self.project_baseline)
        return self._manifests[policy]

    def each(self, check: Callable[[Offer], None]) -> None:
        """Hold every standing approval to a check and drop those that fail.

        Raises:
            Refusal: none is left: that of the newest.
        """
        standing: list[Offer] = []
        for offer in self.offers:
            try:
                check(offer)
            except Refusal as refusal:
                self.dropped.append((offer, refusal))
            else:
                standing.append(offer)
        if not standing:
            raise self.dropped[-1][1]
        self.offers = standing


def open_verifier(config: GateConfig, ledger: Ledger, lake: Lake, now: datetime) -> Verifier:
    """Read everything a configuration names.

    Raises:
        UsageError: a file is missing, or others than its owner may write it.
        PolicyError: the policy cannot be used.
        Refusal: the trust root is refused; LOG_INCONSISTENT when the ledger cannot be read.
    """
    try:
        root = trusted_root(config, ledger, now)
    except StorageError as error:
        raise Refusal(ReasonCode.LOG_INCONSISTENT, str(error)) from error
    return Verifier(lake, ledger, root, load_policy(config.policy), config)


def project_baseline(history: History, verifier: Verifier, now: datetime) -> str | None:
    """Give the version of the baseline that the last signed re-baseline brought; None before there was one."""
    baseline = baseline_in_force(history.freezes.rebaselines, verifier.root, now)
    return None if baseline is None else baseline.version


def policy_ref(policy: GatePolicy) -> PolicyRef:
    """Name a policy."""
    return PolicyRef(policy.version, policy.sha256)
