"""What Dagster loads: a golden text of the whole graph, and what every asset must say of itself."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from assets_defs.assets import ASSETS
from assets_defs.definitions import build_defs, defs
from assets_defs.sensors import SENSORS
from assets_defs.tables import inputs_of, layer_of
from governance_pipeline.contracts.registry import REGISTRY
from governance_pipeline.doctor.sensors import SENSORS as HEARTBEATS
from governance_pipeline.framework.lake_tables import FOLDER_TABLES
from governance_pipeline.pipeline import TABLES

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
GOLDEN = Path(__file__).with_name("definitions.txt")
SPECS = {spec.key.to_user_string(): spec for asset in ASSETS for spec in asset.specs}


def text_of(definitions: dg.Definitions) -> str:
    """Write the graph as one line per asset, check, job, sensor and schedule."""
    graph = definitions.resolve_asset_graph()
    repository = definitions.get_repository_def()
    lines = []
    for table, spec in SPECS.items():
        deps = " ".join(sorted(dep.asset_key.to_user_string() for dep in spec.deps))
        lines.append(f"asset {table} group={spec.group_name} by={_by(spec)} <- {deps}".rstrip(" <-"))
    for key in sorted(graph.asset_check_keys, key=lambda key: (list(SPECS).index(key.asset_key.to_user_string()), key)):
        node = graph.get(key)
        kind = "blocking" if node.blocking else "shown"
        lines.append(f"check {key.asset_key.to_user_string()}: {key.name} {kind} by={_by(node)}")
    for job in definitions.jobs:
        layers = {SPECS[key.to_user_string()].group_name for key in _selected(definitions, job.name)}
        lines.append(f"job {job.name}: {' '.join(sorted(layers))}")
    lines += [f"sensor {sensor.name}: {sensor.default_status.value}" for sensor in repository.sensor_defs]
    lines += [
        f"schedule {schedule.name}: {schedule.cron_schedule} {schedule.execution_timezone}"
        for schedule in repository.schedule_defs
    ]
    return "\n".join(lines) + "\n"


def _by(node):
    return node.partitions_def.name if node.partitions_def else "all"


def _selected(definitions, job):
    return definitions.resolve_job_def(job).asset_layer.selected_asset_keys


def test_the_code_location_loads():
    dg.Definitions.validate_loadable(defs)


def test_the_doctor_knows_every_sensor_that_ticks():
    """A sensor on failed runs is called when there is one; all others leave a heartbeat at each tick."""
    ticking = {sensor.name for sensor in SENSORS if not isinstance(sensor, dg.RunStatusSensorDefinition)}
    assert ticking == set(HEARTBEATS)


def test_the_graph_is_the_golden_one():
    """A change here is a change of what an operator sees: write the file again by running this module, and review it."""
    assert text_of(defs) == GOLDEN.read_text("utf-8")


def test_assets_pipeline_and_contracts_are_the_same_tables():
    """Steps make all tables but those that need what people decided and recorded, and those of the governed folder."""
    keys = {key.to_user_string() for key in defs.resolve_asset_graph().get_all_asset_keys()}
    assert keys == set(SPECS) == set(REGISTRY)
    beside = {table for table in SPECS if layer_of(table) in ("confidence", "gate", "published")}
    assert keys - set(TABLES) == beside | set(FOLDER_TABLES)


@pytest.mark.parametrize("table", REGISTRY)
def test_every_asset_says_what_it_is_and_who_answers_for_it(table):
    spec = SPECS[table]
    assert spec.owners
    assert {"pandas", "parquet"} <= spec.kinds
    assert spec.description.startswith("One row per ")
    assert {dep.asset_key.to_user_string() for dep in spec.deps} == set(inputs_of(table))
    assert "table_name" in " ".join(spec.metadata)


@pytest.mark.parametrize("table", REGISTRY)
def test_every_asset_shows_its_columns_with_type_and_meaning(table):
    schema = SPECS[table].metadata["dagster/column_schema"]
    model = REGISTRY[table].to_schema()
    assert [column.name for column in schema.columns] == list(model.columns)
    assert all(column.type and column.description for column in schema.columns)
    assert [c.constraints.nullable for c in schema.columns] == [c.nullable for c in model.columns.values()]
    assert schema.constraints.other == [f"unique: {', '.join(model.unique)}"]


def test_text_from_logs_can_never_be_markdown_or_a_link_in_the_web_ui():
    """MetadataValue.md and .url render; text, json and table do not."""
    sources = (Path(__file__).parents[2] / "assets_defs").rglob("*.py")
    assert [
        p.name for p in sources if "MetadataValue.md" in p.read_text() or "MetadataValue.url" in p.read_text()
    ] == []


def test_the_launchpad_cannot_move_the_workspace(house, tmp_path, monkeypatch):
    """Paths decide what is trusted, so nothing a run is configured with may change them."""
    house.write_rounds("r-1")
    monkeypatch.setenv("GOVERN_LANDING", str(house.workspace.landing))
    monkeypatch.setenv("GOVERN_LAKE", str(tmp_path / "lake"))
    elsewhere = {"landing": str(tmp_path / "elsewhere"), "root": str(tmp_path / "elsewhere")}
    defs.resolve_job_def("raw_job").execute_in_process(
        instance=house.instance,
        run_config={**QUIET, "resources": {"workspace": {"config": elsewhere}}},
        partition_key="r-1",
    )
    assert house.workspace.lake.has("raw_log_files", "r-1")
    assert not (tmp_path / "elsewhere").exists()


def test_a_resource_can_be_replaced_without_patching_anything():
    stranger = object()
    replaced = build_defs(resources={"workspace": stranger})
    assert replaced.resources["workspace"] is stranger
    assert defs.resources["workspace"] is not stranger


def test_steps_share_one_process_unless_configured_otherwise():
    assert defs.executor is dg.in_process_executor


if __name__ == "__main__":
    GOLDEN.write_text(text_of(defs), "utf-8")
