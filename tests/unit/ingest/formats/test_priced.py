"""Tokens x price: a count or a price nobody knows makes the cost unknown, and says why."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from governance_pipeline.ingest.extraction import Extraction
from governance_pipeline.ingest.formats.priced import SOURCE, add_priced_call
from governance_pipeline.ingest.formats.usage import Tokens
from governance_pipeline.ingest.prices import Price

AT = datetime(2026, 7, 1, tzinfo=UTC)
PRICE = Price("m", None, None, "3", "15", None, "3.75", None, 1000, "list")


class Rows:
    """A subject that keeps its one component row."""

    def __init__(self):
        self.out = Extraction("r-1")
        self.out.prices.append(PRICE)

    def component(self, source, row_index, columns):
        assert (source, row_index) == (SOURCE, 1)
        self.row = {name: None if value is None else str(value) for name, (_, value) in columns.items()}


def priced(tokens, model="m", at=AT):
    rows = Rows()
    add_priced_call(rows, 1, None, model, at, tokens)
    return rows.row


@pytest.mark.parametrize(
    ("tokens", "model", "reason"),
    [
        (Tokens(10, 1, 0, 0), "nobody", "no price: model_unknown"),
        (Tokens(10, 1, 0, 0), None, "no price: model_unnamed"),
        (Tokens(1001, 1, 0, 0), "m", "no price: above_priced_input"),
    ],
)
def test_without_a_price_every_used_kind_is_missing_and_the_reason_is_there(tokens, model, reason):
    row = priced(tokens, model)
    assert (row["input_usd"], row["output_usd"], row["price_source"]) == (None, None, reason)
    assert (row["cache_read_usd"], row["cache_write_usd"]) == ("0", "0")


def test_cached_tokens_are_taken_out_of_the_input_and_one_without_a_price_is_missing():
    row = priced(Tokens(100, 7, 20, 30))
    assert (row["input_tokens"], row["input_usd"]) == ("50", "3")
    assert (row["cache_write_tokens"], row["cache_write_usd"]) == ("20", "3.75")
    assert (row["cache_read_tokens"], row["cache_read_usd"]) == ("30", None)
    assert row["price_source"] == "list: m, the beginning to now"


@pytest.mark.parametrize("tokens", [Tokens(), Tokens(100, 7), Tokens(None, 7, 0, 0), Tokens(10, 7, 5, 6)])
def test_an_input_that_is_not_known_kind_by_kind_is_missing(tokens):
    assert priced(tokens)["input_tokens"] is None
