"""The built-in checks: shipped YAML, one file per log format, read into typed entries.

Each entry names what it recomputes, from which component rows, where that meaning comes from and how sure it is
(spec/crosscheck.md §8). A declared field that a format offers no parts for is listed as not checkable, with the
reason; it is never dropped.

What belongs here: reading the entries and refusing one that cannot be meant. What does not: running them (builtin).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import yaml

from governance_pipeline.crosscheck.alternative import read_alternative
from governance_pipeline.crosscheck.check import Check, NoComponents, Role
from governance_pipeline.crosscheck.formula import parse_formula
from governance_pipeline.crosscheck.independence import LineageProof, lineage_proof
from governance_pipeline.crosscheck.source import Source
from governance_pipeline.errors import UsageError
from governance_pipeline.rounds.change_checks import CHANGE_CHECKS
from governance_pipeline.strict.canonical import canonical_json, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.crosscheck.alternative import Alternative

SCHEMA: Final = "govern/check-catalogue/v1"
ANY_FIELD: Final = "*"
DECLARED: Final = "declared"
"""Source of every declared value; no formula may read it."""

EVIDENCE: Final = ("documented", "code", "configuration", "inferred", "assumed", "to_be_confirmed")
"""How sure the meaning of a declared field can be, surest first (spec/crosscheck.md §8)."""

_TEXTS: Final = frozenset({"id", "field", "recompute", "data_type", "unit", "epsilon_reason", "escalate_to", "evidence",
                           "semantics"})  # fmt: skip
_OPTIONAL: Final = frozenset({"components", "no_components", "no_components_reason", "explanations"})
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C loader where libyaml was there at build time


@dataclass(frozen=True)
class CatalogueEntry:
    """One built-in check.

    Attributes:
        format: log format it belongs to.
        check: what is compared, and how.
        evidence: how sure the meaning of the declared field is, one of `EVIDENCE`.
        semantics: where that meaning comes from, in one sentence.
        told: its entries of `explanations` as written, and the only source of its ``count(*)``.
    """

    format: str
    check: Check
    evidence: str
    semantics: str
    told: tuple[Mapping[str, Any], ...] = ()
    only_source: str | None = None

    @cached_property
    def explanations(self) -> tuple[Alternative, ...]:
        """Hypotheses tried on a mismatch of the check, in this order (spec/crosscheck.md §5b).

        Parsed when asked for: most audits have few mismatches.

        Raises:
            UsageError: one that cannot be meant, or that reads what is declared; names the check.
        """
        try:
            found = tuple(read_alternative(told, self.check.formula, self.only_source) for told in self.told)
        except (UsageError, ValueError, TypeError) as fault:
            raise UsageError(f"{self.check.id}: {fault}") from fault
        for alternative in found:
            if DECLARED in alternative.formula.sources:
                raise UsageError(f"{self.check.id}: an explanation reads the source {DECLARED!r}; read its parts")
        return found

    @cached_property
    def lineage(self) -> LineageProof:
        """The static proof of the check: no column of the source that declares is reachable."""
        parts = {name: Source(name, Role.COMPONENTS, key="subject_id") for name in self.check.formula.sources}
        return lineage_proof(self.check.formula, {**parts, DECLARED: Source(DECLARED, Role.DECLARED, key="subject_id")})


@dataclass(frozen=True)
class Catalogue:
    """All built-in checks, and why the other declared fields, by (format, field), have none.

    `versions` says by format which versions of it the checks were made for.
    """

    entries: tuple[CatalogueEntry, ...]
    not_checkable: Mapping[tuple[str, str], str]
    versions: Mapping[str, str]

    def checks_for(self, format_name: str, field: str) -> list[Check]:
        """Return the checks of one declared field; more than one where a number has two independent sources."""
        return [e.check for e in self.entries if e.format == format_name and e.check.field == field]

    @property
    def meanings(self) -> dict[str, dict[str, str]]:
        """What each check's declared number means: check id -> evidence and semantics; change events included."""
        told = [(e.check.id, e.evidence, e.semantics) for e in self.entries]
        told += [(check.check_id, check.evidence, check.semantics) for check in CHANGE_CHECKS.values()]
        return {check_id: {"evidence": evidence, "semantics": semantics} for check_id, evidence, semantics in told}

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
    documents = [_document(*text) for text in texts]
    excuses = {(d["format"], item["field"]): item["reason"] for d in documents for item in d["not_checkable"]}
    versions = {document["format"]: str(document["versions"]) for document in documents}
    entries = (entry for text in texts for entry in _entries(text[0], _document(*text)))
    return Catalogue(tuple(entries), MappingProxyType(excuses), MappingProxyType(versions))


