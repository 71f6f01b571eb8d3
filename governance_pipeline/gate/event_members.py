"""Members of an event's body, read strictly.

What belongs here: what a text and a digest must be, and the many members of a request. What does not: what other events
have (`events`, `attempts`, `delegation`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.trust.instants import instant_of
from governance_pipeline.vocabulary import SHA256_PATTERN, is_round_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_REQUEST_TEXTS: Final = (
    "request_id", "gate", "round_id", "subject_sha256", "requester", "policy_version", "policy_sha256", "code_sha256",
    "verdict_status",
)  # fmt: skip
_REQUEST_DIGESTS: Final = ("request_id", "subject_sha256", "policy_sha256", "code_sha256")
_SHA256: Final = re.compile(SHA256_PATTERN, re.ASCII)


def text(value: Any) -> str:
    """Give a text.

    Raises:
        TypeError: it is none; a number kept as it was written is none either.
    """
    if type(value) is not str:
        raise TypeError("a text is missing")
    return value


def texts(body: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """Give several texts of a body by their names.

    Raises:
        KeyError: one is missing.
        TypeError: one is no text.
    """
    return {name: text(body[name]) for name in names}


def are_digests(values: Iterable[Any]) -> bool:
    """Tell whether all values are SHA-256 digests in lower-case hex; they become names of files.

    Raises:
        TypeError: one is no text.
    """
    return all(_SHA256.fullmatch(text(value)) for value in values)


def request_members(body: Mapping[str, Any]) -> dict[str, Any]:
    """Give the members of a request's event, by the names of its record.

    Raises:
        KeyError: one is missing.
        TypeError: one is of another type.
        ValueError: the round id or a digest is none; both become names of files.
    """
    digests = (*(body[name] for name in _REQUEST_DIGESTS), *body["upstream"].values(), *body["verdicts"])
    if not is_round_id(body["round_id"]) or not are_digests(digests):
        raise ValueError("a round id or digest is none")
    supersedes = body["supersedes"]
    return {
        **texts(body, _REQUEST_TEXTS),
        "window": int(body["window"]),
        "created": instant_of(body["created"]),
        "expires": instant_of(body["expires"]),
        "actors": tuple(map(text, body["actors"])),
        "upstream": {text(table): text(digest) for table, digest in body["upstream"].items()},
        "producers_count": int(body["producers_count"]),
        "failed_independence": int(body["failed_independence"]),
        "mismatch_cases": int(body["mismatch_cases"]),
        "verdicts": tuple(map(text, body["verdicts"])),
        "supersedes": supersedes and text(supersedes),
    }
