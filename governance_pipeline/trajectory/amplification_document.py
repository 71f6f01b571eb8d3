"""The `govern/amplification/v1` document: factors kept beside the products, and the signals of each unit.

What belongs here: values -> document (spec/trajectory.md §9). What does not: any formula, and how a page looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import UsageError
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trajectory.amplification import Signal, SignalReason, impact_delta, region_of, signals_of
from governance_pipeline.trajectory.documents import shortest_number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from governance_pipeline.trajectory.amplification import AmplificationRule, Factors, Region, Unit
    from governance_pipeline.trajectory.amplification_input import AmplificationInput

SCHEMA: Final = "govern/amplification/v1"
_NAME_CHARACTERS: Final = 80


def amplification_document(given: AmplificationInput) -> dict[str, Any]:
    """Compute the region and the signals, and give them as a document; units in input order.

    Raises:
        UsageError: a product or another result is beyond a double.
    """
    region = region_of(given.units, given.rule)
    history = given.history
    return {
        "schema": SCHEMA,
        "rule": _rule(given.rule),
        "provider": dict(given.provider),
        "reference_units": region.reference_units,
        "median": _number(region.median, "median"),
        "mad": _number(region.mad, "mad"),
        "threshold": _number(region.threshold, "threshold"),
        "region_reason": None if region.reason is None else str(region.reason),
        "commits_used": None if history is None else history.commits_used,
        "commits_left_out": None if history is None else history.commits_left_out,
        "units": [_unit(unit, region, given.rule) for unit in given.units],
    }


def increased(document: Mapping[str, Any]) -> list[str]:
    """Name the touched units whose impact grew materially, in the order of the document."""
    return [unit["id"] for unit in document["units"] if unit["signals"] and unit["signals"][Signal.IMPACT_INCREASE]]


def undecided(document: Mapping[str, Any]) -> dict[str, str]:
    """Give the touched units that may have grown without anybody knowing, id -> reason.

    A unit that is gone has no impact left to grow, so it is not among them.
    """
    found = {unit["id"]: unit["unknown"].get(Signal.IMPACT_INCREASE) for unit in document["units"]}
    return {id_: reason for id_, reason in found.items() if reason not in (None, SignalReason.NO_CANDIDATE)}


def _rule(rule: AmplificationRule) -> dict[str, Any]:
    return {
        "k": _number(rule.k, "rule.k"),
        "min_units": rule.min_units,
        "material_min": _number(rule.material_min, "rule.material_min"),
        "material_share": _number(rule.material_share, "rule.material_share"),
        "max_files": rule.max_files,
    }


def _unit(unit: Unit, region: Region, rule: AmplificationRule) -> dict[str, Any]:
    signals = signals_of(unit, region, rule)
    return {
        "id": unit.id,
        "touched": unit.is_touched,
        "baseline": _side(unit.id, unit.baseline, region),
        "candidate": _side(unit.id, unit.candidate, region),
        "impact_delta": _number(impact_delta(unit), unit.id),
        "signals": None if signals is None else {str(name): value for name, value in signals.values.items()},
        "unknown": {} if signals is None else {str(name): str(reason) for name, reason in signals.unknown.items()},
    }


def _side(unit: str, factors: Factors | None, region: Region) -> dict[str, Any] | None:
    if factors is None:
        return None
    amplification = factors.amplification
    return {
        "frequency": _number(factors.frequency, unit),
        "impact": _number(factors.impact, unit),
        "amplification": _number(amplification, unit),
        "robust_z": _number(region.robust_z(amplification), unit),
        "is_outlier": region.contains(amplification),
    }


def _number(value: Fraction | None, place: str) -> float | None:
    """Give the double nearest to an exact value."""
    if value is None:
        return None
    try:
        return shortest_number(float(value))
    except OverflowError:
        shown = excerpt(place, _NAME_CHARACTERS)
        raise UsageError(f"the input is refused: {shown}: a result is beyond a double; use smaller factors") from None
