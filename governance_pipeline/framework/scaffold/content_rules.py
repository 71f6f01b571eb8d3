"""What a declarative file must hold in whatever words: rules 1 to 11, seven steps, empty tables, start values.

What belongs here: one function per kind of content, each naming what is missing. What does not: bytes (`layout`) and
what rows of a used table mean (`allowlist`, `incidents`). Source: spec/framework.md §1, seed §4 and §9.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import FaultyFileError
from governance_pipeline.framework import documents, folder
from governance_pipeline.framework.allowlist import allowlist_of
from governance_pipeline.framework.incident_log import read_rows
from governance_pipeline.framework.scaffold.manifest import manifest
from governance_pipeline.framework.scaffold.template_files import template_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

README: Final = "README.md"
POLICY_RULES: Final = 11
"""Rules of the seed, §4.1; a project may add more after them."""
PROTOCOL_STEPS: Final = 7
"""Steps of the seed, §4.7."""
_NUMBERED: Final = re.compile(r"(\d{1,3})\. +\S")
_SCHEMAS: Final = {
    folder.STATE: documents.CURRENT_STATE,
    folder.REGISTRY: documents.CANONICAL_REGISTRY,
    folder.PROMPT_REGISTRY: documents.PROMPT_REGISTRY,
}
_START_VALUES: Final = (folder.STATE, folder.REGISTRY)


def form_faults(path: str, data: bytes) -> Iterator[str]:
    """Yield what a file lacks at any time, also in a project at work; nothing for a file without such a rule."""
    if path in _SCHEMAS:
        yield from _refusals(lambda: documents.parsed_document(path, data, _SCHEMAS[path]))
        return
    text = data.decode("utf-8", errors="replace")
    if path in _ROWS:
        yield from _refusals(lambda: _ROWS[path](text))
    elif path in _NUMBERS:
        yield from _numbered_faults(text, *_NUMBERS[path])


def template_faults(path: str, data: bytes) -> Iterator[str]:
    """Yield what keeps a well-formed file from being an empty template: rows in its tables, or data of a project."""
    if any(True for _ in form_faults(path, data)):
        return
    if path in _START_VALUES:
        yield from _start_faults(path, data)
    elif path in _ROWS and (rows := _ROWS[path](data.decode("utf-8"))):
        yield f"it holds {len(rows)} rows; a template has headed empty tables"


def _refusals(read: Callable[[], object]) -> Iterator[str]:
    try:
        read()
    except FaultyFileError as refusal:
        for fault in refusal.faults:
            yield fault.message if fault.line is None else f"line {fault.line}: {fault.message}"


def _start_faults(path: str, data: bytes) -> Iterator[str]:
    value = documents.parsed_document(path, data, _SCHEMAS[path])
    start: dict[str, Any] = documents.parsed_document(path, _shipped(path), _SCHEMAS[path])
    yield from (
        f"$.{name} is {_shown(value[name])}; a template starts with {_shown(begun)}"
        for name, begun in start.items()
        if value.get(name) != begun
    )


def _shown(value: Any) -> str:
    return f"{len(value)} entries" if isinstance(value, list) else repr(value)


def _shipped(path: str) -> bytes:
    entry = next(entry for entry in manifest().files if entry.path == path)
    return template_bytes(None, entry.template)


def _numbered_faults(text: str, last: int, what: str) -> Iterator[str]:
    numbers = [int(found[1]) for line in text.splitlines() if (found := _NUMBERED.match(line))]
    if numbers[:last] != list(range(1, last + 1)):
        yield f"its {what} are not numbered 1 to {last} in order; found {numbers[:last] or 'none'}"


_ROWS: Final[Mapping[str, Callable[[str], Sequence[object]]]] = {
    folder.ALLOWLIST: lambda text: allowlist_of(text).rows,
    folder.INCIDENT_LOG: lambda text: read_rows(text, folder.INCIDENT_LOG),
}
"""Files of tables, and how the rows of one are read."""
_NUMBERS: Final = {
    folder.POLICIES: (POLICY_RULES, "rules"),
    folder.REBASELINE_PROTOCOL: (PROTOCOL_STEPS, "steps"),
}
