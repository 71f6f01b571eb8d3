"""The trust root: which principals there are, and what their signatures are good for.

What belongs here: the root as a value, the rules every root keeps, and questions asked of it. What does not: its bytes
and its signature (`root_document`), and which version was seen before (ledger).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.trust.passkeys import is_sound_passkey
from governance_pipeline.trust.points import is_sound_point
from governance_pipeline.trust.principals import HUMAN_ROLES, LONE_ROLES, Key, Kind, Principal, Role, Validity, skeleton

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class Revocation(NamedTuple):
    """A key that counts no longer, from an instant on, and why."""

    key_fingerprint: str
    at: datetime
    reason: str


@dataclass(frozen=True)
class TrustRoot:
    """One version of the trust root.

    Attributes:
        version: from 1; every change makes the next one, and no reader goes back.
        expires: from this instant on nothing signed counts until a new version is made.
        is_throwaway: made for a demo or a test; every decision made with it says so.
        principals: the actors, in the order they were added.
        thresholds: role -> distinct controllers that must sign; one where the role is left out.
        revocations: keys that count no longer.
    """

    version: int
    expires: datetime
    is_throwaway: bool
    principals: tuple[Principal, ...]
    thresholds: Mapping[Role, int] = field(default_factory=dict)
    revocations: tuple[Revocation, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a root that breaks a rule, however it was made."""
        fault = _fault(self)
        if fault is not None:
            raise UsageError(f"this cannot be a trust root: {fault}")

    @cached_property
    def _keys(self) -> dict[str, Key]:
        return {key.fingerprint: key for principal in self.principals for key in principal.keys}

    @cached_property
    def _named(self) -> dict[str, Principal]:
        return {skeleton(name): p for p in self.principals for name in (p.id, *p.aliases)}

    def key(self, key_fingerprint: str) -> Key | None:
        """Give the key with this fingerprint; None when the root has none such."""
        return self._keys.get(key_fingerprint)

    def principal(self, name: str) -> Principal | None:
        """Give the principal that a written name stands for, by id or alias under the skeleton; None if unknown."""
        return self._named.get(skeleton(name))

    def controller(self, name: str) -> str:
        """Give the one who controls an actor in the end, as a skeleton; an actor the root is silent on controls itself.

        Chains are followed: what an agent of an agent does is controlled by who controls the first.
        """
        current = name
        while (principal := self.principal(current)) is not None:
            if skeleton(principal.controller) in (skeleton(principal.id), skeleton(current)):
                return skeleton(principal.id)
            current = principal.controller
        return skeleton(current)

    def identity(self, name: str) -> str:
        """Give the skeleton under which an actor is counted: that of its principal, else of the name itself."""
        principal = self.principal(name)
        return skeleton(name if principal is None else principal.id)

    def is_revoked(self, key_fingerprint: str, at: datetime) -> bool:
        """Tell whether a key is revoked at an instant."""
        return any(r.key_fingerprint == key_fingerprint and r.at <= at for r in self.revocations)

    def threshold(self, role: Role) -> int:
        """Give how many distinct controllers must sign in a role."""
        return self.thresholds.get(role, 1)

    def with_principal(self, added: Principal) -> TrustRoot:
        """Give the next version with a principal, or with what is new about one that is there.

        Roles, keys and aliases are added to those it has; kind and controller must be the same.

        Raises:
            UsageError: it is there as another kind or under another controller, brings nothing new, or the new root
                would break a rule.
        """
        old = next((p for p in self.principals if p.id == added.id), None)
        if old is None:
            return replace(self, version=self.version + 1, principals=(*self.principals, added))
        merged = _merged(old, added)
        if merged == old:
            raise UsageError(f"principal {added.id!r} has all of that already; nothing was changed")
        principals = tuple(merged if p is old else p for p in self.principals)
        return replace(self, version=self.version + 1, principals=principals)

    def with_revocation(self, revocation: Revocation) -> TrustRoot:
        """Give the next version with one more revoked key.

        Raises:
            UsageError: the root has no such key.
        """
        if self.key(revocation.key_fingerprint) is None:
            raise UsageError(f"the root has no key {revocation.key_fingerprint}; `govern trust show` lists them")
        return replace(self, version=self.version + 1, revocations=(*self.revocations, revocation))


