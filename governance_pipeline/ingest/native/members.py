"""Members of a native record, judged: a value of its type, absent, or the record cannot be used.

What belongs here: the few types native records are made of. What does not: which members a record has. `null` is the
same as absent (spec/ingest.md §3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.strict.lexeme import Lexeme, NonFinite

if TYPE_CHECKING:
    from collections.abc import Mapping


class UnusableRecord(Exception):  # noqa: N818 - caught where the record is quarantined; never leaves ingest
    """A record that cannot be used; `code` is its reason in `raw_quarantine`."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


def members_of(value: Any) -> Mapping[str, Any]:
    """Give the members of a record.

    Raises:
        UnusableRecord: `not_an_object`.
    """
    if not isinstance(value, dict):
        raise UnusableRecord("not_an_object")
    return value


def is_text(value: Any) -> bool:
    """Tell whether a parsed value is a JSON text (a number kept as written is none)."""
    return isinstance(value, str) and not isinstance(value, Lexeme | NonFinite)


def optional_text(members: Mapping[str, Any], name: str) -> str | None:
    """Give a text, None when absent.

    Raises:
        UnusableRecord: `bad_<name>` when it is something else.
    """
    value = members.get(name)
    if value is not None and not is_text(value):
        raise UnusableRecord(f"bad_{name}")
    return value


def required_text(members: Mapping[str, Any], name: str) -> str:
    """Give a text that is not empty.

    Raises:
        UnusableRecord: `bad_<name>` when it is absent, empty or no text.
    """
    value = optional_text(members, name)
    if not value:
        raise UnusableRecord(f"bad_{name}")
    return value


def optional_flag(members: Mapping[str, Any], name: str) -> bool | None:
    """Give true or false, None when absent.

    Raises:
        UnusableRecord: `bad_<name>` when it is something else.
    """
    value = members.get(name)
    if value is not None and not isinstance(value, bool):
        raise UnusableRecord(f"bad_{name}")
    return value


def optional_integer(members: Mapping[str, Any], name: str, *, at_least: int | None = None) -> int | None:
    """Give a JSON integer, None when absent. 2.0 and true are none; `-0` is 0.

    Raises:
        UnusableRecord: `bad_<name>` when it is something else, below `at_least` or beyond 64 bits signed, which no
            table can hold.
    """
    value = members.get(name)
    if value is None:
        return None
    if value == "-0" and isinstance(value, Lexeme):
        value = 0
    if isinstance(value, bool) or not isinstance(value, int) or (at_least is not None and value < at_least):
        raise UnusableRecord(f"bad_{name}")
    return value


def required_integer(members: Mapping[str, Any], name: str, *, at_least: int | None = None) -> int:
    """Give a JSON integer that is there.

    Raises:
        UnusableRecord: as `optional_integer`, and when it is absent.
    """
    value = optional_integer(members, name, at_least=at_least)
    if value is None:
        raise UnusableRecord(f"bad_{name}")
    return value
