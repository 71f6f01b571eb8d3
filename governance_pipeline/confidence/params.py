"""The nine parameters: what they mean (data), what was assessed, and what a system prompt says of them.

What belongs here: `params.yaml`, and the file of assessed values beside the recorded events. What does not: scores; no
parameter changes one. A prompt is read by rule and not understood: only a line that names a parameter and a number
counts, and two different numbers for one parameter count for nothing. Source: spec/confidence.md §5.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import yaml

from governance_pipeline.confidence.terms import Role
from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.strict.canonical import canonical_json
from governance_pipeline.strict.files import open_regular
from governance_pipeline.strict.records import Accepted, json_document

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILE: Final = "params.json"
STORED_SCHEMA: Final = "govern/confidence-stored-params/v1"
PROMPT_BYTES: Final = 2**20
STORED_BYTES: Final = 2**20
MOST: Final = 100

_SPANISH: Final = {
    "critical": "crítico", "vision": "visión", "precision": "precisión", "honesty": "honestidad",
    "discipline": "disciplina", "autonomy": "autonomía", "alignment": "alineación", "adaptability": "adaptabilidad",
    "humour": "humor",
}  # fmt: skip


class Parameter(NamedTuple):
    """One parameter: name, core or style, and texts by what (agent, user, low, middle, high) and language."""

    name: str
    kind: str
    texts: Mapping[str, Mapping[str, str]]


@cache
def parameters() -> tuple[Parameter, ...]:
    """Return the nine, in the order of the file."""
    return tuple(
        Parameter(one["name"], one["kind"], {what: one[what] for what in ("agent", "user", *ranges())})
        for one in _data()["parameters"]
    )


@cache
def ranges() -> Mapping[str, tuple[int, int]]:
    """Return the ranges of a value, both ends included; together they are 0 to 100."""
    return {name: (low, high) for name, (low, high) in _data()["ranges"].items()}


def range_of(value: int) -> str:
    """Return the range a value lies in."""
    return next(name for name, (low, high) in ranges().items() if low <= value <= high)


def checked(values: Mapping[str, Any]) -> dict[str, int]:
    """Return values that are parameters with whole numbers from 0 to 100.

    Raises:
        UsageError: one is not; names it.
    """
    names = [one.name for one in parameters()]
    for name, value in values.items():
        if name not in names:
            raise UsageError(f"{name!r} is no parameter; the nine are {', '.join(names)}")
        if type(value) is not int or not 0 <= value <= MOST:
            raise UsageError(f"{name} is a whole number from 0 to {MOST}")
    return {name: values[name] for name in names if name in values}


def params_in_prompt(text: str) -> dict[str, int]:
    """Return the parameters a system prompt states: lines such as ``precision: 80 %`` or ``- Humor = 20``."""
    found: dict[str, set[int]] = {}
    for line in text.splitlines():
        for name, spanish in _SPANISH.items():
            match = re.fullmatch(rf"[\s>*#-]*(?:{name}|{spanish})\**\s*[:=]\s*\**\s*([0-9]{{1,3}})\s*%?\**\s*\.?",
                                 line, re.IGNORECASE)  # fmt: skip
            if match and int(match[1]) <= MOST:
                found.setdefault(name, set()).add(int(match[1]))
    return {name: next(iter(values)) for name, values in found.items() if len(values) == 1}


def read_prompt(path: Path) -> str:
    """Read a system prompt, at most 1 MiB of UTF-8.

    Raises:
        UsageError: it is larger, or no UTF-8.
        FileRefused: it cannot be opened.
    """
    with open_regular(path) as stream:
        data = stream.read(PROMPT_BYTES + 1)
    if len(data) > PROMPT_BYTES:
        raise UsageError(f"{path.name} is larger than {PROMPT_BYTES} bytes; name the prompt alone")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise UsageError(f"{path.name} is no UTF-8 text; save it as UTF-8") from None


def stored_params(folder: Path) -> dict[str, dict[str, dict[str, int]]]:
    """Return role -> subject -> assessed values; nothing where nobody was assessed.

    Raises:
        StorageError: the file is damaged.
    """
    path = folder / FILE
    if not path.exists() and not path.is_symlink():
        return {role.value: {} for role in Role}
    with open_regular(path) as stream:
        judged = json_document(stream.read(STORED_BYTES))
    value = judged.value if isinstance(judged, Accepted) and isinstance(judged.value, dict) else {}
    if value.get("schema") != STORED_SCHEMA:
        raise StorageError(f"{path} holds no parameters; restore it, or remove it and assess again")
    try:
        return {role.value: {name: checked(one) for name, one in value[role.value].items()} for role in Role}
    except (UsageError, KeyError, AttributeError) as error:
        raise StorageError(f"{path} is damaged ({error}); restore it, or remove it and assess again") from error


def store_params(folder: Path, role: Role, subject_id: str, values: Mapping[str, int]) -> dict[str, int]:
    """Set some parameters of a subject, the others stay; returns all of them.

    Raises:
        UsageError: a value is none.
        StorageError: the file is damaged or cannot be written.
    """
    writer = AtomicWriter(folder)
    with writer.locked("params"):
        every = stored_params(folder)
        mine = checked({**every[role.value].get(subject_id, {}), **values})
        every[role.value][subject_id] = mine
        writer.write(folder / FILE, canonical_json({"schema": STORED_SCHEMA, **every}) + b"\n")
    return mine


@cache
def _data() -> dict[str, Any]:
    text = resources.files("governance_pipeline.confidence").joinpath("params.yaml").read_text("utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    return data
