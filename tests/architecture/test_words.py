"""Words that must not be in the project: postponed work, machine paths, registry hosts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Built from parts so that this file does not find itself.
BANNED = {
    "postponed work": re.compile(r"\b(?:" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK")) + r")\b"),
    "a machine path": re.compile(r"/wo" + r"rk/|/ro" + r"ot/|/ho" + r"me/[a-z]"),
    "a registry host": re.compile(r"py" + r"pi\.org|python" + r"hosted\.org|registry\.npm" + r"js"),
}
TEXT = {".py", ".md", ".toml", ".yaml", ".yml", ".json", ".sql", ".html", ".lock", ".cfg", ""}


def _tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return [ROOT / name for name in listed.split("\0") if name]


def test_no_banned_word_is_in_a_tracked_file():
    found = []
    for path in _tracked():
        if path.suffix not in TEXT or not path.is_file():
            continue
        text = path.read_text("utf-8", errors="replace")
        if "tests/unit" in path.as_posix() or "data/sample" in path.as_posix():
            rules = {
                k: v for k, v in BANNED.items() if k != "a machine path"
            }  # log fixtures carry paths of their world
        else:
            rules = BANNED
        found += [f"{path.relative_to(ROOT)}: {what}" for what, pattern in rules.items() if pattern.search(text)]
    assert found == []


def test_no_large_or_generated_file_is_tracked():
    large = [p for p in _tracked() if p.is_file() and p.stat().st_size > 600_000]
    generated = [
        p for p in _tracked() if re.search(r"(^|/)(lake|\.dagster_home|data/out)/", p.relative_to(ROOT).as_posix())
    ]
    assert large + generated == []
