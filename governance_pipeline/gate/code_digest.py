"""The digest of the code that decides passage and makes what is published.

What belongs here: one number over files of this package and of those it rests on. What does not: saying who changed
them. It is part of every manifest, so an approval does not survive a change of the gate: whoever edits the gate has to
ask again, and an outside verifier that has a clean checkout sees the difference (research/security.md row 55).
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final

from governance_pipeline.strict.canonical import canonical_json, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

PACKAGES: Final = ("gate", "ledger", "trust", "report")
"""What decides (gate, ledger, trust) and what is released then (gate, report)."""

_ENDINGS: Final = (".py", ".sql", ".json", ".html", ".css", ".js")


@cache
def gate_code_sha256() -> str:
    """Digest paths and bytes of the gate's code, once per process: the code that runs is the one first read."""
    root = resources.files("governance_pipeline")
    found = [[path, sha256_hex(file.read_bytes())] for name in PACKAGES for path, file in _files(root / name, name)]
    return sha256_hex(canonical_json(found))


def _files(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry, f"{path}/{entry.name}")
        elif entry.name.endswith(_ENDINGS):
            yield f"{path}/{entry.name}", entry
