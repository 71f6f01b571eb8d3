"""Making a passkey for one person of a trust root, on the page of the inbox it will count on.

What belongs here: the ceremony of registration, and the proof that the new passkey signs. What does not: adding it to
the trust root, which its owner signs (`ledger.root_keeping`).

The registration is read by the `webauthn` library (extra `webauthn`), which knows CBOR and COSE. Attestation is not
asked for: it says which product an authenticator is, and nobody here keeps a list of good ones. What matters is proved
at once instead: the new passkey signs the statement of possession, which names person, trust root and key, with the
person verified; whoever adds it checks that signature as any later one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from starlette.routing import Route

from governance_pipeline.errors import UsageError
from governance_pipeline.gate.inbox.application import guarded
from governance_pipeline.gate.inbox.entrance import secret
from governance_pipeline.gate.inbox.members import assertion_of
from governance_pipeline.gate.inbox.rendering import html
from governance_pipeline.gate.inbox.site import RP_ID
from governance_pipeline.trust import dsse
from governance_pipeline.trust.keys import fingerprint
from governance_pipeline.trust.passkeys import (
    Assertion,
    Passkey,
    asserted_by,
    assertion_bytes,
    base64url,
    base64url_bytes,
    challenge_of,
    is_sound_passkey,
)
from governance_pipeline.trust.possession import POSSESSION_PAYLOAD_TYPE, possession_statement
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from starlette.requests import Request
    from starlette.responses import Response

    from governance_pipeline.gate.inbox.entrance import Entrance
    from governance_pipeline.gate.inbox.guarding import Guarded

RP_NAME: Final = "governance-pipeline inbox"
ALGORITHMS: Final = (-7, -257)
"""Kinds of key, best first: ES256, and RS256 for authenticators that have no other (COSE algorithms)."""


class Enrolled(NamedTuple):
    """A passkey that was made: its public key, what it is bound to, and the envelope that proves that it signs."""

    public_key: bytes
    passkey: Passkey
    proof: bytes


class Enrolment:
    """Makes one passkey of one person, then is over."""

    def __init__(
        self,
        entrance: Entrance,
        principal: str,
        root_fingerprint: str,
        known: Collection[bytes],
        done: Callable[[], None],
    ) -> None:
        """Set it up.

        Args:
            entrance: its door.
            principal: whose passkey is made.
            root_fingerprint: pinned root key of the trust root it is for.
            known: credentials of the trust root; an authenticator that holds one makes no other.
            done: told when the passkey is made.

        Raises:
            UsageError: the extra `webauthn` is not installed.
        """
        _require_webauthn()
        self.enrolled: Enrolled | None = None
        self._entrance = entrance
        self._principal = principal
        self._root_fingerprint = root_fingerprint
        self._known = tuple(known)
        self._done = done
        self._challenge: bytes | None = None
        self._made: tuple[bytes, Passkey] | None = None

    def application(self) -> Guarded:
        """Give the application behind its rules."""
        registered = {"credential_id", "client_data_json", "attestation_object"}
        acting = self._entrance.acting
        return guarded(
            [
                Route("/", self._page),
                Route("/enrolment/options", acting(self._options, ()), methods=["POST"]),
                Route("/enrolment/credential", acting(self._registered, registered), methods=["POST"]),
                Route("/enrolment/proof", acting(self._proved, set(Assertion._fields)), methods=["POST"]),
            ],
            self._entrance,
        )

    def _page(self, request: Request) -> Response:
        session = self._entrance.session_of(request)
        if session is None:
            return self._entrance.shut()
        token = self._entrance.sessions.new_token(session)
        return html("enrolment.html", title="A passkey", principal=self._principal, token=token,
                    origin=self._entrance.site.origin)  # fmt: skip

    def _options(self, request: Request, session: str, given: dict[str, str]) -> dict[str, Any]:  # noqa: ARG002 - an act
        self._challenge = challenge_of(secret().encode())
        return {
            "challenge": base64url(self._challenge),
            "rp_id": RP_ID,
            "rp_name": RP_NAME,
            "user_id": base64url(challenge_of(self._principal.encode())),
            "name": self._principal,
            "algorithms": list(ALGORITHMS),
            "known": [base64url(credential) for credential in self._known],
        }

    def _registered(self, request: Request, session: str, given: dict[str, str]) -> dict[str, Any]:  # noqa: ARG002 - an act
        challenge, self._challenge = self._challenge, None
        if challenge is None:
            raise Refusal(ReasonCode.REPLAYED, "this registration was used; make the passkey again")
        credential_id, public_key = _registration(given, challenge, self._entrance.site.origin)
        if not is_sound_passkey(public_key):
            raise Refusal(ReasonCode.MALFORMED, "the authenticator made another kind of key than was asked for")
        self._made = public_key, Passkey(credential_id, RP_ID, self._entrance.site.origin)
        challenge = challenge_of(self._message(public_key))
        return {"challenge": base64url(challenge), "rp_id": RP_ID, "credentials": [base64url(credential_id)]}

    def _proved(self, request: Request, session: str, given: dict[str, str]) -> None:  # noqa: ARG002 - an act
        assertion = assertion_of(given)
        if self._made is None:
            raise Refusal(ReasonCode.REPLAYED, "no passkey is being made; make it again")
        public_key, passkey = self._made
        if not asserted_by(assertion, self._message(public_key), public_key, passkey):
            raise Refusal(ReasonCode.BAD_SIGNATURE, "the new passkey did not sign what it was asked to")
        if not assertion.is_present:
            raise Refusal(
                ReasonCode.NO_USER_PRESENCE, "the authenticator did not verify who is there; use one that can"
            )
        signature = dsse.Signature(fingerprint(public_key), assertion_bytes(assertion))
        envelope = dsse.Envelope(POSSESSION_PAYLOAD_TYPE, self._statement(public_key), (signature,))
        self.enrolled = Enrolled(public_key, passkey, dsse.envelope_bytes(envelope))
        self._made = None
        self._done()

    def _statement(self, public_key: bytes) -> bytes:
        return possession_statement(self._principal, self._root_fingerprint, public_key)

    def _message(self, public_key: bytes) -> bytes:
        return dsse.pae(POSSESSION_PAYLOAD_TYPE, self._statement(public_key))


def _require_webauthn() -> None:
    try:
        import webauthn  # noqa: F401 - only whether it is there
    except ImportError:
        how = "install the extra: pip install 'governance-pipeline[webauthn]'"
        raise UsageError(f"making a passkey needs the package webauthn, which is not here; {how}") from None


def _registration(given: dict[str, str], challenge: bytes, origin: str) -> tuple[bytes, bytes]:
    """Verify a registration; gives the credential id and the public key as DER SubjectPublicKeyInfo."""
    from cryptography.hazmat.primitives import serialization
    from webauthn import verify_registration_response
    from webauthn.helpers import decode_credential_public_key, decoded_public_key_to_cryptography
    from webauthn.helpers.cose import COSEAlgorithmIdentifier
    from webauthn.helpers.exceptions import WebAuthnException

    response = {"clientDataJSON": given["client_data_json"], "attestationObject": given["attestation_object"]}
    name = given["credential_id"]
    try:
        base64url_bytes(name)
        found = verify_registration_response(
            credential={"id": name, "rawId": name, "type": "public-key", "response": response},
            expected_challenge=challenge, expected_rp_id=RP_ID, expected_origin=origin,
            require_user_verification=True,
            supported_pub_key_algs=[COSEAlgorithmIdentifier(number) for number in ALGORITHMS],
        )  # fmt: skip
        key = decoded_public_key_to_cryptography(decode_credential_public_key(found.credential_public_key))
    except (WebAuthnException, ValueError) as error:
        is_absent = any(word in str(error) for word in ("not verified", "not present"))
        code = ReasonCode.NO_USER_PRESENCE if is_absent else ReasonCode.BAD_SIGNATURE
        raise Refusal(code, f"this registration cannot be used: {error}") from None
    form = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return found.credential_id, key.public_bytes(*form)
