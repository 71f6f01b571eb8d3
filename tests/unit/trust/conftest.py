"""Keys, roots and envelopes for tests; every secret is the digest of a published sentence."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from governance_pipeline.trust.principals import Key, Kind, Principal, Role, Validity
from governance_pipeline.trust.root import TrustRoot, first_root

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
YEAR = timedelta(days=365)


@dataclass(frozen=True)
class TestSigner:
    """Signs with a key made from a name."""

    __test__ = False
    name: str
    assurance: str = "key_file"

    @property
    def _key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(f"test key of {self.name}".encode()).digest())

    @property
    def public_key(self) -> bytes:
        return self._key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)

    def sign(self, message: bytes) -> bytes:
        return self._key.sign(message)


def principal(name: str, *roles: Role, kind: Kind = Kind.HUMAN, controller: str | None = None, keys=None, **more):
    """Give a principal whose key is that of its name."""
    keys = (Key(TestSigner(name).public_key, Validity()),) if keys is None else keys
    return Principal(name, kind, controller or name, frozenset(roles), keys, **more)


def root_with(*principals: Principal, **more) -> TrustRoot:
    """Give a root of `owner` with more principals."""
    root = first_root("owner", TestSigner("owner").public_key, NOON + YEAR)
    return TrustRoot(
        root.version, root.expires, more.pop("is_throwaway", False), (*root.principals, *principals), **more
    )


@pytest.fixture
def signer():
    """Give the signer of a name."""
    return TestSigner


@pytest.fixture
def make_principal():
    """Give the maker of principals."""
    return principal


@pytest.fixture
def make_root():
    """Give the maker of roots."""
    return root_with
