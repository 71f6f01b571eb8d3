"""Members of a foreign log: the value when it has the type a column needs, otherwise nothing.

What belongs here: the few judgements every foreign format makes. What does not: what a member means. Unlike a native
record, a foreign one is not refused for a member of the wrong type: logs of many tools and versions differ, and one
unknown number must not hide the rest of its record. The number is then unknown (null), never a default.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.contracts.fields import MONEY_TYPE
from governance_pipeline.ingest.extraction import value_kind
from governance_pipeline.strict.lexeme import Lexeme, NonFinite
from governance_pipeline.strict.numbers import exact_number
from governance_pipeline.vocabulary import ValueKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MONEY_STEP: Final = Decimal(1).scaleb(-MONEY_TYPE.scale)
_MONEY_CONTEXT: Final = Context(prec=MONEY_TYPE.precision, rounding=ROUND_HALF_EVEN)
NO_EXIT_CODE: Final = -1
"""Written by OpenHands and mini-SWE-agent where a command gave no exit code (timed out, still running, not run)."""


def text(value: Any) -> str | None:
    """Give a JSON text that is not empty; a number kept as written is none."""
    return value if isinstance(value, str) and value and not isinstance(value, Lexeme | NonFinite) else None


def whole(value: Any) -> int | None:
    """Give a count: a JSON integer of 0 or more that a table can hold."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def exit_code(value: Any) -> int | None:
    """Give an exit code; -1 is no exit code but the mark of a missing one."""
    is_code = isinstance(value, int) and not isinstance(value, bool) and value != NO_EXIT_CODE
    return value if is_code else None


def members(value: Any) -> Mapping[str, Any]:
    """Give the members of an object; anything else has none."""
    return value if isinstance(value, dict) else {}


def entries(value: Any) -> Sequence[Any]:
    """Give the entries of an array; anything else has none."""
    return value if isinstance(value, list) else ()


def seconds(value: Any, per_second: int = 1) -> float | None:
    """Give a duration in seconds, from a number that counts 1/per_second; None when it is no number or below 0."""
    if value_kind(value) is not ValueKind.NUMBER:
        return None
    number = exact_number(str(value))
    return None if number is None or number < 0 else float(number) / per_second


def price_usd(value: Any) -> Decimal | None:
    """Give the cost of one API call in USD, rounded to the 18 places of the column; None when nobody knew the price.

    A cost of 0 is no price: OpenHands and mini-SWE-agent write 0.0 where their price list does not have the model
    (minisweagent/models/litellm_model.py `_calculate_cost`, openhands/llm/llm.py `_completion_cost`).
    """
    if value_kind(value) is not ValueKind.NUMBER:
        return None
    number = exact_number(str(value))
    if not number:
        return None
    try:
        return number.quantize(_MONEY_STEP, context=_MONEY_CONTEXT)
    except InvalidOperation:
        return None


def unpriced(value: Any) -> Any:
    """Give a cost as written, and nothing where it is 0: see `price_usd`."""
    is_zero = value_kind(value) is ValueKind.NUMBER and exact_number(str(value)) == 0
    return None if is_zero else value
