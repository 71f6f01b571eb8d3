"""What a check is: a declared field, the expression that recomputes it, and the tolerance with its reason.

What belongs here: the checked, immutable definition. What does not: reading it from a file (`crosscheck.check_set`)
and running it (`crosscheck.engine`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from decimal import Decimal

    from governance_pipeline.crosscheck.formula import Formula


class Role(StrEnum):
    """What a source is good for; one file cannot be both."""

    DECLARED = "declared"
    COMPONENTS = "components"


class NoComponents(StrEnum):
    """What no component row at all means: unknown, or (with a reason) an empty sum."""

    UNVERIFIABLE = "unverifiable"
    ZERO = "zero"


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a declared field (spec/crosscheck.md §1).

    Attributes:
        id: stable name.
        field: the aggregate it is about.
        declared: ``source.column`` of the declared value; the first point separates them.
        formula: what recomputes it.
        data_type: how the two are compared.
        unit: unit of both; None when there is none.
        epsilon: tolerance as given; None for the default of the policy.
        epsilon_reason: why that tolerance, mandatory with the default too.
        epsilon_relative: for floats, a share of abs(declared) added to epsilon.
        epsilon_relative_reason: why.
        no_components: what no component row means.
        no_components_reason: why, mandatory with zero.
        escalate_to: who decides about a mismatch or an unknown.
    """

    id: str
    field: str
    declared: str
    formula: Formula
    data_type: DataType
    unit: str | None
    epsilon: Decimal | None
    epsilon_reason: str
    epsilon_relative: Decimal | None
    epsilon_relative_reason: str | None
    no_components: NoComponents
    no_components_reason: str | None
    escalate_to: str

    def __post_init__(self) -> None:
        """Turn plain texts of shipped data into the closed lists; ValueError when a text is not on its list."""
        object.__setattr__(self, "data_type", DataType(self.data_type))
        object.__setattr__(self, "no_components", NoComponents(self.no_components))

    @property
    def declared_source(self) -> str:
        """Name of the source that declares the value."""
        return self.declared.partition(".")[0]

    @property
    def declared_column(self) -> str:
        """Column of that source."""
        return self.declared.partition(".")[2]

    @property
    def pointer(self) -> str:
        """RFC 6901 pointer of the declared column in its row."""
        return "/" + self.declared_column.replace("~", "~0").replace("/", "~1")
