"""Is the gate set up: configuration and rights of its files, trust root, policy, and whether anybody can decide.

What belongs here: what a verifier trusts. What does not: what was recorded (`ledger_checks`).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from governance_pipeline.doctor.finding import Finding, Health
from governance_pipeline.errors import GovernError
from governance_pipeline.gate.decision import TIER_MEANS
from governance_pipeline.gate.policy import load_policy
from governance_pipeline.gate.signers import approver_refusal, is_named
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.ledger.trusted_root import trusted_root
from governance_pipeline.notify.targets import load_notifications
from governance_pipeline.trust.config import load_config
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.doctor.finding import Patient
    from governance_pipeline.trust.config import GateConfig
    from governance_pipeline.trust.root import TrustRoot

SOON: Final = timedelta(days=30)
"""A root or key that ends sooner is named: its owner may be away for weeks."""


def gate_is_configured(patient: Patient) -> Iterator[Finding]:
    """Look at the configuration and at everything it names, one after the other."""
    place = patient.config_path
    if not place.exists() and not place.is_symlink():
        health = Health.FAIL if patient.is_named else Health.OFF
        yield Finding("gate", health, str(place), "there is no configuration: nobody can decide", "govern trust init")
        return
    try:
        config = load_config(place)
    except GovernError as error:
        yield Finding("gate", Health.FAIL, str(place), str(error), "set it right; until then every gate is closed")
        return
    yield Finding("gate", Health.OK, str(place), f"it can be used; trust tier {TIER_MEANS}")
    yield from _policy(config)
    yield from _notifications(config)


def trust_root_holds(patient: Patient) -> Iterator[Finding]:
    """Look at the trust root: verified, not about to expire, and with people who can decide."""
    if not patient.config_path.exists():
        return
    config = load_config(patient.config_path)
    try:
        root = trusted_root(config, Ledger(config.ledger), patient.now)
    except GovernError as error:
        yield Finding("trust_root", Health.FAIL, str(config.root), str(error), "govern trust show; govern trust renew")
        return
    left = root.expires - patient.now
    until = f"version {root.version}, until {instant_text(root.expires)}"
    health = Health.WARN if left < SOON else Health.OK
    yield Finding("trust_root", health, str(config.root), until, "govern trust renew" if left < SOON else None)
    if root.is_throwaway:
        message = "it is a throw-away root of a demo or a test: every decision made with it says so"
        yield Finding("trust_root", Health.WARN, str(config.root), message, "govern trust init for real work")
    yield from _people(root, config, patient)


def _policy(config: GateConfig) -> Iterator[Finding]:
    subject = "shipped" if config.policy is None else str(config.policy)
    try:
        policy = load_policy(config.policy)
    except GovernError as error:
        yield Finding("policy", Health.FAIL, subject, str(error), "set it right; there is no way on without a policy")
        return
    hours = int(policy.ttl.total_seconds() // 3600)
    message = f"version {policy.version}: {policy.quorum} approvers, {policy.minimum_assurance} at least, {hours} h"
    yield Finding("policy", Health.OK, subject, message)


def _notifications(config: GateConfig) -> Iterator[Finding]:
    if config.notifications is None:
        yield Finding("notifications", Health.OFF, "gate.toml", "nobody is told of requests", "see docs/operating.md")
        return
    try:
        wanted = load_notifications(config.notifications)
    except GovernError as error:
        yield Finding("notifications", Health.FAIL, str(config.notifications), str(error), "set it right")
        return
    names = ", ".join(f"{target.name} ({target.scheme})" for target in wanted.targets)
    yield Finding("notifications", Health.OK, str(config.notifications), f"told are {names}")


def _people(root: TrustRoot, config: GateConfig, patient: Patient) -> Iterator[Finding]:
    """Say whether enough people can approve now, and whose key ends soon."""
    try:
        policy = load_policy(config.policy)
    except GovernError:
        return  # said above
    able = set()
    for principal in root.principals:
        for key in principal.keys:
            if approver_refusal(principal, key, root, patient.now) is not None:
                continue
            if is_named(principal.id, root, policy):
                able.add(root.controller(principal.id))
            ends = [end for end in (key.validity.expires, principal.validity.expires) if end is not None]
            if ends and min(ends) - patient.now < SOON:
                message = f"key {key.fingerprint[:16]} ends {instant_text(min(ends))}"
                yield Finding("approvers", Health.WARN, principal.id, message, "govern trust add with a new key")
    if len(able) < policy.quorum:
        message = f"{len(able)} people can approve now, {policy.quorum} are needed: no request can be approved"
        yield Finding("approvers", Health.FAIL, str(config.root), message, "govern trust add")
    else:
        yield Finding(
            "approvers", Health.OK, str(config.root), f"{len(able)} people can approve, {policy.quorum} needed"
        )
