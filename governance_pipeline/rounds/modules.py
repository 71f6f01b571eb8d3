"""The module of a file: which part of the repository a change belongs to.

What belongs here: the order in which the event, the `[modules]` table and the module rule are asked. What does not:
counting modules (trajectory). Source: spec/ingest.md §2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from governance_pipeline.errors import UsageError
from governance_pipeline.rounds.globs import Globs
from governance_pipeline.rounds.paths import OUTSIDE, ROOT, is_outside, normal_form

if TYPE_CHECKING:
    from governance_pipeline.rounds.contract import Module, RoundContract

DEFAULT_RULE = "dir:2"
"""Rule in force when a contract names neither a rule nor modules, and when there is no valid contract."""

UNMATCHED = "(unmatched)"
"""Module of a file no entry of `[modules]` covers, when the contract names no rule for the rest."""

RULE_PATTERN = r"dir:[1-9][0-9]?"
"""What a module rule looks like: `dir:1` to `dir:99`, the number of leading folders that make the module."""

_RULE = re.compile(RULE_PATTERN, re.ASCII)


def is_module_rule(text: str) -> bool:
    """Tell whether `text` is a module rule."""
    return _RULE.fullmatch(text) is not None


class ModuleMap:
    """Names the module of a file.

    >>> ModuleMap(rule="dir:2").module("src/api/x/y.py")
    'src/api'

    Attributes:
        rule: the rule in force; None when only a `[modules]` table decides.
    """

    def __init__(self, modules: tuple[Module, ...] | None = None, rule: str | None = None) -> None:
        """Take the table (None: there is none) and the rule (None: none declared) of a contract.

        Raises:
            UsageError: `rule` is no module rule, or a glob is bad.
        """
        if rule is not None and not is_module_rule(rule):
            raise UsageError(f"{rule!r} is no module rule; write dir:1 to dir:99")
        self.rule = DEFAULT_RULE if rule is None and modules is None else rule
        self._depth = None if self.rule is None else int(self.rule.removeprefix("dir:"))
        self._entries = [(entry.name, Globs(entry.globs)) for entry in modules or ()]

    @classmethod
    def of(cls, contract: RoundContract | None) -> ModuleMap:
        """The map of a contract; None (absent or invalid) gives the default rule."""
        return cls() if contract is None else cls(contract.modules, contract.scope.module_rule)

    def module(self, path: str, event_module: str | None = None) -> str:
        """Name the module of a file, in any spelling of its path.

        Asked in this order: the module its event names, whatever the path; `(outside)` for a path that is absolute or
        climbs out; the first entry of `[modules]`, as written, that covers it; the rule, under which files in the
        root are "."; `(unmatched)`.
        """
        if event_module is not None:
            return event_module
        normal = normal_form(path)
        if is_outside(normal):
            return OUTSIDE
        for name, globs in self._entries:
            if globs.match(normal):
                return name
        if self._depth is None:
            return UNMATCHED
        folders = normal.split("/")[:-1]
        return "/".join(folders[: self._depth]) or ROOT
