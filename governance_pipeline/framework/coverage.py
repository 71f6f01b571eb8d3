"""Which written rule is enforced by which code, held by which test, and which is convention only (`coverage.yaml`).

What belongs here: reading that list, looking whether each check it names is there, and the table `audit_coverage`. What
does not: the checks. A check that is not in this installation enforces nothing: it is listed as missing and its rule is
convention; tests/unit/framework holds each named check and test to be there.
"""

from __future__ import annotations

import importlib
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.framework.scaffold.signatures import Variant, variant_of_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from governance_pipeline.framework.folder import GovernedFolder

COVERAGE_SCHEMA: Final = "govern/framework-coverage/v1"


class State(StrEnum):
    """How far a rule is enforced."""

    ENFORCED = "enforced"
    PARTLY = "partly"
    CONVENTION_ONLY = "convention_only"


class Check(NamedTuple):
    """One piece of code that refuses what a rule forbids.

    `name` is `module:function`, `called_at` says what calls it before the write, `test` is the pytest id of a test that
    breaks the rule and sees it refused. `needs_safety_checks`: it holds only where the folder's own safety_checks.py
    calls the library.
    """

    name: str
    called_at: str
    test: str
    needs_safety_checks: bool


class CoveredRule(NamedTuple):
    """One written rule with what enforces it.

    `convention` says what nothing enforces (None: nothing is left); `missing` names checks the list promises and this
    installation does not have.
    """

    rule_id: str
    label: str
    title: str
    checks: tuple[Check, ...]
    convention: str | None
    missing: tuple[str, ...]

    @property
    def state(self) -> State:
        """Tell how far the rule is enforced."""
        if not self.checks:
            return State.CONVENTION_ONLY
        return State.ENFORCED if self.convention is None else State.PARTLY


def covered_rules(language: str = "en", *, has_safety_checks: bool = True) -> list[CoveredRule]:
    """Give every rule in the order of the list.

    Args:
        language: of titles and remarks; `template_files.LANGUAGES`.
        has_safety_checks: the folder's safety_checks.py calls the library; if not, checks that need it are left out.
    """
    return [_covered(entry, language, has_safety_checks) for entry in _entries()]


def rows(folder: GovernedFolder) -> pd.DataFrame:
    """Make `audit_coverage` of a governed folder; shape: one row per rule and check, one without a check otherwise."""
    from governance_pipeline.contracts.audit_coverage import AuditCoverage
    from governance_pipeline.contracts.frames import typed

    has_safety_checks = variant_of_folder(folder.root) is Variant.LIBRARY
    found = [row for rule in covered_rules(has_safety_checks=has_safety_checks) for row in _rows(rule)]
    return typed(AuditCoverage, "audit_coverage", found)


def coverage_document(language: str, variant: Variant | None) -> dict[str, Any]:
    """Give the list as a document of `framework-coverage-v1`; `variant` is None when no folder was looked at."""
    rules = covered_rules(language, has_safety_checks=variant in (None, Variant.LIBRARY))
    states = [str(rule.state) for rule in rules]
    return {
        "schema": COVERAGE_SCHEMA,
        "language": language,
        "safety_checks": None if variant is None else str(variant),
        "counts": {str(state): states.count(state) for state in State},
        "rules": [_rule_member(rule) for rule in rules],
    }


def _rule_member(rule: CoveredRule) -> dict[str, Any]:
    return {
        "rule_id": rule.rule_id,
        "title": rule.title,
        "state": str(rule.state),
        "checks": [check._asdict() for check in rule.checks],
        "convention": rule.convention,
        "missing": list(rule.missing),
    }


def _rows(rule: CoveredRule) -> Iterator[Mapping[str, Any]]:
    shared = {"rule_id": rule.rule_id, "rule": rule.title, "state": str(rule.state), "convention": rule.convention}
    if not rule.checks:
        yield {**shared, "check_index": 1}
    for index, check in enumerate(rule.checks, start=1):
        yield {
            **shared,
            "check_index": index,
            "check_name": check.name,
            "called_at": check.called_at,
            "test_id": check.test,
        }


_REMARKS: Final = {
    "en": {
        "inactive": "00_governance/safety_checks.py does not call the library here",
        "missing": "not in this installation:",
    },
    "es": {
        "inactive": "00_governance/safety_checks.py no llama aquí a la biblioteca",
        "missing": "no está en esta instalación:",
    },
}


def _covered(entry: Mapping[str, Any], language: str, has_safety_checks: bool) -> CoveredRule:
    words = _REMARKS[language]
    listed = [_check(check, language) for check in entry.get("enforced_by", ())]
    there = [check for check in listed if _is_importable(check.name)]
    active = tuple(check for check in there if has_safety_checks or not check.needs_safety_checks)
    missing = tuple(check.name for check in listed if not _is_importable(check.name))
    remarks = [entry["convention"][language]] if "convention" in entry else []
    if missing:
        remarks.append(f"{words['missing']} {', '.join(missing)}")
    if len(active) < len(there):
        remarks.append(words["inactive"])
    convention = "; ".join(remarks) or None
    return CoveredRule(entry["rule"], entry["label"][language], entry[language], active, convention, missing)


def _check(entry: Mapping[str, Any], language: str) -> Check:
    needs = bool(entry.get("needs_safety_checks", False))
    return Check(entry["check"], entry["called_at"][language], entry["test"], needs)


@cache
def _is_importable(name: str) -> bool:
    module, _, attribute = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return False
    return callable(found)


@cache
def _entries() -> tuple[Mapping[str, Any], ...]:
    import yaml

    text = (resources.files("governance_pipeline.framework") / "coverage.yaml").read_text("utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    return tuple(data["rules"])
