"""Check files (govern/checks/v1): sources and checks, or every fault with its line.

What belongs here: what the keys of a check file mean and what is refused at load. What does not: YAML itself
(`crosscheck.check_text`), the grammar of expressions (`crosscheck.formula`) and reading sources.

Source: spec/crosscheck.md §1 (definition), §2 (epsilon), §12 (load codes).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from governance_pipeline.crosscheck.check import Role
from governance_pipeline.crosscheck.check_reader import CHECK_KEYS, NAME_PATTERN, CheckReader, number_entry
from governance_pipeline.crosscheck.check_text import MAX_BYTES, Entry, Faults, Section, read_yaml, scalars
from governance_pipeline.crosscheck.policy import EpsilonPolicy, shipped_epsilon_policy
from governance_pipeline.crosscheck.source import Source, SourceFormat
from governance_pipeline.errors import CheckSetError, UnreadableError, UsageError
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import open_regular
from governance_pipeline.strict.numbers import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from governance_pipeline.crosscheck.check import Check
    from governance_pipeline.crosscheck.independence import LineageProof

SCHEMA = "govern/checks/v1"

_KEYS = ("schema", "sources", "checks", "epsilon_policy")
_SOURCE_KEYS = ("path", "key", "role", "derived_from_declared")


@dataclass(frozen=True, slots=True)
class CheckSet:
    """A check file that was accepted.

    Attributes:
        name: file name, for messages.
        sha256: digest of its bytes.
        sources: by name.
        checks: in the order of the file; ids are unique.
        policy: the shipped epsilon policy, tightened by the file.
        lineage: the static proof of each check, by its id.
    """

    name: str
    sha256: str
    sources: Mapping[str, Source]
    checks: tuple[Check, ...]
    policy: EpsilonPolicy
    lineage: Mapping[str, LineageProof]


def load_check_set(path: Path) -> CheckSet:
    """Read a check file; paths of sources are relative to it. The sources themselves are not opened.

    Raises:
        CheckSetError: the file is refused; holds every fault with code and line, ordered by line.
        UsageError: there is no such regular file.
    """
    try:
        with open_regular(path) as stream:
            data = stream.read(MAX_BYTES + 1)
    except (UnreadableError, OSError) as error:
        raise UsageError(f"check file cannot be read: {error}") from None
    return parse_checks(data, str(path), folder=path.parent)


def parse_checks(
    data: bytes,
    name: str,
    sources: Mapping[str, Source] | None = None,
    *,
    folder: Path = Path(),
    policy: EpsilonPolicy | None = None,
) -> CheckSet:
    """Read the bytes of a check file.

    Args:
        data: the file.
        name: how messages call it.
        sources: sources that are tables; the file then has none of its own.
        folder: where relative paths of sources start.
        policy: policy the file may tighten; the shipped one by default.

    Raises:
        CheckSetError: as `load_check_set`.
    """
    faults = Faults()
    reader = _FileReader(faults, folder, policy or shipped_epsilon_policy())
    root = read_yaml(data, faults)
    if root is not None:
        reader.read(root, sources)
    if faults:
        raise CheckSetError(name, faults.by_line())
    return CheckSet(name, sha256_hex(data), reader.sources, tuple(reader.checks), reader.policy, reader.lineage)


class _FileReader:
    """Reads one check file from the top; goes on after a fault as long as what follows can be understood."""

    def __init__(self, faults: Faults, folder: Path, policy: EpsilonPolicy) -> None:
        self.sources: dict[str, Source] = {}
        self.checks: list[Check] = []
        self.lineage: dict[str, LineageProof] = {}
        self.policy = policy
        self._faults = faults
        self._folder = folder

    def read(self, root: yaml.MappingNode, sources: Mapping[str, Source] | None) -> None:
        schema = next((value.value for key, value in root.value if key.value == "schema"), None)
        keys = _KEYS if sources is None else tuple(key for key in _KEYS if key != "sources")
        if schema != SCHEMA:
            line = Section(root, Faults(), None).line_of("schema")
            self._faults.add("schema_unknown", line, f"schema is not {SCHEMA}, the only one this version reads")
            return
        section = Section(root, self._faults, keys)
        self._read_policy(section.entries.get("epsilon_policy"))
        if sources is None:
            self._read_sources(section)
        else:
            self.sources = dict(sources)
        self._read_checks(section)

    def _read_policy(self, entry: Entry | None) -> None:
        if entry is None:
            return
        if not isinstance(entry.node, yaml.MappingNode):
            self._faults.add("bad_value", entry.line, "epsilon_policy is a mapping of data type to maximum")
            return
        maximum: dict[str, Decimal] = {}
        for name, given in Section(entry.node, self._faults, self.policy.maximum).entries.items():
            value = number_entry(given, name, self._faults)
            if value is None:
                continue
            if value < 0:
                self._faults.add("bad_value", given.line, f"maximum of {name} is below 0")
            elif value > self.policy.maximum[name]:
                bound = canonical(self.policy.maximum[name])
                self._faults.add("policy_loosened", given.line, f"maximum of {name} is above {bound}; only tighten it")
            else:
                maximum[name] = value
        self.policy = self.policy.tightened(maximum)

    def _read_sources(self, section: Section) -> None:
        entry = section.entries.get("sources")
        if entry is None:
            self._faults.add("missing_key", section.line, "sources is missing; add it")
        elif not isinstance(entry.node, yaml.MappingNode) or not entry.node.value:
            self._faults.add("bad_value", entry.line, "sources is a mapping of name to path, key and role")
        else:
            for name, given in Section(entry.node, self._faults, None).entries.items():
                self._read_source(name, given)

    def _read_source(self, name: str, entry: Entry) -> None:
        if not isinstance(entry.node, yaml.MappingNode):
            self._faults.add("bad_value", entry.line, f"source {excerpt(name, 60)} is a mapping of path, key and role")
            return
        section = Section(entry.node, self._faults, _SOURCE_KEYS)
        if not re.fullmatch(NAME_PATTERN, name):
            self._faults.add("bad_value", entry.line, f"source {excerpt(name, 60)}: use letters, digits and _ only")
        path = self._path(section)
        key = section.text("key", required=True)
        role = section.text("role", required=True)
        if role is not None and role not in set(Role):
            self._faults.add("bad_value", section.line_of("role"), "role is declared or components")
            role = None
        # A source with a fault of its own is still known by its name: no check is blamed for it.
        self.sources[name] = Source(
            name=name,
            role=None if role is None else Role(role),
            key=key or "",
            derived=self._derived(section),
            path=path or "",
            file=self._folder / path if path else None,
            line=section.line_of("path"),
        )

    def _path(self, section: Section) -> str | None:
        path = section.text("path", required=True)
        if path is not None and "\0" in path:
            self._faults.add("bad_value", section.line_of("path"), "path holds a NUL character")
            return None
        if path is not None and Path(path).suffix not in set(SourceFormat):
            known = ", ".join(SourceFormat)
            self._faults.add("source_format", section.line_of("path"), f"{excerpt(path, 80)} is not one of {known}")
        return path

    def _derived(self, section: Section) -> frozenset[str]:
        entry = section.entries.get("derived_from_declared")
        if entry is None:
            return frozenset()
        if not isinstance(entry.node, yaml.SequenceNode):
            self._faults.add("bad_value", entry.line, "derived_from_declared is a list of columns")
            return frozenset()
        columns = list(scalars(entry))
        if any(column.text is None for column in columns):
            self._faults.add("bad_value", entry.line, "derived_from_declared is a list of column names")
        return frozenset(column.text for column in columns if column.text is not None)

    def _read_checks(self, section: Section) -> None:
        entry = section.entries.get("checks")
        if entry is None:
            self._faults.add("missing_key", section.line, "checks is missing; add it")
            return
        items = list(scalars(entry))
        if not items:
            self._faults.add("bad_value", entry.line, "checks is a list of at least one check")
        ids: set[str] = set()
        for item in items:
            if not isinstance(item.node, yaml.MappingNode):
                self._faults.add("bad_value", item.line, "a check is a mapping")
                continue
            fields = Section(item.node, self._faults, CHECK_KEYS)
            check_id = fields.text("id", required=True)
            if check_id is not None and check_id in ids:
                self._faults.add("duplicate_id", fields.line_of("id"), f"id {excerpt(check_id, 60)} is used twice")
            ids.add(check_id or "")
            reader = CheckReader(fields, self.sources, self.policy, self._faults)
            check = reader.check(check_id)
            if check is not None and reader.lineage is not None:
                self.checks.append(check)
                self.lineage[check.id] = reader.lineage
