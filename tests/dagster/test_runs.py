"""Runs over rounds: what is stored, what is recorded, and what one bad round does to the others."""

from __future__ import annotations

import dagster as dg

from assets_defs.backfill import register, run_chunk
from governance_pipeline.contracts.registry import is_by_round, reads_all_rounds
from governance_pipeline.errors import StorageError
from governance_pipeline.pipeline import TABLES
from governance_pipeline.workspace import Workspace

ROUNDS = ("true-1", "false-2", "true-3")
CHUNK = ("r-1", "r-2", "r-3", "r-4")


def test_a_run_over_rounds_makes_every_table_of_each(audited):
    by_round = [table for table in TABLES if is_by_round(table)]
    assert [t for t in by_round if audited.workspace.lake.rounds(t) != sorted(ROUNDS)] == []
    assert [t for t in by_round if not reads_all_rounds(t) and audited.materialized(t) != set(ROUNDS)] == []


def test_each_round_of_a_chunk_has_its_own_metadata(audited):
    for round_id, lines, mismatches in (("true-1", 3, 0), ("false-2", 4, 1), ("true-3", 3, 0)):
        files = audited.metadata("raw_log_files", round_id)
        assert files["dagster/partition_row_count"] == 2
        assert files["lines_in_sum"] == lines
        assert files["sha256"] == audited.workspace.lake.digest("raw_log_files", round_id)
        assert audited.metadata("audit_cross_checks", round_id)["mismatch_count"] == mismatches


def test_a_bad_round_of_a_chunk_loses_no_other_round(house):
    house.write_rounds(*CHUNK)
    house.workspace.faults["raw_quarantine", "r-2"] = StorageError("disk of r-2 is full")
    result = house.run("r-1", "r-4", job="raw_job")
    assert not result.success
    assert house.materialized("raw_quarantine") == {"r-1", "r-3", "r-4"}
    assert house.materialized("raw_log_files") == {"r-1", "r-3", "r-4"}
    assert house.workspace.lake.rounds("raw_quarantine") == ["r-1", "r-3", "r-4"]


def test_the_failure_names_the_bad_rounds_and_says_why(house):
    house.write_rounds(*CHUNK)
    house.workspace.faults["raw_quarantine", "r-2"] = StorageError("disk of r-2 is full")
    house.workspace.faults["raw_quarantine", "r-4"] = KeyError("a fault of ours")
    failure = house.run("r-1", "r-4", job="raw_job").failure_data_for_node("raw_tables")
    assert "2 of 4 rounds failed" in failure.error.message
    assert set(failure.user_failure_data.metadata["failed_rounds"].value) == {"r-2", "r-4"}
    assert "disk of r-2 is full" in failure.user_failure_data.metadata["failed_rounds"].value["r-2"]


def test_a_secret_in_an_error_reaches_no_log_of_dagster(house):
    secret = "sk-" + "ant-api03-" + "A1b2C3d4" * 8
    house.write_rounds("r-1")
    house.workspace.faults["raw_log_files", "r-1"] = ValueError(f"bad token {secret}")
    result = house.run("r-1", job="raw_job")
    logs = [str(entry) for entry in house.instance.all_logs(result.run_id)]
    assert any("bad token" in entry for entry in logs)
    assert [entry for entry in logs if secret in entry] == []


def test_a_fault_of_the_machine_is_tried_again_without_a_message(house):
    house.write_rounds("r-1")
    attempts = []

    class Flaky(type(house.workspace)):
        def make(self, tables, round_ids, planned=()):
            attempts.append(tables)
            if len(attempts) == 1:
                raise OSError("interrupted")
            return super().make(tables, round_ids, planned)

    house.workspace.__class__ = Flaky
    result = house.run("r-1", job="raw_job")
    assert result.success
    assert len(attempts) == 2
    assert house.materialized("raw_log_files") == {"r-1"}


def test_a_partition_key_that_is_no_round_id_never_touches_a_path(house):
    """The web UI lets anyone type a partition key; `..` would leave the lake."""
    house.write_rounds("r-1")
    house.instance.add_dynamic_partitions("rounds", ["../r-9"])
    result = house.run("r-1", "../r-9", job="raw_job")
    reason = result.failure_data_for_node("raw_tables").user_failure_data.metadata["failed_rounds"].value
    assert set(reason) == {"../r-9"}
    assert house.materialized("raw_log_files") == {"r-1"}
    assert list(house.workspace.lake.root.parent.rglob("*r-9*")) == []


def test_only_the_selected_tables_of_a_layer_are_made(house):
    house.write_rounds("r-1")
    job = house.defs.resolve_job_def("raw_job")
    result = job.execute_in_process(
        instance=house.instance, partition_key="r-1", asset_selection=[dg.AssetKey("raw_log_files")]
    )
    assert result.success
    assert house.workspace.lake.has("raw_log_files", "r-1")
    assert not house.workspace.lake.has("raw_quarantine", "r-1")


def test_core_tables_of_a_round_that_changed_since_are_refused(house):
    house.write_rounds("r-1")
    assert house.run("r-1", job="raw_job").success
    house.write_round("r-1", steps=3)
    result = house.run("r-1", job="core_job")
    assert "has changed since raw_log_files" in result.failure_data_for_node("core_tables").error.message


def test_the_way_rounds_are_cut_into_runs_changes_no_byte(audited, tmp_path):
    """No table may depend on the order or the chunking of runs (design, flow)."""
    again = Workspace(audited.workspace.landing, tmp_path / "lake")
    with dg.DagsterInstance.ephemeral() as instance:
        register(instance, ["true-3", "true-1", "false-2"])
        runs = [run_chunk(instance, again, chunk, audited.gate) for chunk in (["true-1", "false-2"], ["true-3"])]
    assert [run.is_success for run in runs] == [True, True]
    assert _bytes_of(again.lake.root) == _bytes_of(audited.workspace.lake.root)


def _bytes_of(root):
    """Give what is in force; a table over all rounds keeps the version of each run, by its digest, beside it."""
    current = list(root.rglob("current"))
    files = [*current, *(path.with_name(f"{path.read_text().split()[0]}.parquet") for path in current)]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
