"""Which folders are rounds as they stand: a file that strayed to the top of a heap takes nothing in."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.ingest.planning import plan_import

SESSION = [{"type": "user", "sessionId": "s-1", "uuid": "u", "message": {"role": "user", "content": "hi"}}]
CONTRACT = 'schema = "govern/round/v1"\n'


def _plan(*paths, **more):
    return {planned.round_id: [file.path for file in planned.files] for planned in plan_import(list(paths), **more)}


@pytest.mark.parametrize("more", [{}, {"round_id": "new"}])
def test_a_round_folder_gives_only_the_format_asked_for_and_what_it_is_read_with(write_files, tmp_path, more):
    entry = {"timestamp": "2025-01-02T03:04:05Z", "agent_id": "a", "run_id": "run-1", "tool_called": "bash"}
    files = {
        "round.toml": CONTRACT,
        "prices.jsonl": "",
        "changes.jsonl": "",
        "logs/a.jsonl": SESSION,
        "logs/audit.jsonl": [entry],
        "out/data.csv": "a,b\n",
    }
    write_files(tmp_path / "r-1", files)
    (tmp_path / "r-1" / "link").symlink_to("round.toml")
    (planned,) = plan_import([tmp_path], format_name="claude_code", **more)
    assert {file.path: file.reason for file in planned.files} == {
        **dict.fromkeys(files),
        "changes.jsonl": "other_format",
        "logs/audit.jsonl": "other_format",
        "link": "symlink",
    }


@pytest.mark.parametrize(
    "stray",
    ["prices.jsonl", "confidence.jsonl", "changes.jsonl", "evidence.jsonl", "declared.jsonl", "attestations.jsonl"],
)
def test_a_native_file_above_rounds_takes_none_of_them_in(write_files, tmp_path, stray):
    rounds = {"r-1/round.toml": CONTRACT, "r-1/logs/a.jsonl": SESSION, "deep/er/r-2/changes.jsonl": ""}
    write_files(tmp_path, {stray: "", **rounds})
    plan = _plan(tmp_path)
    assert plan.pop("r-1") == ["logs/a.jsonl", "round.toml"]
    assert plan.pop("r-2") == ["changes.jsonl"]
    assert list(plan.values()) == [[stray]]


@pytest.mark.parametrize("stray", ["prices.jsonl", "confidence.jsonl"])
def test_what_says_nothing_without_a_round_makes_none_of_the_sessions_beside_it(write_files, tmp_path, stray):
    write_files(tmp_path, {stray: "", "p/a.jsonl": SESSION, "b.jsonl": [SESSION[0] | {"sessionId": "s-2"}]})
    plan = _plan(tmp_path)
    assert (plan["s-1"], plan["s-2"], len(plan)) == (["logs/a.jsonl"], ["logs/b.jsonl"], 3)


def test_prices_beside_the_logs_folder_of_an_imported_round_stay_in_it(write_files, tmp_path):
    write_files(tmp_path, {"r-1/prices.jsonl": "", "r-1/logs/a.jsonl": SESSION, "r-2/changes.jsonl": ""})
    assert _plan(tmp_path) == {"r-1": ["logs/a.jsonl", "prices.jsonl"], "r-2": ["changes.jsonl"]}


def test_a_contract_keeps_everything_below_it(write_files, tmp_path):
    inside = {"logs/a.jsonl": SESSION, "out/changes.jsonl": "", "out/r/round.toml": CONTRACT, "prices.jsonl": ""}
    write_files(tmp_path / "r-1", {"round.toml": CONTRACT, **inside})
    assert _plan(tmp_path) == {"r-1": sorted([*inside, "round.toml"])}


def test_a_native_file_with_nothing_like_it_below_makes_a_round(write_files, tmp_path):
    files = {"changes.jsonl": "", "logs/a.jsonl": SESSION, "logs/prices.jsonl": json.dumps({"x": 1})}
    write_files(tmp_path / "r-1", files)
    assert _plan(tmp_path) == {"r-1": sorted(files)}
