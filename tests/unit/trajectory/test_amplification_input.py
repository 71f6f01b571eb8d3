"""The input reader: everything that is not exactly the format is refused, with the place."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from governance_pipeline.errors import UsageError
from governance_pipeline.trajectory.amplification import AmplificationRule, Factors
from governance_pipeline.trajectory.amplification_document import amplification_document
from governance_pipeline.trajectory.amplification_input import read_amplification_input

SCHEMA = "govern/amplification-input/v1"


def unit(**members):
    return {"id": "a", "touched": True, "baseline": None, "candidate": None, **members}


def text(**members) -> bytes:
    return json.dumps({"schema": SCHEMA, "units": [], **members}).encode()


def raw_unit(baseline: str) -> bytes:
    units = f'[{{"id": "a", "touched": true, "baseline": {baseline}, "candidate": null}}]'
    return f'{{"schema": "{SCHEMA}", "units": {units}}}'.encode()


REFUSED = {
    "an empty file": b"",
    "no JSON": b"{",
    "two documents": text() + text(),
    "no UTF-8": b'{"schema": "\xff"}',
    "a repeated member": b'{"schema": "govern/amplification-input/v1", "units": [], "units": []}',
    "NaN": raw_unit('{"impact": NaN}'),
    "a number beyond a double": raw_unit('{"impact": 1e999}'),
    "an integer beyond a double": raw_unit('{"impact": 1' + "0" * 400 + "}"),
    "a list": b"[]",
    "another schema": text(schema="govern/amplification-input/v2"),
    "no units": b'{"schema": "govern/amplification-input/v1"}',
    "null units": text(units=None),
    "an unknown key": text(extra=1),
    "an unknown key of the rule": text(rule={"K": 3}),
    "an unknown key of a unit": text(units=[unit(name="x")]),
    "an unknown key of a side": text(units=[unit(baseline={"impacts": 1})]),
    "an unknown key of a commit": text(history=[{"id": "c", "files": [], "author": "x"}]),
    "a missing side": text(units=[{"id": "a", "touched": True, "baseline": None}]),
    "a missing touch": text(units=[{"id": "a", "baseline": None, "candidate": None}]),
    "a touch that is null": text(units=[unit(touched=None)]),
    "a touch that is a number": text(units=[unit(touched=1)]),
    "an id that is a number": text(units=[unit(id=1)]),
    "an empty id": text(units=[unit(id="")]),
    "a repeated unit": text(units=[unit(), unit()]),
    "a repeated commit": text(history=[{"id": "c", "files": []}, {"id": "c", "files": []}]),
    "a commit without files": text(history=[{"id": "c"}]),
    "commit files that are null": text(history=[{"id": "c", "files": None}]),
    "a path that is no text": text(history=[{"id": "c", "files": [1]}]),
    "unit files that are a text": text(units=[unit(files="a")]),
    "a negative factor": text(units=[unit(candidate={"impact": -1})]),
    "a factor that is a text": text(units=[unit(candidate={"impact": "1"})]),
    "a factor that is a boolean": text(units=[unit(candidate={"frequency": True})]),
    "a provider that is a text": text(provider="git"),
    "a negative k": text(rule={"k": -0.5}),
    "a count with a fraction": text(rule={"min_units": 3.0}),
    "a count of zero": text(rule={"min_units": 0}),
    "a negative share": text(rule={"material_share": -0.1}),
    "max_files as a text": text(rule={"max_files": "30"}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_input_that_is_not_exactly_the_format_is_refused(name):
    with pytest.raises(UsageError, match="the input is"):
        read_amplification_input(REFUSED[name])


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("a negative factor", r"\$\.units\[0\]\.candidate\.impact"),
        ("a number beyond a double", r"\$\.units\[0\]\.baseline\.impact"),
        ("a repeated unit", "units repeats the id a"),
        ("a repeated commit", "history repeats the id c"),
    ],
)
def test_a_refusal_names_the_place(name, place):
    with pytest.raises(UsageError, match=place):
        read_amplification_input(REFUSED[name])


def test_a_product_beyond_a_double_is_refused_instead_of_becoming_infinite():
    given = read_amplification_input(raw_unit('{"frequency": 1e200, "impact": 1e200}'))
    with pytest.raises(UsageError, match="beyond a double"):
        amplification_document(given)


def test_optional_members_may_be_null_and_mean_their_default():
    nulls = dict.fromkeys(["k", "min_units", "material_min", "material_share", "max_files"])
    given = read_amplification_input(text(rule=nulls, provider=None, history=None, units=[unit(files=None)]))
    assert given == read_amplification_input(text(units=[unit()]))
    assert (given.rule, given.provider, given.history) == (AmplificationRule(), {}, None)


def test_a_byte_order_mark_is_skipped_and_minus_zero_is_zero():
    given = read_amplification_input(b"\xef\xbb\xbf" + raw_unit('{"frequency": -0, "impact": -0.0}'))
    document = amplification_document(given)
    assert json.dumps(document["units"][0]["baseline"]["frequency"]) == "0"
    assert json.dumps(document["units"][0]["baseline"]["impact"]) == "0"


def test_a_number_is_the_decimal_that_was_written():
    given = read_amplification_input(text(rule={"material_share": 0.1}, units=[unit(baseline={"impact": 0.3})]))
    assert (given.rule.material_share, given.units[0].baseline.impact) == (Fraction(1, 10), Fraction(3, 10))


def test_history_fills_only_a_baseline_frequency_that_is_unknown():
    history = [{"id": "c", "files": ["a", "b"]}]
    units = [
        unit(id="a", baseline={}, candidate={}),
        unit(id="b", baseline={"frequency": 7}),
        unit(id="m", files=["a", "b"], baseline={"frequency": None}),
        unit(id="n", files=[], baseline={}),
        unit(id="new", files=["a"]),
    ]
    given = read_amplification_input(text(history=history, units=units))
    assert [u.baseline and u.baseline.frequency for u in given.units] == [1, 7, 1, 0, None]
    assert given.units[0].candidate == Factors()


def test_an_empty_history_counts_no_commit_and_no_history_counts_nothing():
    counted = amplification_document(read_amplification_input(text(history=[], units=[unit(baseline={})])))
    assert (counted["commits_used"], counted["commits_left_out"]) == (0, 0)
    assert counted["units"][0]["baseline"]["frequency"] == 0
    without = amplification_document(read_amplification_input(text(units=[unit(baseline={})])))
    assert (without["commits_used"], without["commits_left_out"]) == (None, None)
    assert without["units"][0]["baseline"]["frequency"] is None
