"""Times written in the usual ways, read many at once from their bytes.

What belongs here: ISO 8601 with date, time to the second, at most six decimals and an offset, from year 1000 to 8999.
What does not: any other way to write a time, which `extraction.parse_time` reads; it reads these the same, which a
test shows.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from governance_pipeline.ingest.flat_bytes import Flags, Places, Words

_ZERO: Final = np.uint8(ord("0"))
_SECONDS_AT: Final = 19  # bytes of a date and a time to the second
_FRACTION_AT_MOST: Final = 6
_ZONE_BYTES: Final = 6
_SHORTEST: Final = _SECONDS_AT + 1
_LONGEST: Final = _SECONDS_AT + 1 + _FRACTION_AT_MOST + _ZONE_BYTES
_MASKS: Final = np.array([(1 << 8 * size) - 1 for size in range(_FRACTION_AT_MOST + 1)], np.uint64)
_FIRST_YEAR, _YEAR_BEHIND = 1000, 9000


def _word(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(text.encode("latin-1"), "little"))


_DIGITS: Final = tuple(_word(text) for text in ("\1\1\1\1\0\1\1\0", "\1\1\0\1\1\0\1\1", "\0\1\1"))
_DIGITS_SEEN: Final = tuple(_word(text) for text in ("\1\1\1\1\1\1\1\1", "\1\1\1\1\1\1\1\1", "\1\1\1"))
_SIGNS: Final = tuple(_word(text) for text in ("\0\0\0\0-\0\0-", "\0\0T\0\0:\0\0", ":"))
_SIGNS_SEEN: Final = tuple(_word(text) for text in ("\0\0\0\0\xff\0\0\xff", "\0\0\xff\0\0\xff\0\0", "\xff"))
_BLANK_FOR_T: Final = _word("\0\0 \0\0:\0\0")
_ZEROS: Final = _word("00000000")
_ZONE_DIGITS: Final = _word("\0\1\1\0\1\1")
_ZONE_SEEN: Final = _word("\1\1\1\1\1\1")
_FRACTION_SEEN: Final = _ZONE_SEEN


class Instants(NamedTuple):
    """Microseconds since 1970 in UTC, and whether they are known."""

    microseconds: npt.NDArray[np.int64]
    are_known: Flags


def read_instants(words: Words, starts: Places, ends: Places) -> Instants:
    """Read times; one that is not written in a way known here is not known.

    Args:
        words: eight bytes from each byte on; at least 32 bytes follow the last start.
        starts: first byte of each time.
        ends: the byte behind its last.
    """
    lengths = ends - starts
    parts = np.stack([words[starts], words[starts + 8], words[starts + 16]], axis=1)
    digits = parts.view(np.uint8) - _ZERO
    are_digits = (digits < 10).view(np.uint64)  # noqa: PLR2004 - ten digits
    known = (lengths >= _SHORTEST) & (lengths <= _LONGEST)
    for at in range(3):
        known &= (are_digits[:, at] & _DIGITS_SEEN[at]) == _DIGITS[at]
        signs = parts[:, at] & _SIGNS_SEEN[at]
        known &= (signs == _SIGNS[at]) | (signs == _BLANK_FOR_T) if at == 1 else signs == _SIGNS[at]
    numbers = digits.astype(np.int32)

    def two(at: int) -> npt.NDArray[np.int32]:
        return numbers[:, at] * 10 + numbers[:, at + 1]

    hour, minute, second = two(11), two(14), two(17)
    known &= (hour < 24) & (minute < 60) & (second < 60)  # noqa: PLR2004 - a clock
    days, is_day = _days(two(0) * 100 + two(2), two(5), two(8))
    offset, zone_bytes, has_zone = _zones(words, ends)
    fraction, has_fraction = _fractions(words, starts, lengths - _SECONDS_AT - zone_bytes)
    known &= is_day & has_zone & has_fraction
    seconds = days * 86_400 + (hour * 3_600 + minute * 60 + second).astype(np.int64) - offset * 60
    return Instants(seconds * 1_000_000 + fraction.astype(np.int64), known)


@cache
def _month_starts() -> npt.NDArray[np.int64]:
    """Days since 1970 of the first of each month of the years known here, and of the month behind them."""
    months = np.arange(f"{_FIRST_YEAR}-01", f"{_YEAR_BEHIND}-02", dtype="M8[M]")
    return months.astype("M8[D]").astype(np.int64)


def _days(
    year: npt.NDArray[np.int32], month: npt.NDArray[np.int32], day: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], Flags]:
    """Count days since 1970 in the Gregorian calendar; tell whether there is such a day."""
    is_month = (year >= _FIRST_YEAR) & (year < _YEAR_BEHIND) & (month >= 1) & (month <= 12)  # noqa: PLR2004 - a year
    places = np.where(is_month, (year - _FIRST_YEAR) * 12 + month - 1, 0)
    starts = _month_starts()
    first = starts[places]
    return first + (day - 1).astype(np.int64), is_month & (day >= 1) & (day <= starts[places + 1] - first)


def _zones(words: Words, ends: Places) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Flags]:
    """Give minutes east of UTC, how many bytes say so, and whether it is known."""
    letters = words[ends - _ZONE_BYTES]
    is_utc = (letters >> np.uint64(40)) & np.uint64(0xFF) == ord("Z")
    count = len(ends)
    if is_utc.all():
        return np.zeros(count, np.int64), np.ones(count, np.int64), is_utc
    parts = letters.view(np.uint8).reshape(count, 8)
    digits = parts - _ZERO
    number = digits[:, 1:6].astype(np.int64)
    hours, minutes = number[:, 0] * 10 + number[:, 1], number[:, 3] * 10 + number[:, 4]
    is_written = ((digits < 10).view(np.uint64)[:, 0] & _ZONE_SEEN) == _ZONE_DIGITS  # noqa: PLR2004 - ten digits
    is_east = parts[:, 0] == ord("+")
    is_known = is_written & (parts[:, 3] == ord(":")) & (is_east | (parts[:, 0] == ord("-")))
    is_known &= (hours < 14) & (minutes < 60)  # noqa: PLR2004 - what every reader takes
    offset = np.where(is_utc, 0, np.where(is_east, 1, -1) * (hours * 60 + minutes))
    return offset, np.where(is_utc, 1, _ZONE_BYTES), is_utc | is_known


def _fractions(words: Words, starts: Places, lengths: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int32], Flags]:
    """Give the microseconds a point and decimals say, and whether they are known; no byte says 0."""
    is_point = (words[starts + _SECONDS_AT] & np.uint64(0xFF)) == ord(".")
    has_digits = (lengths > 1) & (lengths <= 1 + _FRACTION_AT_MOST) & is_point
    masks = _MASKS[np.where(has_digits, lengths - 1, 0)]
    written = (words[starts + _SECONDS_AT + 1] & masks) | (_ZEROS & ~masks)
    digits = written.view(np.uint8).reshape(len(starts), 8)[:, :_FRACTION_AT_MOST] - _ZERO
    number = np.zeros(len(starts), np.int32)
    for at in range(_FRACTION_AT_MOST):
        number = number * 10 + digits[:, at]
    are_digits = (written.view(np.uint8).reshape(len(starts), 8) - _ZERO < 10).view(np.uint64)[:, 0]  # noqa: PLR2004
    return number, (lengths == 0) | (has_digits & (are_digits & _FRACTION_SEEN == _FRACTION_SEEN))
