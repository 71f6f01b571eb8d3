"""Identities: principals of the trust root, and when two written names may be the same one.

What belongs here: kinds, roles, validity, and the skeleton under which ids are compared. What does not: the root as a
document (`root`) and ancestry (`lineage`).

Names are compared to refuse, never to grant: two ids with one skeleton count as one actor, so a false match closes a
gate and a missed one could open it. The skeleton is NFKC and casefold, without accents, spaces and invisible
characters, with look-alikes (`lookalikes`) folded into one letter.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from governance_pipeline.trust.keys import fingerprint
from governance_pipeline.trust.lookalikes import INVISIBLE, LOOKALIKE_PAIRS, LOOKALIKES, prototypes

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.trust.passkeys import Passkey

_DROPPED: Final = frozenset({"Mn", "Me", "Cf", "Cc", "Zs", "Zl", "Zp"})


class Kind(StrEnum):
    """What a principal is; only a human fills a human slot."""

    HUMAN = "human"
    VALIDATOR = "validator"
    AGENT = "agent"
    SERVICE = "service"


class Role(StrEnum):
    """What the signatures of a principal are good for."""

    ROOT = "root"
    APPROVER = "approver"
    VALIDATOR = "validator"
    DISMISSER = "dismisser"
    LOG = "log"


HUMAN_ROLES: Final = frozenset({Role.ROOT, Role.APPROVER, Role.DISMISSER})
"""Roles of people: no program, and so no language model, can hold one."""
LONE_ROLES: Final = frozenset({Role.ROOT, Role.LOG})
"""Roles whose principal has no other: who names signers or writes the log does not decide (NIST 800-53 AC-5)."""


@dataclass(frozen=True)
class Validity:
    """A half-open time, start included and end not; None is open."""

    not_before: datetime | None = None
    expires: datetime | None = None

    def is_before(self, at: datetime) -> bool:
        """Tell whether the time has not begun."""
        return self.not_before is not None and at < self.not_before

    def is_over(self, at: datetime) -> bool:
        """Tell whether the time has ended; it has at `expires` exactly."""
        return self.expires is not None and at >= self.expires


@dataclass(frozen=True)
class Key:
    """A public key of a principal and when it counts.

    Attributes:
        public_key: raw Ed25519 bytes; of a passkey its DER SubjectPublicKeyInfo.
        validity: when it counts.
        application: what a FIDO authenticator bound the key to (`ssh:…`); None for a key outside of one.
        passkey: of a passkey, the credential and the page it is bound to.
    """

    public_key: bytes
    validity: Validity = Validity()
    application: str | None = None
    passkey: Passkey | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Name of the key."""
        return fingerprint(self.public_key)


@dataclass(frozen=True)
class Principal:
    """One actor of the trust root.

    Attributes:
        id: its name.
        kind: what it is.
        controller: id of the one who controls it; itself when nobody else does.
        roles: what its signatures are good for; none for an agent that is only known.
        keys: its keys; none for an agent that is only known.
        aliases: other names logs use for it.
        validity: when it counts.
    """

    id: str
    kind: Kind
    controller: str
    roles: frozenset[Role] = frozenset()
    keys: tuple[Key, ...] = ()
    aliases: tuple[str, ...] = ()
    validity: Validity = Validity()


@lru_cache(maxsize=4096)
def skeleton(name: str) -> str:
    """Give the form under which a name is compared: ids that look alike have the same one."""
    # Before NFKC as well, which turns some look-alikes into other letters (the lunate sigma, a c, into a sigma).
    compatible = unicodedata.normalize("NFKC", name.translate(LOOKALIKES)).translate(LOOKALIKES)
    # Once while case still tells which letter it looks like, and once more for what case and accents have hidden.
    plain = _without_marks(compatible.translate(prototypes()))
    folded = _without_marks(plain.translate(prototypes())).translate(LOOKALIKES)
    for pair, letter in LOOKALIKE_PAIRS:
        folded = folded.replace(pair, letter)
    return folded


def _without_marks(text: str) -> str:
    """Give a text without case, accents, spaces and what is drawn as nothing."""
    # Accents come off after casefolding, which can split a letter into a letter and a mark.
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in letters if unicodedata.category(c) not in _DROPPED and c not in INVISIBLE)


def are_alike(one: str, other: str) -> bool:
    """Tell whether two names must be taken for the same one; a name without a skeleton is alike to every such."""
    return skeleton(one) == skeleton(other)
