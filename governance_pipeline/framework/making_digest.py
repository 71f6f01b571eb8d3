"""With what the tables of rounds are made: code, shipped policies and settings, each as one digest.

What belongs here: the three digests and the stamp that stands for them in the lake. What does not: whether something
made otherwise may be replaced (`reprocessing`). Computed from the bytes of the package once per process: the code that
runs is the one first read. Source: spec/framework.md §5.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import RecordRefused, StorageError
from governance_pipeline.settings import SETTINGS
from governance_pipeline.storage.atomic import READ_ONLY
from governance_pipeline.storage.versions import bytes_of
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

    from governance_pipeline.storage.lake import Lake

SCHEMA: Final = "govern/making/v1"
FOLDER: Final = "making"
"""Folder of the lake that keeps what each stamp stands for."""
PACKAGES: Final = ("strict", "contracts", "rounds", "ingest", "crosscheck", "trajectory", "verdict", "trust")
"""What tables of rounds are made with; storing, signing, deciding and printing change no row."""
MODULES: Final = ("pipeline.py", "workspace.py", "vocabulary.py")

_CODE: Final = (".py", ".sql")
_DATA: Final = (".json", ".yaml", ".toml")


class MadeWith(NamedTuple):
    """Digests of the code, of the policies and other data that ship with it, and of the settings."""

    code_sha256: str
    policy_sha256: str
    settings_sha256: str

    @property
    def stamp(self) -> str:
        """The one digest that stands for the three in the pointer of a stored table."""
        return sha256_hex(canonical_json(self._asdict()))


@cache
def made_with() -> MadeWith:
    """Digest what makes tables here and now, once per process."""
    root = resources.files("governance_pipeline")
    files = [*((root / name, name) for name in MODULES), *(f for name in PACKAGES for f in _files(root / name, name))]

    def digest(endings: tuple[str, ...]) -> str:
        found = [[path, sha256_hex(file.read_bytes())] for file, path in files if path.endswith(endings)]
        return sha256_hex(canonical_json(found))

    settings = {name: repr(value) for name, value in asdict(SETTINGS).items()}
    return MadeWith(digest(_CODE), digest(_DATA), sha256_hex(canonical_json(settings)))


def keep_made_with(lake: Lake, made: MadeWith) -> None:
    """Keep in the lake what a stamp stands for, so that a person can be shown it later.

    Raises:
        StorageError: it could not be written.
    """
    path = lake.root / FOLDER / f"{made.stamp}.json"
    if not path.exists():
        with lake.writer.locked(FOLDER):
            lake.writer.write(path, canonical_json({"schema": SCHEMA, **made._asdict()}), mode=READ_ONLY)


def kept_made_with(lake: Lake, stamp: str) -> MadeWith | None:
    """Read back what a stamp stands for; None when the lake does not know, or what is there is something else."""
    try:
        found = parse_json(bytes_of(lake.root / FOLDER / f"{stamp}.json"))
        made = MadeWith(*(str(found[name]) for name in MadeWith._fields))
    except (OSError, StorageError, RecordRefused, KeyError, TypeError):
        return None
    return made if made.stamp == stamp else None


def _files(folder: Traversable, path: str) -> Iterator[tuple[Traversable, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry, f"{path}/{entry.name}")
        elif entry.name.endswith((*_CODE, *_DATA)):
            yield entry, f"{path}/{entry.name}"
