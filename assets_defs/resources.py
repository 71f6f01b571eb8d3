"""The workspace an asset works in: where rounds arrive and where tables are kept.

A plain object, never a `ConfigurableResource`: the launchpad can override the fields of one, and these paths decide
what is trusted. They come from the environment, read when a run or tick first needs them.
"""

import os
from pathlib import Path

import dagster as dg

from governance_pipeline.workspace import Workspace

PROJECT_ROOT = Path(__file__).parents[1]
LANDING_VARIABLE, LANDING_DEFAULT = "GOVERN_LANDING", "data/rounds"
LAKE_VARIABLE, LAKE_DEFAULT = "GOVERN_LAKE", "lake"


def landing_folder() -> Path:
    """Return the landing folder; a relative path is taken from the project root, wherever the process runs."""
    return PROJECT_ROOT / os.environ.get(LANDING_VARIABLE, LANDING_DEFAULT)


def lake_folder() -> Path:
    """Return the root of the lake; a relative path is taken from the project root."""
    return PROJECT_ROOT / os.environ.get(LAKE_VARIABLE, LAKE_DEFAULT)


def open_workspace() -> Workspace:
    """Open the workspace the environment names."""
    return Workspace(landing_folder(), lake_folder())


workspace = dg.ResourceDefinition(
    resource_fn=lambda _: open_workspace(),
    description=f"Landing folder and lake, from {LANDING_VARIABLE} and {LAKE_VARIABLE}; takes no run configuration.",
)
