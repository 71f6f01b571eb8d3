"""One check of a check file: from a section of YAML to a `Check`, or faults with their lines.

What belongs here: the keys of one check and their rules. What does not: the file around it (`crosscheck.check_set`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from governance_pipeline.crosscheck.check import Check, NoComponents, Role
from governance_pipeline.crosscheck.formula import Formula, FormulaRefused, parse_formula
from governance_pipeline.crosscheck.independence import LineageProof, lineage_proof
from governance_pipeline.crosscheck.policy import FLOAT_RELATIVE
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.numbers import canonical, exact_number, is_number
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from governance_pipeline.crosscheck.check_text import Entry, Faults, Section
    from governance_pipeline.crosscheck.policy import EpsilonPolicy
    from governance_pipeline.crosscheck.source import Source

CHECK_KEYS = (
    "id",
    "field",
    "declared",
    "recompute",
    "data_type",
    "unit",
    "epsilon",
    "epsilon_reason",
    "epsilon_relative",
    "epsilon_relative_reason",
    "no_components",
    "no_components_reason",
    "escalate_to",
)

NAME_PATTERN = r"[^\W\d]\w{0,79}"
"""A name that stands unquoted in an expression: sources always, columns unless they are quoted."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", re.ASCII)
_DECLARED = re.compile(rf'({NAME_PATTERN})\.(?:({NAME_PATTERN})|"((?:[^"]|"")+)")')


def number_entry(entry: Entry, name: str, faults: Faults) -> Decimal | None:
    """Return the exact number written as a scalar; None, with a fault, when it is none."""
    text = entry.text
    if text is None or not is_number(text):
        faults.add("epsilon_not_a_number", entry.line, f"{name} is not a number such as 0.005; nothing else is one")
        return None
    value = exact_number(text)
    if value is None:
        faults.add("epsilon_out_of_policy", entry.line, f"{name} has more than 30 decimals or 38 digits")
    return value


class CheckReader:
    """Reads the section of one check; every rule is applied even when another one is broken.

    `lineage` is the static proof of its expression, as soon as there is one.
    """

    def __init__(self, section: Section, sources: Mapping[str, Source], policy: EpsilonPolicy, faults: Faults) -> None:
        self._section = section
        self._sources = sources
        self._policy = policy
        self._faults = faults
        self.lineage: LineageProof | None = None

    def check(self, check_id: str | None) -> Check | None:
        """Return the check; None, with faults, when a mandatory part is missing or wrong."""
        section = self._section
        if check_id is not None and not _ID.fullmatch(check_id):
            self._fault("bad_value", "id", "id: use letters, digits, dot, _ and -, at most 80 characters")
        field = section.text("field", required=True)
        declared = self._declared()
        formula = self._formula()
        data_type = self._data_type()
        epsilon = self._epsilon("epsilon", data_type)
        reason = self._reason("epsilon_reason", "epsilon_reason_missing")
        relative = self._epsilon("epsilon_relative", data_type)
        relative_reason = self._relative_reason()
        no_components, no_components_reason = self._no_components()
        unit = section.text("unit")
        escalate_to = section.text("escalate_to", required=True)
        if not (check_id and field and declared and formula and data_type and reason and escalate_to):
            return None
        return Check(
            id=check_id,
            field=field,
            declared=declared,
            formula=formula,
            data_type=data_type,
            unit=unit,
            epsilon=epsilon,
            epsilon_reason=reason,
            epsilon_relative=relative,
            epsilon_relative_reason=relative_reason,
            no_components=no_components,
            no_components_reason=no_components_reason,
            escalate_to=escalate_to,
        )

    def _declared(self) -> str | None:
        text = self._section.text("declared", required=True)
        if text is None:
            return None
        match = _DECLARED.fullmatch(text)
        if match is None:
            self._fault("bad_value", "declared", 'declared is source.column or source."any name"')
            return None
        name = match[1]
        source = self._sources.get(name)
        if source is None:
            self._fault("unknown_source", "declared", f"{excerpt(name, 60)} is not among the sources; declare it")
        elif source.role is Role.COMPONENTS:
            code = "declared_in_components_source"
            self._fault(code, "declared", f"{name} has role components, so it declares nothing")
        column = match[2] or match[3].replace('""', '"')
        return f"{name}.{column}"

    def _formula(self) -> Formula | None:
        text = self._section.text("recompute", required=True)
        if text is None:
            return None
        parts = [source.name for source in self._sources.values() if source.role is not Role.DECLARED]
        try:
            formula = parse_formula(text, parts[0] if len(parts) == 1 else None)
            self.lineage = lineage_proof(formula, self._sources)
            faults = list(self.lineage.faults)
        except FormulaRefused as refusal:
            formula, faults = None, refusal.faults
        for code, message in faults:
            self._fault(code, "recompute", message)
        return formula

    def _data_type(self) -> DataType | None:
        text = self._section.text("data_type", required=True)
        if text is None:
            return None
        if text not in set(DataType):
            self._fault("bad_value", "data_type", f"data_type is one of {', '.join(DataType)}")
            return None
        return DataType(text)

    def _epsilon(self, key: str, data_type: DataType | None) -> Decimal | None:
        entry = self._section.entries.get(key)
        if entry is None:
            return None
        value = number_entry(entry, key, self._faults)
        if value is None or data_type is None:
            return value
        bound = data_type.value
        if key == "epsilon_relative":
            if data_type is not DataType.FLOAT:
                self._fault("epsilon_out_of_policy", key, "a relative term is for data_type float only")
                return value
            bound = FLOAT_RELATIVE
        if not self._policy.allows(bound, value):
            most = canonical(self._policy.maximum[bound])
            self._fault("epsilon_out_of_policy", key, f"{canonical(value)} is not within 0 … {most} for {bound}")
        return value

    def _reason(self, key: str, code: str) -> str | None:
        entry = self._section.entries.get(key)
        if entry is None or entry.is_blank:
            self._fault(code, key, f"{key} is missing or blank; say why in one sentence")
            return None
        return entry.text

    def _relative_reason(self) -> str | None:
        key = "epsilon_relative_reason"
        if "epsilon_relative" in self._section.entries:
            return self._reason(key, "epsilon_reason_missing")
        return self._section.text(key)

    def _no_components(self) -> tuple[NoComponents, str | None]:
        text = self._section.text("no_components") or NoComponents.UNVERIFIABLE
        if text not in set(NoComponents):
            self._fault("bad_value", "no_components", f"no_components is one of {', '.join(NoComponents)}")
            text = NoComponents.UNVERIFIABLE
        meaning = NoComponents(text)
        key = "no_components_reason"
        if meaning is NoComponents.ZERO:
            return meaning, self._reason(key, "no_components_reason_missing")
        return meaning, self._section.text(key)

    def _fault(self, code: str, key: str, message: str) -> None:
        self._faults.add(code, self._section.line_of(key), message)
