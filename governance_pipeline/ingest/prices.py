"""What a model's tokens cost on a day, and why nobody knows where nobody does.

What belongs here: the shipped price table, finding a price in it, and rows of a user before it. What does not: which
cost of a log is checked with a price (formats) and the file of a user (native).

`prices.json` is data taken from releases of the package litellm (MIT), whose price list most agent tools compute their
costs with: `data/prices/make_table.py` lays the releases named in it side by side. So a price has the days between
which it was published, and its source names package and releases; nothing is asked of a network. A price that is
not known for sure is unknown: the model is not listed, the day lies before, between or after the releases that say
so, the call is undated and the price has changed, or it used more input tokens than the price is for. It is never 0
and never that of a model with a similar name.

Names match exactly. The one exception is declared: LiteLLM's proxy writes `litellm_proxy/NAME`, where NAME is what
the proxy calls the model; it has a price where all providers that list NAME on that day agree on it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import date
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SCHEMA: Final = "govern/prices/v1"
TABLE: Final = "prices.json"
ROUTE: Final = "litellm_proxy/"

KINDS: Final = ("input", "output", "cache_read", "cache_write")
"""Kinds of tokens that have a price of their own; `input` are those neither read from nor written to a cache."""


class Unpriced(StrEnum):
    """Why a call has no price; the first that applies, in this order."""

    MODEL_UNNAMED = "model_unnamed"
    MODEL_UNKNOWN = "model_unknown"
    CALL_UNDATED = "call_undated"
    DAY_NOT_COVERED = "day_not_covered"
    PRICES_DISAGREE = "prices_disagree"
    ABOVE_PRICED_INPUT = "above_priced_input"


class Price(NamedTuple):
    """One price of one model, in USD per million tokens, as exact decimals.

    It stands from `valid_from` to `valid_until`, both included (None: no such bound). A kind of tokens with None has
    no known price. It is for calls of up to `up_to_input_tokens` input tokens, cached ones included (None: any).
    """

    model: str
    valid_from: date | None
    valid_until: date | None
    input: str
    output: str
    cache_read: str | None
    cache_write: str | None
    cache_write_1h: str | None
    up_to_input_tokens: int | None
    source: str

    def covers(self, day: date) -> bool:
        """Tell whether the price stands on a day."""
        is_begun = self.valid_from is None or self.valid_from <= day
        return is_begun and (self.valid_until is None or day <= self.valid_until)

    def overlaps(self, other: Price) -> bool:
        """Tell whether two prices stand on a common day."""
        return self.model == other.model and (
            (self.valid_from or date.min) <= (other.valid_until or date.max)
            and (other.valid_from or date.min) <= (self.valid_until or date.max)
        )

    @property
    def amounts(self) -> tuple[str | int | None, ...]:
        """Everything that decides what a call costs; cache writes for an hour are in no check yet."""
        return (*(getattr(self, kind) for kind in KINDS), self.up_to_input_tokens)


class PriceTable:
    """Prices by model; where none of them stands, those of `under` are asked."""

    def __init__(self, prices: Iterable[Price], under: PriceTable | None = None) -> None:
        self._by_model: dict[str, list[Price]] = defaultdict(list)
        self._by_last_name: dict[str, list[Price]] = defaultdict(list)
        for price in prices:
            self._by_model[price.model].append(price)
            self._by_last_name[price.model.rpartition("/")[2]].append(price)
        self._under = under

    def find(self, model: str | None, day: date | None, input_tokens: int | None = None) -> Price | Unpriced:
        """Give the price of a call, or why it has none.

        Args:
            model: as the log names it; compared exactly.
            day: UTC day of the call; None when the log has none.
            input_tokens: of the call, cached ones included; None when the log has none, and then any price is for it.
        """
        if not model:
            return Unpriced.MODEL_UNNAMED
        found = self._standing(model, day)
        if isinstance(found, Price):
            limit = found.up_to_input_tokens
            is_above = limit is not None and input_tokens is not None and input_tokens > limit
            return Unpriced.ABOVE_PRICED_INPUT if is_above else found
        if self._under is None or found is Unpriced.PRICES_DISAGREE:
            return found
        below = self._under.find(model, day, input_tokens)
        return found if below is Unpriced.MODEL_UNKNOWN else below

    def _standing(self, model: str, day: date | None) -> Price | Unpriced:
        prices = self._by_model.get(model) or self._routed(model)
        if not prices:
            return Unpriced.MODEL_UNKNOWN
        standing = prices if day is None else [price for price in prices if price.covers(day)]
        if not standing:
            return Unpriced.DAY_NOT_COVERED
        if len({price.amounts for price in standing}) > 1:
            return Unpriced.CALL_UNDATED if day is None else Unpriced.PRICES_DISAGREE
        return standing[0]

    def _routed(self, model: str) -> Sequence[Price]:
        """Give the prices of what a proxy may mean by a name: that of any provider that lists it."""
        if not model.startswith(ROUTE):
            return ()
        name = model.removeprefix(ROUTE)
        listed = self._by_last_name.get(name.rpartition("/")[2], ())
        return [price for price in listed if price.model == name or price.model.endswith(f"/{name}")]


@cache
def shipped_prices() -> PriceTable:
    """Read the shipped table (once per process)."""
    document = json.loads((resources.files("governance_pipeline.ingest") / TABLE).read_text("utf-8"))
    return PriceTable(_shipped(row) for row in document["rows"])


def _shipped(row: Sequence[str | None]) -> Price:
    model, begin, end, fresh, output, read, written, written_1h, limit, source = row
    return Price(
        model or "",
        None if begin is None else date.fromisoformat(begin),
        None if end is None else date.fromisoformat(end),
        fresh or "",
        output or "",
        read,
        written,
        written_1h,
        None if limit is None else int(limit),
        source or "",
    )