@cache
def catalogue_sha256() -> str:
    """Digest of the shipped catalogue, RFC 8785: each file by name and content, and the checks of change events."""
    folder = resources.files("governance_pipeline.crosscheck") / "catalogue"
    files = sorted([f.name, sha256_hex(f.read_bytes())] for f in folder.iterdir() if f.name.endswith(".yaml"))
    return sha256_hex(canonical_json([files, [[*check] for check in CHANGE_CHECKS.values()]]))


def read_entries(name: str, text: str) -> tuple[CatalogueEntry, ...]:
    """Read the checks of one catalogue file.

    Args:
        name: its name, for errors.
        text: its YAML.

    Raises:
        UsageError: another schema, or an entry that cannot be meant; names file, entry and fault.
    """
    entries = tuple(_entries(name, _document(name, text)))
    try:
        for entry in entries:
            _ = entry.explanations
    except UsageError as fault:
        raise UsageError(f"catalogue {name}: {fault}") from fault
    return entries


def _document(name: str, text: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader, whichever it is
    if document["schema"] != SCHEMA:
        raise UsageError(f"catalogue {name}: schema {document['schema']!r}, this version reads {SCHEMA}")
    return document


def _entries(name: str, document: dict[str, Any]) -> Iterator[CatalogueEntry]:
    for item in document["checks"]:
        try:
            yield _entry(document["format"], item)
        except (UsageError, ValueError) as fault:
            raise UsageError(f"catalogue {name}: {item.get('id')}: {fault}") from fault


def _entry(format_name: str, item: dict[str, Any]) -> CatalogueEntry:
    told = tuple(item.get("explanations", ()))
    return CatalogueEntry(format_name, _check(item), item["evidence"], item["semantics"], told, item.get("components"))


def _check(item: dict[str, Any]) -> Check:
    _refuse_members(item)
    formula = parse_formula(item["recompute"], only_source=item.get("components"))
    if DECLARED in formula.sources:
        raise ValueError(f"recompute reads the source {DECLARED!r}: a claim is no proof of itself")
    return Check(
        id=item["id"],
        field=item["field"],
        declared=f"{DECLARED}.{item['field']}",
        formula=formula,
        data_type=item["data_type"],
        unit=item["unit"],
        epsilon=None,
        epsilon_reason=item["epsilon_reason"],
        epsilon_relative=None,
        epsilon_relative_reason=None,
        no_components=item.get("no_components", NoComponents.UNVERIFIABLE),
        no_components_reason=item.get("no_components_reason"),
        escalate_to=item["escalate_to"],
    )


def _refuse_members(item: dict[str, Any]) -> None:
    """Refuse a member nobody reads, one that is missing or blank, and a zero without its reason."""
    unknown = sorted(set(item) - _TEXTS - _OPTIONAL)
    blank = sorted(key for key in _TEXTS | (_OPTIONAL & set(item)) if not str(item.get(key) or "").strip())
    if unknown or blank:
        raise ValueError(f"members nobody reads: {unknown}; missing or blank: {blank}")
    if item["evidence"] not in EVIDENCE:
        raise ValueError(f"evidence {item['evidence']!r} is not one of {', '.join(EVIDENCE)}")
    is_zero = item.get("no_components") == NoComponents.ZERO
    if is_zero != ("no_components_reason" in item):
        raise ValueError("no_components zero and no_components_reason come together")
