"""Prices of a user: strict, refused with line and reason, and before the shipped ones."""

from __future__ import annotations

import json
from datetime import date

import pytest

from governance_pipeline.ingest.native import prices

LINE = {"model": "m", "valid_from": "2026-01-01", "input": 3, "output": 15.0, "cache_read": 0.30, "source": "contract"}


def without(*names, **more):
    return {name: value for name, value in {**LINE, **more}.items() if name not in names}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (5, "not_an_object"),
        (without("model"), "bad_model"),
        (without(model=""), "bad_model"),
        (without("source"), "bad_source"),
        (without("input"), "bad_input"),
        (without(output=None), "bad_output"),
        (without(output=-1), "bad_output"),
        (without(output="15"), "bad_output"),
        (without(output=True), "bad_output"),
        (without(cache_read=1e-40), "bad_cache_read"),
        (without(valid_from="20260101"), "bad_valid_from"),
        (without(valid_from="2026-02-30"), "bad_valid_from"),
        (without(valid_from=2026), "bad_valid_from"),
        (without(valid_until="2025-12-31"), "bad_valid_until"),
        (without(up_to_input_tokens=0), "bad_up_to_input_tokens"),
        (without(price=1), "unknown_member"),
    ],
)
def test_a_price_that_cannot_be_used_is_refused_with_its_line(read_one, line, code):
    file, out = read_one(prices, [LINE, line])
    assert [(row["line"], row["reason_code"]) for row in file.rejected] == [(2, code)]
    assert [price.model for price in out.prices] == ["m"]


def test_a_second_price_for_the_same_day_is_refused_and_one_for_another_is_not(read_one):
    later = without(valid_from="2027-01-01", input=4)
    file, out = read_one(prices, [without(valid_until="2026-12-31"), later, without(input=5)])
    assert [(row["line"], row["reason_code"]) for row in file.rejected] == [(3, "overlapping_price")]
    assert out.price_table.find("m", date(2026, 6, 1)).input == "3"
    assert out.price_table.find("m", date(2027, 6, 1)).input == "4"


def test_a_price_is_kept_as_written(read_one):
    _, out = read_one(prices, ['{"model": "m", "input": 0.30, "output": 1e1, "source": "s"}\n'][0])
    (price,) = out.prices
    assert (price.input, price.output, price.cache_read, price.valid_from) == ("0.30", "1e1", None, None)


def test_prices_of_a_round_reach_the_logs_in_it(read):
    own = {"model": "acme/one", "input": 1, "output": 2, "cache_read": 0.5, "source": "contract of 2026"}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}}
    call = {"role": "assistant", "content": "t", "extra": {"cost": 0.0001, "response": {"usage": usage}}}
    info = {"model_stats": {"instance_cost": 0.0001, "api_calls": 1}, "config": {"model": {"model_name": "acme/one"}}}
    log = {"info": info, "messages": [call], "trajectory_format": "mini-swe-agent-1.1"}
    tables = read({"prices.jsonl": [own], "logs/x.traj.json": json.dumps(log)})
    parts = {r["column"]: r["value_raw"] for r in tables.rows("core_components") if r["source"] == "priced_calls"}
    assert parts == {
        "input_tokens": "60",
        "input_usd": "1",
        "output_tokens": "10",
        "output_usd": "2",
        "cache_read_tokens": "40",
        "cache_read_usd": "0.5",
        "cache_write_tokens": "0",
        "cache_write_usd": "0",
        "price_source": "contract of 2026: acme/one, the beginning to now",
    }
    assert {row["path"]: row["format"] for row in tables.rows("raw_log_files")}["prices.jsonl"] == "native_prices"
