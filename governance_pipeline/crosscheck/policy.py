"""The epsilon policy: how far declared and computed may differ, for each data type.

What belongs here: reading the shipped policy, tightening it, and the epsilon of one declared number. What does not:
the numbers themselves, which are data (`policy/epsilon_policy.yaml`), and the comparison (`strict.comparison`).

Source: spec/crosscheck.md §2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

from governance_pipeline.crosscheck.shipped_policies import shipped_document
from governance_pipeline.errors import PolicyError
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.numbers import EXACT, ZERO, canonical, declared_decimals, exact_number
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.crosscheck.check import Check

SCHEMA = "govern/epsilon-policy/v1"
FLOAT_RELATIVE = "float_relative"
"""Name of the bound of the relative term of floats, beside the four data types."""


@dataclass(frozen=True, slots=True)
class EpsilonPolicy:
    """Bounds and defaults of epsilon.

    Attributes:
        maximum: largest epsilon that may be given, by data type and ``float_relative``; in the unit of the field.
        default: largest epsilon used when none is given, for currency and float.
        decimals: digits after the point of a declared number that count as precision.
    """

    maximum: Mapping[str, Decimal]
    default: Mapping[str, Decimal]
    decimals: int

    def tightened(self, maximum: Mapping[str, Decimal]) -> EpsilonPolicy:
        """Return this policy with lower maxima.

        Raises:
            PolicyError: a maximum is unknown, negative, or higher than the one in force.
        """
        for name, value in maximum.items():
            if name not in self.maximum:
                raise PolicyError(f"epsilon policy has no maximum {name!r}; it has {', '.join(self.maximum)}")
            if not ZERO <= value <= self.maximum[name]:
                bound = canonical(self.maximum[name])
                raise PolicyError(f"maximum of {name}: {canonical(value)} is not within 0 … {bound}; only tighten it")
        return replace(self, maximum={**self.maximum, **maximum})

    def allows(self, name: str, epsilon: Decimal) -> bool:
        """Tell whether a given epsilon keeps the bound of its data type or of ``float_relative``."""
        return ZERO <= epsilon <= self.maximum[name]

    def bound(self, data_type: DataType, declared: Decimal, lexeme: str) -> Decimal:
        """Return the largest epsilon any check may use for one declared number; arguments as `epsilon`."""
        largest = self.maximum[data_type]
        if data_type is DataType.PERCENT:
            return min(self._half_decimal(lexeme), largest)
        if data_type is DataType.FLOAT:
            return EXACT.add(largest, EXACT.multiply(self.maximum[FLOAT_RELATIVE], declared.copy_abs()))
        return largest

    def epsilon(self, check: Check, declared: Decimal, lexeme: str) -> Decimal:
        """Return the tolerance for one declared number, in the unit of the field.

        Args:
            check: gives data type and, if any, the epsilon of the check.
            declared: the declared number as shown.
            lexeme: the same as written; its decimals count.
        """
        half = self._half_decimal(lexeme)
        largest = self.maximum[check.data_type]
        match check.data_type:
            case DataType.INTEGER:
                return ZERO
            case DataType.CURRENCY:
                return min(half, self.default[check.data_type], largest) if check.epsilon is None else check.epsilon
            case DataType.PERCENT:
                return min(half, largest if check.epsilon is None else check.epsilon)
            case DataType.FLOAT:
                absolute = min(self.default[check.data_type], largest) if check.epsilon is None else check.epsilon
                relative = EXACT.multiply(check.epsilon_relative or ZERO, declared.copy_abs())
                return EXACT.add(absolute, relative)

    def _half_decimal(self, lexeme: str) -> Decimal:
        return EXACT.scaleb(Decimal(5), -declared_decimals(lexeme, self.decimals) - 1)

    def to_json(self) -> dict[str, Any]:
        """Return the document ``govern/epsilon-policy/v1`` of the maxima in force."""
        return {"schema": SCHEMA, "max": {name: Lexeme(canonical(value)) for name, value in self.maximum.items()}}


@cache
def shipped_epsilon_policy() -> EpsilonPolicy:
    """Read the policy that ships with the package (once per process)."""
    document = shipped_document("epsilon_policy.yaml")
    return EpsilonPolicy(
        maximum={name: _number(text) for name, text in document["max"].items()},
        default={name: _number(text) for name, text in document["default"].items()},
        decimals=document["declared_decimals"],
    )


def _number(text: str) -> Decimal:
    value = exact_number(text)
    if value is None:
        raise PolicyError(f"shipped epsilon policy: {text} is not an exact number")
    return value
