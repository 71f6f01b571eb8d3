"""Of the reports of one call the one with the most output counts; every other one names it."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.ingest.extraction import Extraction
from governance_pipeline.ingest.formats.places import Place
from governance_pipeline.ingest.formats.usage import Tokens, UsageReport, chat_completion_tokens, write_usage
from governance_pipeline.ingest.logfile import LogFile, Record, Sample

FILE = LogFile("logs/x", "0" * 64, 1, Sample("logs/x", "jsonl", ()), Path())


def written(reports):
    out = Extraction("r-1")
    places = [Place.of(FILE, Record(number, "", None, None, None)) for number in range(1, len(reports) + 1)]
    write_usage(
        out,
        [
            UsageReport(place, "run", Tokens(output=output), key=key, reason="why")
            for place, (key, output) in zip(places, reports, strict=True)
        ],
    )
    frame = out.frame("core_usage")
    return [
        None if missing else value
        for missing, value in zip(frame["duplicate_of"].isna(), frame["duplicate_of"], strict=True)
    ]


def test_an_unknown_output_never_counts_before_a_known_one():
    assert written([("k", None), ("k", 0)]) == ["logs/x:2", None]
    assert written([("k", None), ("k", None)]) == [None, "logs/x:1"]


@given(reports=st.lists(st.tuples(st.none() | st.sampled_from("ab"), st.none() | st.integers(0, 3)), max_size=8))
def test_each_call_counts_exactly_once_with_its_largest_output(reports):
    of = written(reports)
    for key in {key for key, _ in reports if key is not None}:
        group = [(output, duplicate) for (name, output), duplicate in zip(reports, of, strict=True) if name == key]
        counted = [output for output, duplicate in group if duplicate is None]
        assert counted == [max((output for output, _ in group), key=lambda output: -1 if output is None else output)]
    assert all(duplicate is None for (key, _), duplicate in zip(reports, of, strict=True) if key is None)


def test_a_report_that_adds_up_others_never_counts_however_large_it_is():
    out = Extraction("r-1")
    places = [Place.of(FILE, Record(number, "", None, None, None)) for number in (1, 2, 3)]
    first, second = (UsageReport(place, "run", Tokens(output=5), key="k") for place in places[1:])
    write_usage(out, [UsageReport(places[0], "run", Tokens(output=10), reason="sum", repeats=first), first, second])
    frame = out.frame("core_usage")
    assert frame["duplicate_of"].fillna("").tolist() == ["logs/x:2", "", "logs/x:2"]
    assert frame["dedup_reason"].tolist()[0] == "sum"


def test_reports_crowded_on_one_line_are_named_by_their_pointers():
    out = Extraction("r-1")
    line = Place.of(FILE, Record(4, "", None, None, None))
    write_usage(out, [UsageReport(line.below(f"/u/{n}"), "run", Tokens(1, n), key="k") for n in (1, 2)])
    assert out.frame("core_usage")["duplicate_of"].tolist()[0] == "logs/x:4:/u/2"


def test_both_shapes_of_openai_usage_are_read():
    chat = {
        "prompt_tokens": 9,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    responses = {
        "input_tokens": 9,
        "output_tokens": 3,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens_details": {"reasoning_tokens": 1},
    }
    assert chat_completion_tokens(chat) == chat_completion_tokens(responses) == Tokens(9, 3, None, 4, 1)
    assert chat_completion_tokens(
        {"prompt_tokens": 9, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 5}
    ) == Tokens(9, None, 5, 2)
    assert chat_completion_tokens({"prompt_tokens": 0, "completion_tokens": 0}) == Tokens()
    assert chat_completion_tokens(None) == Tokens()
