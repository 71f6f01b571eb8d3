"""Fixtures of the scaffold's tests: trees as dictionaries, hostile names of folders, and users who may not write."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from governance_pipeline.framework.scaffold.plan import plan_of

HOSTILE_NAMES = (
    "plain", "with blanks", "-leading-dash", "--help", "quote'single", 'quote"double', "dollar$HOME", "back`tick`",
    "semi;colon", "star*", "new\nline", "ñandú ünï", "(", "!", "=", "-", "%TEMP%", "back\\slash", "~", "{{ x }}", "#",
)  # fmt: skip
"""What a shell, a template or an option parser could take for something else."""
NOBODY = 65534


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """Sync nothing: a test that lays out many trees would wait for the disk; one test looks that syncs are made."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture
def tree_of():
    """Give every path below a folder with its bytes; None for a folder, the target for a link."""

    def _tree_of(root: Path) -> dict[str, bytes | str | None]:
        found = {}
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root).as_posix()
            found[name] = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        return found

    return _tree_of


@pytest.fixture
def tree_of_plan():
    """Give the tree a plan stands for, as `tree_of` gives one of the disk."""

    def _tree(plan) -> dict[str, bytes | None]:
        return {folder.path: None for folder in plan.folders} | {file.path: file.data for file in plan.files}

    return _tree


@pytest.fixture(
    params=[pytest.param(n, marks=() if i % 3 == 0 else pytest.mark.long) for i, n in enumerate(HOSTILE_NAMES)]
)
def hostile_name(request) -> str:
    """Give one hostile name of a folder after the other."""
    return request.param


@pytest.fixture(scope="session", params=["en", "es"])
def plan(request):
    """Give the plan of a shipped language."""
    return plan_of(request.param)


@pytest.fixture
def anybodys_folder():
    """Give a folder that every user may enter and nobody but its owner may write to, and the user who may not."""
    with tempfile.TemporaryDirectory(prefix="govern-scaffold-") as name:
        folder = Path(name)
        folder.chmod(0o755 if os.getuid() == 0 else 0o555)
        yield folder, NOBODY if os.getuid() == 0 else os.getuid()
        folder.chmod(0o755)


@pytest.fixture
def wording(tmp_path):
    """Give a function that writes a user's template folder from path -> text, and returns it."""

    def _wording(**files: str | bytes) -> Path:
        root = tmp_path / "wording"
        root.mkdir(exist_ok=True)
        for path, text in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return root

    return _wording
