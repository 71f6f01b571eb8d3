"""The built-in checks: shipped YAML, one file per log format, read into typed entries.

Each entry names what it recomputes, from which component rows, where that meaning comes from and how sure it is
(evidence: documented, code, configuration, inferred, assumed, to_be_confirmed; spec/crosscheck.md §8). A declared
field that a format offers no parts for is listed as not checkable, with the reason; it is never dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import yaml

from governance_pipeline.crosscheck.check import Check
from governance_pipeline.crosscheck.formula import parse_formula

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = "govern/check-catalogue/v1"
ANY_FIELD = "*"


@dataclass(frozen=True)
class CatalogueEntry:
    """One built-in check.

    Attributes:
        format: log format it belongs to.
        check: what is compared, and how.
        evidence: how sure the meaning of the declared field is.
        semantics: where that meaning comes from, in one sentence.
    """

    format: str
    check: Check
    evidence: str
    semantics: str


@dataclass(frozen=True)
class Catalogue:
    """All built-in checks, by (format, field)."""

    entries: tuple[CatalogueEntry, ...]
    not_checkable: dict[tuple[str, str], str]

    def checks_for(self, format_name: str, field: str) -> list[Check]:
        """Return the checks of one declared field; more than one where a number has two independent sources."""
        return [e.check for e in self.entries if e.format == format_name and e.check.field == field]

    def why_not(self, format_name: str, field: str) -> str | None:
        """Return why a declared field cannot be checked; None when it can, or when nobody thought of it."""
        if self.checks_for(format_name, field):
            return None
        exact = self.not_checkable.get((format_name, field))
        return exact or self.not_checkable.get((format_name, ANY_FIELD))


@cache
def catalogue() -> Catalogue:
    """Read the shipped catalogue (once per process)."""
    folder = resources.files("governance_pipeline.crosscheck") / "catalogue"
    texts = sorted((f.name, f.read_text("utf-8")) for f in folder.iterdir() if f.name.endswith(".yaml"))
    documents = [yaml.safe_load(text) for _, text in texts]
    return Catalogue(
        entries=tuple(entry for document in documents for entry in _entries(document)),
        not_checkable={
            (document["format"], item["field"]): item["reason"]
            for document in documents
            for item in document["not_checkable"]
        },
    )


def _entries(document: dict[str, Any]) -> Iterator[CatalogueEntry]:
    if document["schema"] != SCHEMA:
        raise ValueError(f"catalogue of schema {document['schema']!r}, expected {SCHEMA}")
    for item in document["checks"]:
        formula = parse_formula(item["recompute"], only_source=item.get("components"))
        check = Check(
            id=item["id"],
            field=item["field"],
            declared=f"declared.{item['field']}",
            formula=formula,
            data_type=item["data_type"],
            unit=item["unit"],
            epsilon=None,
            epsilon_reason=item["epsilon_reason"],
            epsilon_relative=None,
            epsilon_relative_reason=None,
            no_components=item.get("no_components", "unverifiable"),
            no_components_reason=item.get("no_components_reason"),
            escalate_to=item["escalate_to"],
        )
        yield CatalogueEntry(document["format"], check, item["evidence"], item["semantics"])
