"""What verified facts are worth: the data of `facts.yaml`, read once.

What belongs here: reading it. What does not: finding the facts (`facts`).
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import yaml

from governance_pipeline.confidence.terms import Domain, Severity


class FindingRule(NamedTuple):
    """What a finding is worth; `needs_claim`: only where a success was claimed against it."""

    needs_claim: bool
    event: dict[str, str]


class FactRules(NamedTuple):
    """All of it.

    Attributes:
        outcomes: of a case, that confirm a mismatch.
        formats: of files whose numbers are somebody's word.
        mismatch: members of the event of a confirmed mismatch.
        claims: words of a self-report that claim a success, lower case.
        findings: by code.
        results: of an attestation, that say no.
        caught: domain and severity of what a review caught.
    """

    outcomes: frozenset[str]
    formats: frozenset[str]
    mismatch: dict[str, str]
    claims: frozenset[str]
    findings: dict[str, FindingRule]
    results: frozenset[str]
    caught: tuple[Domain, Severity]


@cache
def fact_rules() -> FactRules:
    """Return the shipped rules."""
    text = resources.files("governance_pipeline.confidence").joinpath("facts.yaml").read_text("utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    mismatch, false, caught = data["mismatch_confirmed"], data["false_completion"], data["review_caught"]
    return FactRules(
        outcomes=frozenset(mismatch["outcomes"]),
        formats=frozenset(mismatch["formats"]),
        mismatch=mismatch["event"],
        claims=frozenset(false["claims"]),
        findings={code: FindingRule(one["needs_claim"], one["event"]) for code, one in false["findings"].items()},
        results=frozenset(caught["results"]),
        caught=(Domain(caught["domain"]), Severity(caught["severity"])),
    )
