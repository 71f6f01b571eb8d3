"""Behaviour patterns: the shipped ones (data) and what a pattern fixes.

What belongs here: reading `patterns.yaml`. What does not: patterns a user adds; those are registry lines
(`registry`).
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.confidence.terms import Domain, PatternKind, Role, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping


class Pattern(NamedTuple):
    """What a pattern fixes of an event.

    Attributes:
        code: its stable name.
        role: whose behaviour it is.
        kind: anti, pro or label.
        domain: the domain it belongs to; None: the event says it.
        severity: of an anti-pattern; None: the event says it.
    """

    code: str
    role: Role
    kind: PatternKind
    domain: Domain | None
    severity: Severity | None


class PatternText(NamedTuple):
    """What people read of a shipped pattern: by language, the observable signal and the question to ask (or none)."""

    pattern: Pattern
    signal: Mapping[str, str]
    question: Mapping[str, str] | None


@cache
def pattern_texts() -> tuple[PatternText, ...]:
    """Return the shipped patterns in the order of the file."""
    import yaml

    text = resources.files("governance_pipeline.confidence").joinpath("patterns.yaml").read_text("utf-8")
    return tuple(_read(entry) for entry in yaml.safe_load(text)["patterns"])


@cache
def shipped_patterns() -> Mapping[str, Pattern]:
    """Return the shipped patterns by code."""
    return MappingProxyType({text.pattern.code: text.pattern for text in pattern_texts()})


def _read(entry: dict) -> PatternText:
    pattern = Pattern(
        entry["code"],
        Role(entry["role"]),
        PatternKind(entry["kind"]),
        Domain(entry["domain"]) if entry["domain"] else None,
        Severity(entry["severity"]) if entry.get("severity") else None,
    )
    return PatternText(pattern, entry["signal"], entry.get("question"))
