"""The files Dagster's tools read agree with each other and with the code."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path

import dagster as dg
import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["dg"]["project"]
[LOCATION] = [
    entry["python_module"] for entry in yaml.safe_load((ROOT / "workspace.yaml").read_text("utf-8"))["load_from"]
]


def test_workspace_file_and_dg_name_the_same_code_location():
    assert LOCATION["module_name"] == PROJECT["code_location_target_module"] == "assets_defs.definitions"
    assert LOCATION["location_name"] == PROJECT["code_location_name"] == "governance_pipeline"
    assert LOCATION["working_directory"] == "."


def test_dg_scaffolds_into_the_package_that_is_loaded():
    assert PROJECT["root_module"] == PROJECT["defs_module"] == "assets_defs"
    assert not (ROOT / "src").exists(), "dg would look for the package there"


def test_the_named_module_holds_the_definitions():
    module = importlib.import_module(PROJECT["code_location_target_module"])
    assert isinstance(module.defs, dg.Definitions)


def test_every_asset_module_is_registered():
    """Nothing is found by searching: a module that is not imported by its package would silently be no asset."""
    package = ROOT / "assets_defs" / "assets"
    text = (package / "__init__.py").read_text("utf-8")
    modules = [path.stem for path in package.glob("*.py") if path.stem != "__init__"]
    assert [name for name in modules if f"assets_defs.assets.{name} import" not in text] == []


@pytest.mark.parametrize("name", ["partitions", "jobs", "checks", "sensors", "schedules", "resources"])
def test_each_concept_of_dagster_has_its_file(name):
    assert (ROOT / "assets_defs" / f"{name}.py").is_file()


def test_the_instance_file_sends_nothing_and_keeps_history_below_the_project():
    config = yaml.safe_load((ROOT / "dagster.yaml").read_text("utf-8"))
    assert config["telemetry"] == {"enabled": False}
    assert config["nux"] == {"enabled": False}
    folders = [
        config["storage"]["sqlite"]["base_dir"],
        config["local_artifact_storage"]["config"]["base_dir"],
        config["compute_logs"]["config"]["base_dir"],
    ]
    assert [folder for folder in folders if not folder.startswith(".dagster_home")] == []
    assert ".dagster_home/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()
