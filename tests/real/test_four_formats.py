"""The four agent formats over real public logs: who claims what, and every mismatch found by hand found again."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks
from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.round import read_files
from governance_pipeline.storage.content import ContentStore

SHARED = Path(__file__).parents[2].parent / "shared"
REAL = SHARED / "data" / "real"
FORMATS = ("claude_code", "swe_agent", "mini_swe_agent", "openhands")
RESULT_FILES = ("preds.json", "report.json", ".yaml")
"""Files of the benchmark beside the runs: `swebench` reads them (test_swebench)."""

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="no real logs beside the checkout (../shared/data/real)")


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    """Each folder read as one round."""
    folder = tmp_path_factory.mktemp("lake")
    return {name: read_files(scan(REAL / name), "r-1", ContentStore(folder / name)) for name in FORMATS}


@pytest.fixture(scope="module")
def found_by_hand():
    """The differences listed by hand, as {(format, file, field): (declared, computed)}."""
    with (SHARED / "research" / "mismatches.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["format"] in FORMATS]
    return {(r["format"], r["file_or_record"], r["field"]): (r["declared"], r["computed"]) for r in rows}


def rows(tables, table):
    return [row for row in tables.rows(table) if row.get("format") != "swebench" or table.startswith("raw_")]


def declared(tables):
    return {(row["subject_id"], row["field"]): row["value_raw"] for row in rows(tables, "core_declared")}


def parts(tables):
    found = defaultdict(list)
    for row in rows(tables, "core_components"):
        found[row["subject_id"], row["source"], row["column"]].append(row["value_raw"])
    return found


def total(values):
    return None if None in values else sum((Decimal(value) for value in values), Decimal(0))


@pytest.mark.parametrize("name", FORMATS)
def test_every_log_is_claimed_by_its_format_and_only_side_files_by_nobody(rounds, name):
    for row in rows(rounds[name], "raw_log_files"):
        if row["path"] == "BabyEncryption.invalid_json.traj":
            assert (row["format"], row["reason_code"]) == (None, "malformed_json")
        elif row["path"] == "manifest.csv":
            assert (row["format"], row["reason_code"]) == (None, "unsupported_format")
        elif row["path"].endswith(RESULT_FILES):
            assert (row["format"], row["reason_code"]) == ("swebench", None)
        else:
            assert (row["format"], row["reason_code"]) == (name, None)


@pytest.mark.parametrize("name", FORMATS)
def test_no_record_disappears(rounds, name):
    for row in rows(rounds[name], "raw_log_files"):
        assert row["lines_in"] == row["accepted"] + row["quarantined"] + row["blank"] + row["duplicates"]


def test_only_hand_made_rubbish_of_the_sessions_is_quarantined(rounds):
    found = [(row["path"], row["line"], row["reason_code"]) for row in rows(rounds["claude_code"], "raw_quarantine")]
    codes = {
        10: "bad_content",
        11: "bad_message",
        13: "not_an_object",
        14: "no_type",
        15: "not_an_object",
        16: "not_an_object",
        18: "bad_content",
    }
    side = [("manifest.csv", None, "unsupported_format")]
    assert sorted(found, key=str) == sorted(
        [*(("daaain_edge_cases.jsonl", *item) for item in codes.items()), *side], key=str
    )


def test_totals_of_sub_agents_are_recomputed_exactly(rounds):
    tables = rounds["claude_code"]
    claims, found = declared(tables), parts(tables)
    subjects = {subject for subject, _ in claims}
    assert len(subjects) == 5
    for subject in subjects:
        calls = found[subject, "tool_calls", "call_id"]
        assert claims[subject, "subagent_tool_use_count"] == str(len(calls)) == str(len(set(calls)))
        last = [
            found[subject, "last_call", column]
            for column in ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens")
        ]
        assert claims[subject, "subagent_total_tokens"] == str(sum(total(values) for values in last))


def test_a_naive_sum_over_the_lines_of_a_session_would_be_too_large(rounds):
    usage = [row for row in rows(rounds["claude_code"], "core_usage") if row["path"].startswith("fe5e1c67")]
    counted = [row for row in usage if row["duplicate_of"] is None]
    assert (len(usage), len(counted)) == (262, 170)
    assert sum(row["cache_read_tokens"] for row in usage) > sum(row["cache_read_tokens"] for row in counted)
    growing = {}
    for row in usage:
        growing.setdefault(row["call_id"], []).append(row["output_tokens"])
    assert all(row["output_tokens"] == max(growing[row["call_id"]]) for row in counted)


def test_the_mismatches_of_swe_agent_are_those_found_by_hand(rounds, found_by_hand):
    tables = rounds["swe_agent"]
    claims, found = declared(tables), parts(tables)
    computed = {}
    for subject in {subject for subject, _ in claims}:
        for source, column, words in (
            ("steps", "action", "trajectory steps"),
            ("messages", "role", "assistant messages"),
        ):
            number = str(len(found[subject, source, column]))
            if claims[subject, "api_calls"] != number:
                computed[subject, f"api_calls vs {words}"] = (claims[subject, "api_calls"], number)
    by_hand = {
        (f, field): values
        for (name, f, field), values in found_by_hand.items()
        if name == "swe_agent" and field != "file"
    }
    assert computed == by_hand
    assert len(computed) == 8


def test_the_broken_trajectory_is_quarantined_where_it_breaks(rounds, found_by_hand):
    (row,) = [row for row in rows(rounds["swe_agent"], "raw_quarantine") if row["path"].endswith(".traj")]
    assert row["path"] == "BabyEncryption.invalid_json.traj"
    assert (row["reason_code"], row["byte_offset"]) == ("malformed_json", _bytes_before(row["path"], 13517))
    assert ("swe_agent", row["path"], "file") in found_by_hand


def _bytes_before(name, characters):
    """Translate the character the hand-made list names into the byte the reader counts."""
    text = (REAL / "swe_agent" / name).read_text("utf-8")
    return len(text[:characters].encode())


def test_the_mismatches_of_mini_swe_agent_are_those_found_by_hand(rounds, found_by_hand):
    tables = rounds["mini_swe_agent"]
    claims, found = declared(tables), parts(tables)
    computed = {
        (subject, "model_stats.api_calls"): (claims[subject, "api_calls"], str(len(found[subject, "calls", "cost"])))
        for subject in {subject for subject, _ in claims}
    }
    by_hand = {
        (f, field): values
        for (name, f, field), values in found_by_hand.items()
        if name == "mini_swe_agent" and field.startswith("model_stats")
    }
    assert {key: pair for key, pair in computed.items() if pair[0] != pair[1]} == by_hand
    assert len(by_hand) == 3


def test_costs_of_mini_swe_agent_add_up_and_a_run_without_a_call_has_no_parts(rounds):
    tables = rounds["mini_swe_agent"]
    claims, found = declared(tables), parts(tables)
    for subject in {subject for subject, _ in claims}:
        costs = found[subject, "calls", "cost"]
        if not costs:
            assert subject.endswith("pvlib__pvlib-python-1154.traj.json")
            continue
        assert abs(Decimal(claims[subject, "instance_cost"]) - total(costs)) < Decimal("1e-15")


def test_accumulated_totals_of_openhands_are_the_sums_of_their_lists(rounds):
    tables = rounds["openhands"]
    claims, found = declared(tables), parts(tables)
    checked = without = 0
    for (subject, field), value in claims.items():
        if field == "call_cost":
            continue
        source, column = (
            ("costs", "cost") if field == "accumulated_cost" else ("token_usages", field.removeprefix("accumulated_"))
        )
        values = found.get((subject, source, column), [])
        checked, without = checked + bool(values), without + (not values)
        assert not values or abs(Decimal(value) - total(values)) < Decimal("1e-15")
    assert (checked, without) == (12, 13)  # without parts: an unpriced model, and two snapshots on events


def test_costs_of_calls_are_tokens_at_the_list_price_of_their_day_or_unknown(rounds):
    def checked(name, check):
        tables = rounds[name]
        frames = (tables.frame(table) for table in ("core_declared", "core_components", "raw_quarantine"))
        records = cross_checks(*frames).astype(object).to_dict("records")
        return Counter(r["status"] for r in records if r["check_id"] == check)

    # a run without any call has nothing to price; what a proxy means by deepseek-chat its providers do not agree on
    assert checked("mini_swe_agent", "mini_swe_agent_instance_cost_at_list_price") == {"match": 6}
    assert checked("openhands", "openhands_call_cost_at_list_price") == {"match": 3, "unverifiable": 2}
    sources = [row["value_raw"] for row in rows(rounds["openhands"], "core_components")
               if row["column"] == "price_source"]  # fmt: skip
    assert Counter(source.partition(":")[0] for source in sources) == {
        "litellm 1.76.1 and 1.80.7 agree": 3,
        "no price": 2,
    }


def test_an_unpriced_model_declares_zero_and_no_price_is_invented(rounds):
    tables = rounds["openhands"]
    subject = "multi_swe_bench_output.line1.jsonl:1"
    assert declared(tables)[subject, "accumulated_cost"] == "0.0"
    assert (subject, "costs", "cost") not in parts(tables)
    assert {row["cost_usd"] for row in rows(tables, "core_usage") if row["run_id"] == subject} == {None}


def test_each_folder_gives_the_runs_its_files_hold(rounds):
    counts = {name: len(rows(rounds[name], "core_runs")) for name in FORMATS}
    assert counts == {"claude_code": 16, "swe_agent": 9, "mini_swe_agent": 8, "openhands": 92}


@pytest.mark.parametrize("name", FORMATS)
def test_every_declared_number_points_at_the_value_it_holds(rounds, name):
    for row in rows(rounds[name], "core_declared"):
        path = REAL / name / row["path"]
        assert path.is_file()
        assert row["value_raw"] in path.read_text("utf-8")


def test_the_same_bytes_give_the_same_tables(rounds, tmp_path):
    again = read_files(scan(REAL / "openhands"), "r-1", ContentStore(tmp_path))
    for table in ("core_runs", "core_usage", "core_components"):
        assert rounds["openhands"].frame(table).equals(again.frame(table))
