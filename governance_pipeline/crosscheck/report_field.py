"""One entry of the fields of a report: recomputed from the formula, the sources and the policy the report names.

What belongs here: what is wrong with a field, and the check it stands for. What does not: its records
(`crosscheck.report_record`).
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from governance_pipeline.crosscheck.check import Check, NoComponents, Role
from governance_pipeline.crosscheck.formula import FormulaRefused, parse_formula
from governance_pipeline.crosscheck.independence import lineage_proof
from governance_pipeline.crosscheck.policy import FLOAT_RELATIVE, EpsilonPolicy
from governance_pipeline.crosscheck.report_shape import Violation
from governance_pipeline.crosscheck.source import Source
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.excerpt import is_said
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RECORD_COPIES = ("field", "data_type", "unit", "formula", "formula_digest", "epsilon_reason", "escalate_to")
"""Members a record repeats from its field."""


@dataclass(frozen=True)
class FieldRules:
    """What the records of one field must keep.

    Attributes:
        check: the check the field stands for.
        policy: the epsilon policy of the report.
        copies: the members a record repeats.
        file: digest of the declared source; None when the report does not have it.
        is_incomplete: whether a source of the formula holds a quarantined row, so that nothing can be computed.
    """

    check: Check
    policy: EpsilonPolicy
    copies: tuple[Any, ...]
    file: str | None
    is_incomplete: bool


def field_rules(
    field: Mapping[str, Any], sources: Mapping[str, Mapping[str, Any]], policy: EpsilonPolicy
) -> FieldRules | None:
    """Return what the records of a field must keep; None when its formula is none."""
    parts = [name for name, source in sources.items() if source["role"] == Role.COMPONENTS]
    try:
        formula = parse_formula(field["formula"], parts[0] if len(parts) == 1 else None)
    except FormulaRefused:
        return None
    check = Check(
        id=field["check_id"],
        field=field["field"],
        declared=field["declared"],
        formula=formula,
        data_type=field["data_type"],
        unit=field["unit"],
        epsilon=number_of(field["epsilon"]),
        epsilon_reason=field["epsilon_reason"],
        epsilon_relative=number_of(field["epsilon_relative"]),
        epsilon_relative_reason=field["epsilon_relative_reason"],
        no_components=field["no_components"],
        no_components_reason=field["no_components_reason"],
        escalate_to=field["escalate_to"],
    )
    declared = sources.get(check.declared_source)
    return FieldRules(
        check=check,
        policy=policy,
        copies=tuple(field[name] for name in RECORD_COPIES),
        file=None if declared is None else declared["sha256"],
        is_incomplete=any(sources[name]["quarantined"] for name in formula.sources if name in sources),
    )


def field_violations(
    field: Mapping[str, Any], rules: FieldRules | None, sources: Mapping[str, Mapping[str, Any]], where: str
) -> Iterator[Violation]:
    """Yield what is wrong with one field whose shape is sound: digest_wrong, field_wrong, epsilon_*."""
    if sha256_hex(field["formula"].encode()) != field["formula_digest"]:
        yield Violation("digest_wrong", f"{where}/formula_digest")
    if rules is None:
        yield Violation("field_wrong", f"{where}/formula")
        return
    check = rules.check
    if field["formula"] != check.formula.text:
        yield Violation("field_wrong", f"{where}/formula")
    if field["components"] != [f"{column.source}.{column.name}" for column in check.formula.columns]:
        yield Violation("field_wrong", f"{where}/components")
    declared = sources.get(check.declared_source)
    if declared is None or declared["role"] != Role.DECLARED or not check.declared_column:
        yield Violation("field_wrong", f"{where}/declared")
    if field["independent"] and not _is_independent(check, sources):
        yield Violation("field_wrong", f"{where}/independent")
    if check.no_components is NoComponents.ZERO and not (check.no_components_reason or "").strip():
        yield Violation("field_wrong", f"{where}/no_components_reason")
    yield from _epsilon_violations(check, rules.policy, where)


def number_of(value: Any) -> Decimal | None:
    """Return a number of a report exactly; None stays None."""
    return None if value is None else Decimal(value)


def _is_independent(check: Check, sources: Mapping[str, Mapping[str, Any]]) -> bool:
    """The static proof again, from names, roles and paths; which columns were derived only the check file says."""
    known = {
        name: Source(name=posixpath.normpath(source["path"]), role=Role(source["role"]), key=source["key"])
        for name, source in sources.items()
    }
    return lineage_proof(check.formula, known).is_independent


def _epsilon_violations(check: Check, policy: EpsilonPolicy, where: str) -> Iterator[Violation]:
    if check.epsilon is not None and not policy.allows(check.data_type, check.epsilon):
        yield Violation("epsilon_not_allowed", f"{where}/epsilon")
    relative = check.epsilon_relative
    if relative is not None and (check.data_type is not DataType.FLOAT or not policy.allows(FLOAT_RELATIVE, relative)):
        yield Violation("epsilon_not_allowed", f"{where}/epsilon_relative")
    if not is_said(check.epsilon_reason):
        yield Violation("epsilon_reason_blank", f"{where}/epsilon_reason")
    if relative is not None and not is_said(check.epsilon_relative_reason or ""):
        yield Violation("epsilon_reason_blank", f"{where}/epsilon_relative_reason")
