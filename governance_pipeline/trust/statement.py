"""in-toto Statement v1: what a signed payload is about, and what it claims.

What belongs here: writing and reading the statement layer. What does not: predicates (`verdict`; approvals are the
gate's) and signatures (`dsse`). By the specification subjects are matched by digest alone and unknown members are
ignored.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.strict.canonical import canonical_json
from governance_pipeline.trust.dsse import parse_members
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.vocabulary import SHA256_PATTERN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from governance_pipeline.trust.dsse import Envelope

STATEMENT_PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"

_SHA256: Final = re.compile(SHA256_PATTERN, re.ASCII)


class Subject(NamedTuple):
    """One thing a statement is about: its name (may be empty) and the SHA-256 of its bytes."""

    name: str
    sha256: str


class Statement(NamedTuple):
    """A parsed statement: subjects, the URI of the predicate's type, and the predicate."""

    subjects: tuple[Subject, ...]
    predicate_type: str
    predicate: Mapping[str, Any]


def statement_bytes(subjects: Iterable[Subject], predicate_type: str, predicate: Mapping[str, Any]) -> bytes:
    """Write a statement as canonical JSON: the payload to sign.

    Raises:
        UnreadableError: the predicate holds a value canonical JSON cannot carry.
    """
    return canonical_json(
        {
            "_type": STATEMENT_TYPE,
            "subject": [{"name": subject.name, "digest": {"sha256": subject.sha256}} for subject in subjects],
            "predicateType": predicate_type,
            "predicate": dict(predicate),
        }
    )


def statement_of(envelope: Envelope) -> Statement:
    """Read the statement an envelope carries, from the very bytes that were signed.

    Raises:
        Refusal: WRONG_TYPE for another payload type; else as `parse_statement`.
    """
    if envelope.payload_type != STATEMENT_PAYLOAD_TYPE:
        raise Refusal(ReasonCode.WRONG_TYPE, f"the payload is no in-toto statement ({STATEMENT_PAYLOAD_TYPE})")
    return parse_statement(envelope.payload)


def parse_statement(payload: bytes) -> Statement:
    """Read the bytes of a statement.

    Raises:
        Refusal: TOO_LARGE, MALFORMED, or WRONG_TYPE when `_type` is another one.
    """
    members = parse_members(payload, "the statement")
    if members.get("_type") != STATEMENT_TYPE:
        raise Refusal(ReasonCode.WRONG_TYPE, f"_type of the statement is not {STATEMENT_TYPE}")
    subjects, predicate = members.get("subject"), members.get("predicate")
    if not isinstance(subjects, list) or not subjects:
        raise malformed("subject is no list, or an empty one")
    if predicate is None:  # unset is the same as empty
        predicate = {}
    if not isinstance(predicate, dict):
        raise malformed("predicate is no object")
    predicate_type = text_member(members, "predicateType")
    return Statement(tuple(_subject(value) for value in subjects), predicate_type, predicate)


def text_member(members: Mapping[str, Any], name: str) -> str:
    """Give a member that must be a text and not empty.

    Raises:
        Refusal: MALFORMED.
    """
    value = members.get(name)
    if type(value) is not str or not value:  # a Lexeme is a number, not a text
        raise malformed(f"{name} is missing or no text")
    return value


def sha256_member(members: Mapping[str, Any], name: str = "digest") -> str:
    """Give the SHA-256 of a digest set; other algorithms beside it are ignored.

    Raises:
        Refusal: MALFORMED.
    """
    digests = members.get(name)
    value = digests.get("sha256") if isinstance(digests, dict) else None
    if type(value) is not str or not _SHA256.fullmatch(value):
        raise malformed(f"{name} holds no sha256 in lower-case hex")
    return value


def malformed(what: str) -> Refusal:
    """Give the refusal of a statement that breaks its shape."""
    return Refusal(ReasonCode.MALFORMED, f"the statement cannot be used: {what}")


def _subject(value: Any) -> Subject:
    if not isinstance(value, dict):
        raise malformed("a subject is no object")
    name = value.get("name", "")
    if type(name) is not str:
        raise malformed("the name of a subject is no text")
    return Subject(name, sha256_member(value))
