"""Bodies of requests: strict JSON of texts, no member more and none less.

What belongs here: reading a body and an assertion in it. What does not: what a member means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.trust.passkeys import Assertion, base64url_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


class Malformed(Exception):  # noqa: N818 - a refusal of what a browser sent, never an error of ours
    """A body does not hold what it must; says what."""


def texts_of(body: bytes, members: Collection[str], optional: Collection[str] = ()) -> dict[str, str]:
    """Read a body as an object of texts.

    Args:
        body: the bytes.
        members: names it must have.
        optional: names it may have.

    Raises:
        RecordRefused: no strict JSON.
        Malformed: no object, a member is missing or unknown, or one is no text.
    """
    value = parse_json(body)
    if not isinstance(value, dict):
        raise Malformed("the body is no object")
    if missing := set(members) - set(value):
        raise Malformed(f"the body has no {min(missing)}")
    for name, member in value.items():
        if name not in members and name not in optional:
            raise Malformed(f"the body has {excerpt(name, 40)!r}, which nobody asked for")
        if not isinstance(member, str):
            raise Malformed(f"{name} is no text")
    return value


def assertion_of(given: Mapping[str, str]) -> Assertion:
    """Read an assertion as the page sends it, each part in Base64url.

    Raises:
        Malformed: a part is not.
    """
    try:
        return Assertion(**{name: base64url_bytes(given[name]) for name in Assertion._fields})
    except ValueError as error:
        raise Malformed(f"a part of the assertion is {error}") from None