def first_root(owner: str, public_key: bytes, expires: datetime, *, is_throwaway: bool = False) -> TrustRoot:
    """Give version 1: one human who owns the root key, and nobody else."""
    principal = Principal(owner, Kind.HUMAN, owner, frozenset({Role.ROOT}), (Key(public_key, Validity()),))
    return TrustRoot(1, expires, is_throwaway, (principal,))


def _merged(old: Principal, added: Principal) -> Principal:
    if (old.kind, old.controller) != (added.kind, added.controller):
        raise UsageError(
            f"principal {old.id!r} is there as a {old.kind} controlled by {old.controller!r}; "
            "use another id, or the same kind and controller"
        )
    known = {key.public_key for key in old.keys}
    return replace(
        old,
        roles=old.roles | added.roles,
        keys=(*old.keys, *(key for key in added.keys if key.public_key not in known)),
        aliases=(*old.aliases, *(alias for alias in added.aliases if alias not in old.aliases)),
    )


def _fault(root: TrustRoot) -> str | None:
    """Give the first broken rule of a root; None when it keeps them all."""
    checks = (_name_fault, _role_fault, _key_fault, _controller_fault, _owner_fault, _number_fault)
    return next((fault for check in checks if (fault := check(root)) is not None), None)


def _name_fault(root: TrustRoot) -> str | None:
    seen: dict[str, str] = {}
    for principal in root.principals:
        for name in (principal.id, *principal.aliases, principal.controller):
            if not name.isprintable() or not skeleton(name):
                return f"{name!r} is no name: it holds what a screen does not show"
        for name in (principal.id, *principal.aliases):
            owner = seen.setdefault(skeleton(name), principal.id)
            if owner != principal.id:
                return f"{name!r} looks like a name of {owner!r}; two principals need names nobody can mix up"
    ids = [principal.id for principal in root.principals]
    return "an id is used twice" if len(set(ids)) < len(ids) else None


def _role_fault(root: TrustRoot) -> str | None:
    for principal in root.principals:
        if principal.roles & HUMAN_ROLES and principal.kind is not Kind.HUMAN:
            return f"{principal.id!r} is a {principal.kind}; only a human can be root, approver or dismisser"
        lone = principal.roles & LONE_ROLES
        if lone and len(principal.roles) > 1:
            return f"{principal.id!r} is {min(lone)} and more; that role stands alone, add a principal for the others"
    return None


def _key_fault(root: TrustRoot) -> str | None:
    owners: dict[bytes, str] = {}
    for principal in root.principals:
        for key in principal.keys:
            if key.passkey is None and not is_sound_point(key.public_key):
                return f"key {key.fingerprint} of {principal.id!r} is none: no point of Ed25519, or one of small order"
            if key.passkey is not None and (fault := _passkey_fault(principal, key)) is not None:
                return fault
            if key.public_key in owners:
                return f"key {key.fingerprint} is listed for {owners[key.public_key]!r} and {principal.id!r}"
            owners[key.public_key] = principal.id
    return None


def _passkey_fault(principal: Principal, key: Key) -> str | None:
    if not is_sound_passkey(key.public_key):
        return f"passkey {key.fingerprint} of {principal.id!r} is none: neither P-256 nor RSA of 2048 to 4096 bits"
    if principal.kind is not Kind.HUMAN:
        return f"{principal.id!r} is a {principal.kind}; only a human has a passkey"
    if Role.ROOT in principal.roles:
        return f"{principal.id!r} has the role root, whose key signs on the command line; a passkey signs in a browser"
    return None


def _controller_fault(root: TrustRoot) -> str | None:
    for principal in root.principals:
        seen = {principal.id}
        current: Principal | None = principal
        while current is not None and skeleton(current.controller) != skeleton(current.id):
            current = root.principal(current.controller)
            if current is not None and current.id in seen:
                return f"the controllers of {principal.id!r} go in a circle"
            seen.add(current.id if current else "")
    return None


def _owner_fault(root: TrustRoot) -> str | None:
    if any(Role.ROOT in principal.roles and principal.keys for principal in root.principals):
        return None
    return "no principal with a key has the role root, so nobody could sign the next version"


def _number_fault(root: TrustRoot) -> str | None:
    if root.version < 1:
        return f"version {root.version}; versions start at 1"
    low = [role for role, number in root.thresholds.items() if number < 1]
    return f"the threshold of {low[0]} is below 1, which would let nobody's signature pass" if low else None
