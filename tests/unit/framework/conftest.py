"""A governed folder as small as one can be, for tests of what keeps files in it."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import pytest

from governance_pipeline.framework.folder import STATE, GovernedFolder

if TYPE_CHECKING:
    from pathlib import Path


def make_folder(root: Path) -> GovernedFolder:
    """Make a folder that holds nothing but the state it starts with."""
    template = resources.files("governance_pipeline.framework") / "templates" / "shared" / "current_state.json"
    (root / STATE).parent.mkdir(parents=True)
    (root / STATE).write_bytes(template.read_bytes())
    return GovernedFolder(root)


@pytest.fixture
def folder(tmp_path: Path) -> GovernedFolder:
    """Give a governed folder of its own."""
    return make_folder(tmp_path / "project")
