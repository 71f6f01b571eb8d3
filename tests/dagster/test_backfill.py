"""`python -m assets_defs.backfill`: registers, runs in chunks, halves what fails, and says what it did."""

from __future__ import annotations

import dagster as dg
import pytest
from click.testing import CliRunner

from assets_defs import backfill as module
from assets_defs.backfill import ChunkRun, backfill, persistent_instance, register, run_chunk
from assets_defs.resources import PROJECT_ROOT, lake_folder, landing_folder


def plan_run(bad):
    """Give a runner that fails for every chunk with a bad round."""
    return lambda chunk: ChunkRun(chunk, bad.isdisjoint(chunk), "" if bad.isdisjoint(chunk) else "why")


def test_a_chunk_that_fails_is_halved_until_the_bad_round_stands_alone():
    runs = list(backfill([tuple("abcd"), tuple("ef")], plan_run({"c"})))
    assert ["".join(run.rounds) for run in runs] == ["abcd", "ab", "cd", "c", "d", "ef"]
    assert ["".join(run.rounds) for run in runs if not run.is_success] == ["abcd", "cd", "c"]


def test_all_bad_rounds_end_the_backfill_too():
    runs = list(backfill([tuple("abc")], plan_run(set("abc"))))
    assert sorted("".join(run.rounds) for run in runs if len(run.rounds) == 1) == ["a", "b", "c"]


def test_registering_twice_adds_nothing(house):
    assert register(house.instance, ["b", "a"]) == ["b", "a"]
    assert register(house.instance, ["a", "c"]) == ["b", "a", "c"]


def test_a_failed_chunk_says_which_step_failed_and_why(house):
    house.write_rounds("r-1", "r-2")
    house.workspace.faults["raw_log_files", "r-2"] = ValueError("ink is out")
    run = run_chunk(house.instance, house.workspace, ["r-1", "r-2"], house.gate)
    assert not run.is_success
    assert run.reason.startswith("raw_tables: ")
    assert "r-2: ValueError: ink is out" in run.reason


@pytest.fixture
def command(kept_house, monkeypatch):
    """Give the command on a house of its own, without other processes."""
    monkeypatch.setenv("GOVERN_LANDING", str(kept_house.workspace.landing))
    monkeypatch.setenv("GOVERN_LAKE", str(kept_house.workspace.lake.root))
    monkeypatch.setattr(
        module, "persistent_instance", lambda: dg.DagsterInstance.from_ref(kept_house.instance.get_ref())
    )
    monkeypatch.setattr(module, "open_workspace", lambda *_: kept_house.workspace)
    ran = []

    def in_this_process(plan, processes, config, job="full_audit_job", *, is_whole=False):
        return backfill(plan, lambda chunk: (ran.append((job, *chunk)), plan_run({"bad"})(chunk)._replace(job=job))[1])

    monkeypatch.setattr(module, "parallel_backfill", in_this_process)
    return lambda *arguments: (CliRunner().invoke(module.main, arguments), ran)


def test_without_options_only_what_is_due_is_run(kept_house, command):
    kept_house.write_rounds("r-1", "r-2")
    kept_house.make("r-1")
    result, ran = command()
    assert result.exit_code == 0, result.output
    assert ran == [("full_audit_job", "r-2")]
    assert "audited  1 round: r-2" in result.output
    assert "governance.duckdb" in result.output


def test_nothing_due_is_said_and_no_failure(kept_house, command):
    kept_house.write_rounds("r-1")
    kept_house.make("r-1")
    result, ran = command()
    assert (result.exit_code, ran) == (0, [])
    assert "nothing to do: none of 1 rounds is new or changed" in result.output


def test_all_runs_current_rounds_too_and_names_the_failed_one(kept_house, command):
    for name in ("bad", "good-1", "good-2"):
        kept_house.write_round(name)
    (kept_house.workspace.landing / "no round").mkdir()
    result, ran = command("--all", "--chunk", "3", "--processes", "1")
    assert result.exit_code == 1
    assert [chunk[1:] for chunk in ran] == [("bad", "good-1", "good-2"), ("bad",), ("good-1", "good-2")]
    assert "failed   bad" in result.output
    assert "skipped  no round" in result.output


def test_rounds_are_spread_over_the_processes(kept_house, command):
    for name in ("r-1", "r-2", "r-3"):
        kept_house.write_round(name)
    result, ran = command("--all", "--processes", "2")
    chunks = [("r-1", "r-2"), ("r-3",)]
    assert ran == [("measure_job", *chunks[0]), ("measure_job", *chunks[1]), ("cohort_job",)] + [
        ("judge_job", *chunk) for chunk in chunks
    ]
    assert "compared all rounds with each other" in result.output
    assert "judged   1 round: r-3" in result.output


def test_a_round_that_cannot_be_measured_is_not_judged(kept_house, command):
    for name in ("bad", "good-1", "good-2"):
        kept_house.write_round(name)
    result, ran = command("--all", "--chunk", "2", "--processes", "1")
    assert result.exit_code == 1
    assert [chunk[1:] for chunk in ran if chunk[0] == "judge_job"] == [("good-1",), ("good-2",)]


def test_a_round_that_is_not_there_is_a_usage_error(command):
    result, ran = command("--round", "r-404")
    assert (result.exit_code, ran) == (2, [])
    assert "r-404: no such round" in result.output


def test_folders_come_from_the_environment_when_they_are_needed(monkeypatch, tmp_path):
    assert (landing_folder(), lake_folder()) == (PROJECT_ROOT / "data/rounds", PROJECT_ROOT / "lake")
    monkeypatch.setenv("GOVERN_LANDING", "data/sample/rounds")
    monkeypatch.setenv("GOVERN_LAKE", str(tmp_path / "lake"))
    assert (landing_folder(), lake_folder()) == (PROJECT_ROOT / "data/sample/rounds", tmp_path / "lake")


def test_the_instance_is_that_of_the_home_folder_when_one_is_named(monkeypatch, tmp_path):
    (tmp_path / "dagster.yaml").write_text(f"storage: {{sqlite: {{base_dir: {tmp_path}/history}}}}\n")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    with persistent_instance() as instance:
        instance.add_dynamic_partitions("rounds", ["r-1"])
    assert (tmp_path / "history").is_dir()
