"""Native prices: `prices.jsonl`, one price of one model per line; it goes before the shipped table.

A line is `{"model", "valid_from", "valid_until", "input", "output", "cache_read", "cache_write", "cache_write_1h",
"up_to_input_tokens", "source"}` as `ingest.prices.Price`: USD per million tokens. `model`, `input`, `output` and
`source` (where the price is from, in words) are mandatory; a member nobody reads, a negative number, a day that is
none and a price that overlaps an earlier one of the same model are refused with their line.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.native.members import (
    UnusableRecord,
    members_of,
    optional_integer,
    optional_text,
    required_text,
)
from governance_pipeline.ingest.prices import Price
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.numbers import exact_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Sample

NAME: Final = "native_prices"
DECLARES: Final[tuple[str, ...]] = ()
RECOMPUTABLE: Final[tuple[str, ...]] = ()
VERSIONS: Final = "govern/prices/v1"


def detect(_sample: Sample) -> bool:
    """Prices are known by their place in the round folder, not by their content."""
    return False


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read every price into `out.prices`."""
    for file in files:
        for record in file.lines():
            try:
                out.prices.append(price_of(record.value, out.prices))
            except UnusableRecord as reason:
                file.quarantine(record, reason.code)


def price_of(value: Any, known: Sequence[Price] = ()) -> Price:
    """Read one price; `known` are those read before.

    Raises:
        UnusableRecord: `not_an_object`, `unknown_member`, `bad_<member>`, or `overlapping_price`.
    """
    members = members_of(value)
    if not members.keys() <= set(Price._fields):
        raise UnusableRecord("unknown_member")
    price = Price(
        required_text(members, "model"),
        _day(members, "valid_from"),
        _day(members, "valid_until"),
        _required_amount(members, "input"),
        _required_amount(members, "output"),
        _amount(members, "cache_read"),
        _amount(members, "cache_write"),
        _amount(members, "cache_write_1h"),
        optional_integer(members, "up_to_input_tokens", at_least=1),
        required_text(members, "source"),
    )
    if price.valid_from is not None and price.valid_until is not None and price.valid_until < price.valid_from:
        raise UnusableRecord("bad_valid_until")
    if any(price.overlaps(other) for other in known):
        raise UnusableRecord("overlapping_price")
    return price


def _required_amount(members: Mapping[str, Any], name: str) -> str:
    amount = _amount(members, name)
    if amount is None:
        raise UnusableRecord(f"bad_{name}")
    return amount


def _amount(members: Mapping[str, Any], name: str) -> str | None:
    """Give a price as written: a JSON number of 0 or more that is exact (spec/crosscheck.md §11)."""
    value = members.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | Lexeme):
        raise UnusableRecord(f"bad_{name}")
    number = exact_number(str(value))
    if number is None or number < 0:
        raise UnusableRecord(f"bad_{name}")
    return str(value)


def _day(members: Mapping[str, Any], name: str) -> date | None:
    written = optional_text(members, name)
    try:
        day = None if written is None else date.fromisoformat(written)
    except ValueError:
        raise UnusableRecord(f"bad_{name}") from None
    if day is not None and day.isoformat() != written:  # 2026-W01-1 and 20260101 are days too, and easily misread
        raise UnusableRecord(f"bad_{name}")
    return day
