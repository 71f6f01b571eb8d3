"""What a clean machine installs: a hash-locked universal lock without hosts, and reasons for each dependency."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements.lock").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def _name(requirement: str) -> str:
    return re.split(r"[\[<>=!~ ;]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def test_every_locked_package_is_pinned_with_hashes():
    blocks = re.split(r"\n(?=[A-Za-z0-9])", LOCK.strip())
    assert len(blocks) > 50
    assert [b.splitlines()[0] for b in blocks if "==" not in b.splitlines()[0] or "--hash=sha256:" not in b] == []


def test_the_lock_names_no_host():
    assert re.findall(r"https?://|--index-url|--extra-index-url|--find-links", LOCK) == []


def test_the_lock_holds_every_declared_dependency_and_the_build_backend():
    locked = {_name(line) for line in LOCK.splitlines() if re.match(r"[A-Za-z0-9]", line)}
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = [
        *PROJECT["project"]["dependencies"],
        *extras["dev"],
        *extras["build"],
        *PROJECT["build-system"]["requires"],
    ]
    assert {_name(r) for r in wanted} - locked == set()


def test_every_run_time_dependency_is_named_in_a_decision():
    decisions = "\n".join(p.read_text("utf-8") for p in (ROOT / "docs" / "decisions").glob("*.md")).lower()
    assert [d for d in map(_name, PROJECT["project"]["dependencies"]) if f"`{d}`" not in decisions] == []
