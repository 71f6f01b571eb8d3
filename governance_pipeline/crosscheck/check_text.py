"""YAML of a check file as sections that know their lines, so that every fault names one.

What belongs here: strict reading of YAML nodes (no anchors, aliases, tags or repeated keys; scalars as their text)
and collecting faults. What does not: what the keys of a check mean (`crosscheck.check_set`).

PyYAML parses; its constructors are never run, so no text is turned into a number, a date or an object on the way.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import yaml

from governance_pipeline.errors import Fault
from governance_pipeline.strict.excerpt import excerpt, is_said

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

MAX_BYTES = 2**20
"""Largest check file that is read: thousands of checks."""

MAX_DEPTH = 16
"""Levels of lists and mappings; a sound file has four."""

_FORBIDDEN_TOKENS = {
    yaml.AnchorToken: "an anchor",
    yaml.AliasToken: "an alias",
    yaml.TagToken: "a tag",
    yaml.DirectiveToken: "a directive",
}
_OPENING = (
    yaml.FlowSequenceStartToken,
    yaml.FlowMappingStartToken,
    yaml.BlockSequenceStartToken,
    yaml.BlockMappingStartToken,
)
_CLOSING = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken, yaml.BlockEndToken)
_SURROGATE = re.compile("[\ud800-\udfff]")
_NULL_TAG = "tag:yaml.org,2002:null"


class Faults:
    """The faults found in one file so far."""

    def __init__(self) -> None:
        self._found: list[Fault] = []

    def add(self, code: str, line: int, message: str) -> None:
        """Note one fault."""
        self._found.append(Fault(code, line, message))

    def by_line(self) -> list[Fault]:
        """Return all faults, ordered by line; on one line in the order they were found."""
        return sorted(self._found, key=lambda fault: fault.line or 0)

    def __bool__(self) -> bool:
        return bool(self._found)


class Entry(NamedTuple):
    """The value of one key, and the line of the key."""

    line: int
    node: yaml.Node

    @property
    def is_null(self) -> bool:
        """Whether nothing, ``~`` or ``null`` was written."""
        return isinstance(self.node, yaml.ScalarNode) and self.node.tag == _NULL_TAG and self.node.style is None

    @property
    def text(self) -> str | None:
        """The text of a scalar as written (``0.10`` stays ``0.10``); None for a list, a mapping or null."""
        return str(self.node.value) if isinstance(self.node, yaml.ScalarNode) and not self.is_null else None

    @property
    def is_blank(self) -> bool:
        """Whether there is no text to read: nothing, or only what a screen does not show."""
        return not is_said(self.text or "")


class Section:
    """One mapping: its entries by key, and the line of its first key."""

    def __init__(self, node: yaml.MappingNode, faults: Faults, keys: Collection[str] | None) -> None:
        """Read the keys of a mapping; repeated and unknown ones are faults (`keys` None: every key is known)."""
        self.entries: dict[str, Entry] = {}
        self.line = _line(node.value[0][0] if node.value else node)
        self._faults = faults
        for key, value in node.value:
            self._enter(key, value, keys)

    def text(self, key: str, *, required: bool = False) -> str | None:
        """Return the text of a key; None when it is absent (a fault when required) or not usable (a fault)."""
        entry = self.entries.get(key)
        if entry is None:
            if required:
                self._faults.add("missing_key", self.line, f"{key} is missing; add it")
            return None
        if entry.is_blank:
            self._faults.add("bad_value", entry.line, f"{key} is not a text, or blank; write one line of text")
            return None
        return entry.text

    def line_of(self, key: str) -> int:
        """Return the line of a key; the first line of the section when the key is absent."""
        return self.entries[key].line if key in self.entries else self.line

    def _enter(self, key: yaml.Node, value: yaml.Node, keys: Collection[str] | None) -> None:
        line = _line(key)
        if not isinstance(key, yaml.ScalarNode):
            self._faults.add("bad_value", line, "a key is a text, not a list or a mapping")
            return
        name = str(key.value)
        if name in self.entries:
            self._faults.add("duplicate_key", line, f"{excerpt(name, 60)} is given twice; keep one")
        elif keys is not None and name not in keys:
            known = ", ".join(sorted(keys))
            self._faults.add("unknown_key", line, f"{excerpt(name, 60)} is not a key here; known are {known}")
        else:
            self.entries[name] = Entry(line, value)


def read_yaml(data: bytes, faults: Faults) -> yaml.MappingNode | None:
    """Return the one mapping a check file consists of; None, with faults, when it is not one."""
    text = _decoded(data, faults)
    if text is None:
        return None
    try:
        _check_tokens(text, faults)
        documents = [] if faults else list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        faults.add("yaml_syntax", _line_of_error(error, text), f"not YAML: {excerpt(_problem(error), 160)}")
    return None if faults else _only_mapping(documents, faults)


def _check_tokens(text: str, faults: Faults) -> None:
    """Refuse indirection and depth before a tree is built; PyYAML's cost grows with the square of the depth."""
    depth = 0
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        line = token.start_mark.line + 1
        depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
        if depth > MAX_DEPTH:
            faults.add("yaml_syntax", line, f"nested deeper than {MAX_DEPTH} levels; a check file has four")
            return
        if (what := _FORBIDDEN_TOKENS.get(type(token))) is not None:
            faults.add("yaml_syntax", line, f"{what} is refused: a check file says what it means in place")


def _only_mapping(documents: list[yaml.Node], faults: Faults) -> yaml.MappingNode | None:
    root = documents[0] if documents else None
    if len(documents) > 1:
        faults.add("yaml_syntax", _line(documents[1]), "a second document; a check file is one")
    elif not isinstance(root, yaml.MappingNode):
        faults.add("yaml_syntax", 1, "a check file is a mapping of schema, sources and checks")
    else:
        _refuse_surrogates(root, faults)
        return None if faults else root
    return None


def _refuse_surrogates(root: yaml.Node, faults: Faults) -> None:
    """An escape can write half a surrogate pair, which no digest can be made of."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, yaml.MappingNode):
            pending += [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            pending += node.value
        elif _SURROGATE.search(node.value):
            faults.add("yaml_syntax", _line(node), "an escaped surrogate is no character; write the character itself")


def scalars(entry: Entry) -> Iterator[Entry]:
    """Yield the items of a list, each with its own line; nothing when the entry is no list."""
    if isinstance(entry.node, yaml.SequenceNode):
        yield from (Entry(_line(item), item) for item in entry.node.value)


def _decoded(data: bytes, faults: Faults) -> str | None:
    if len(data) > MAX_BYTES:
        faults.add("yaml_syntax", 1, f"{len(data)} bytes, at most {MAX_BYTES} are read; split the file")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        faults.add("yaml_syntax", line, f"not UTF-8 ({error.reason}); convert the file")
        return None


def _line(node: yaml.Node) -> int:
    return node.start_mark.line + 1


def _line_of_error(error: yaml.YAMLError, text: str) -> int:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return error.problem_mark.line + 1
    return text.count("\n", 0, getattr(error, "position", 0)) + 1


def _problem(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError):
        return ", ".join(part for part in (error.context, error.problem) if part)
    return str(getattr(error, "reason", error))
