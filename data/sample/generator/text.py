"""Exact text of what is written: JSON without floats, digests, times, canonical numbers."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any


class Raw(str):
    """Text that goes into the JSON as it is: how NaN or a repeated member is planted."""

    __slots__ = ()


def json_text(value: Any) -> str:
    """Write `value` as compact JSON; a Decimal keeps every digit it has.

    Raises:
        TypeError: a float, whose text would not be chosen by the plan, or another foreign type.
    """
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{json_text(key)}:{json_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(json_text(item) for item in value) + "]"
    if value is None or isinstance(value, bool | int | str):
        return json.dumps(value, ensure_ascii=False)
    raise TypeError(f"{type(value).__name__} has no exact text: use Decimal, int or str")


def json_lines(values: list[Any]) -> bytes:
    """Write one value per line, each line ended by a newline."""
    return "".join(f"{json_text(value)}\n" for value in values).encode()


def sha256(data: bytes | str) -> str:
    """Give the lower-case hex digest of bytes or of UTF-8 text."""
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()


def canonical(number: Decimal | int) -> str:
    """Write a number as the tables hold it: no exponent, no trailing zero after the point, no -0."""
    text = f"{Decimal(number):f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


class Clock:
    """Time inside one round; it only moves when told to."""

    def __init__(self, start: datetime) -> None:
        self.now = start

    def tick(self, milliseconds: int) -> datetime:
        """Move on and give the new time."""
        self.now += timedelta(milliseconds=milliseconds)
        return self.now

    def seconds(self) -> str:
        """Give the time to the second, as the native logs write it."""
        return self.now.strftime("%Y-%m-%dT%H:%M:%SZ")

    def milliseconds(self) -> str:
        """Give the time to the millisecond, as Claude Code writes it."""
        return f"{self.now:%Y-%m-%dT%H:%M:%S}.{self.now.microsecond // 1000:03d}Z"

    def epoch(self) -> Decimal:
        """Give seconds since 1970 with three decimals, as mini-SWE-agent writes them."""
        microseconds = (self.now - datetime(1970, 1, 1, tzinfo=self.now.tzinfo)) // timedelta(microseconds=1)
        return Decimal(microseconds // 1000).scaleb(-3)
