"""A price is known for the days somebody published it, or it is unknown with its reason; it is never 0."""

from __future__ import annotations

import json
from datetime import date
from importlib import resources

import pytest

from governance_pipeline.ingest.prices import SCHEMA, TABLE, Price, PriceTable, Unpriced, shipped_prices
from governance_pipeline.strict.numbers import exact_number

JUNE, JULY, AUGUST = date(2026, 6, 15), date(2026, 7, 15), date(2026, 8, 15)
DOCUMENT = json.loads((resources.files("governance_pipeline.ingest") / TABLE).read_text("utf-8"))


def price(model="m", begin=None, end=None, amount="3", limit=None, source="list"):
    return Price(model, begin, end, amount, "15", "0.3", "3.75", None, limit, source)


@pytest.mark.parametrize("model", [None, ""])
def test_a_call_without_a_model_has_no_price(model):
    assert PriceTable([price()]).find(model, JULY) is Unpriced.MODEL_UNNAMED


@pytest.mark.parametrize("model", ["M", "m-2026-07-01", "x/m", "m ", "mm", "litellm_proxy/x"])
def test_a_name_that_is_merely_like_another_has_no_price(model):
    assert PriceTable([price()]).find(model, JULY) is Unpriced.MODEL_UNKNOWN


def test_a_day_outside_the_published_ones_has_no_price():
    table = PriceTable([price(begin=JULY, end=JULY)])
    assert [table.find("m", day) for day in (JUNE, AUGUST)] == [Unpriced.DAY_NOT_COVERED] * 2
    assert isinstance(table.find("m", JULY), Price)


def test_an_undated_call_has_a_price_only_when_it_never_changed():
    first, later = price(begin=JUNE, end=JULY), price(begin=AUGUST)
    assert PriceTable([first, later]).find("m", None) == first
    assert PriceTable([first, later._replace(output="16")]).find("m", None) is Unpriced.CALL_UNDATED


def test_a_call_above_the_input_a_price_is_for_has_none():
    table = PriceTable([price(limit=200_000)])
    assert table.find("m", JULY, 200_001) is Unpriced.ABOVE_PRICED_INPUT
    assert isinstance(table.find("m", JULY, 200_000), Price)


def test_a_name_of_a_proxy_has_a_price_when_all_who_list_it_agree():
    same = [price("a/m"), price("b/m"), price("a/mm", amount="1")]
    assert isinstance(PriceTable(same).find("litellm_proxy/m", JULY), Price)
    assert PriceTable([*same, price("m", amount="4")]).find("litellm_proxy/m", JULY) is Unpriced.PRICES_DISAGREE
    assert isinstance(PriceTable([*same, price("litellm_proxy/m")]).find("litellm_proxy/m", JULY), Price)


def test_own_prices_go_first_and_the_table_below_fills_the_other_days_and_models():
    below = PriceTable([price(amount="1"), price("other", amount="1")])
    table = PriceTable([price(begin=JULY, amount="2")], below)
    assert [table.find("m", day).input for day in (JUNE, JULY)] == ["1", "2"]
    assert table.find("other", JULY).input == "1"
    assert table.find("nobody", JULY) is Unpriced.MODEL_UNKNOWN
    assert PriceTable([price(begin=JULY)], PriceTable([])).find("m", JUNE) is Unpriced.DAY_NOT_COVERED


def test_the_shipped_table_names_its_package_its_releases_and_their_days():
    assert (DOCUMENT["schema"], DOCUMENT["package"], DOCUMENT["licence"]) == (SCHEMA, "litellm", "MIT")
    days = [release["date"] for release in DOCUMENT["releases"]]
    assert days == sorted(set(days))
    assert all(len(release["sha256"]) == 64 and release["version"] for release in DOCUMENT["releases"])


def test_every_shipped_price_is_exact_dated_sourced_and_not_free():
    days = {release["date"] for release in DOCUMENT["releases"]}
    for model, begin, end, *amounts, _limit, source in DOCUMENT["rows"]:
        assert begin <= end
        assert source.startswith("litellm ")
        assert source.endswith("agree") or {begin, end} <= days, model
        assert all(exact_number(amount) is not None for amount in amounts if amount is not None)
        assert None not in amounts[:2]
        assert amounts[:2] != ["0", "0"], "a model without a price is unknown"


def test_no_two_shipped_prices_of_a_model_stand_on_one_day():
    last = {}
    for row in DOCUMENT["rows"]:
        assert last.get(row[0], "") < row[1], row[0]
        last[row[0]] = row[2]


@pytest.mark.parametrize(
    ("model", "day", "expected"),
    [
        ("deepseek/deepseek-chat", date(2025, 9, 4), ("0.27", "1.1", "0.07")),
        ("deepseek/deepseek-chat", date(2026, 4, 9), ("0.28", "0.42", "0.028")),
        ("deepseek/deepseek-chat", date(2026, 1, 1), Unpriced.DAY_NOT_COVERED),
        ("deepseek/deepseek-chat", date(2020, 1, 1), Unpriced.DAY_NOT_COVERED),
        ("claude-sonnet-4-6", date(2026, 5, 1), ("3", "15", "0.3")),
        ("no-such-model", date(2026, 5, 1), Unpriced.MODEL_UNKNOWN),
    ],
)
def test_the_shipped_table_knows_when_a_price_changed(model, day, expected):
    found = shipped_prices().find(model, day)
    assert (found[3:6] if isinstance(found, Price) else found) == expected
