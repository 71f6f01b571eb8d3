"""Calls priced with a price table: the parts of a cost that is recomputed as tokens x price.

What belongs here: the component rows of such a check. What does not: prices (`ingest.prices`), and whether a format's
cost is tokens x price at all.

Every row of the source `priced_calls` has tokens and price per kind, and in `price_source` the package, the releases
and the row of the table the price is from, or why there is none. A kind of which a call used no token needs no price
and has 0 for it; a price or count nobody knows is there as missing, so that the cost is unknown and not smaller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.prices import KINDS, Price
from governance_pipeline.strict.lexeme import Lexeme

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.ingest.formats.aggregates import Subject
    from governance_pipeline.ingest.formats.places import Place
    from governance_pipeline.ingest.formats.usage import Tokens
    from governance_pipeline.ingest.prices import Unpriced

SOURCE: Final = "priced_calls"


def add_priced_call(
    subject: Subject,
    number: int,
    place: Place,
    model: str | None,
    at: datetime | None,
    tokens: Tokens,
    *,
    is_cache_inside_input: bool = True,
) -> bool:
    """Add one call, priced by the table of its round; tell whether all that makes its cost is known."""
    if not is_cache_inside_input:
        tokens = _with_cache_inside(tokens)
    found = subject.out.price_table.find(model, None if at is None else at.date(), tokens.input)
    columns: dict[str, tuple[Place, Any]] = {}
    for kind, count in zip(KINDS, _counts(tokens), strict=True):
        amount = getattr(found, kind) if isinstance(found, Price) else None
        is_free = count == 0
        columns[f"{kind}_tokens"] = (place, count)
        columns[f"{kind}_usd"] = (place, 0 if is_free else None if amount is None else Lexeme(amount))
    columns["price_source"] = (place, _source(found))
    subject.component(SOURCE, number, columns)
    return all(value is not None for _, value in columns.values())


def _with_cache_inside(tokens: Tokens) -> Tokens:
    parts = (tokens.input, tokens.cache_read, tokens.cache_creation)
    known = [part for part in parts if part is not None]
    return tokens._replace(input=sum(known) if len(known) == len(parts) else None)


def _counts(tokens: Tokens) -> tuple[int | None, int | None, int | None, int | None]:
    """Give the counts in the order of KINDS; a format that has no tokens written to a cache bills none."""
    written = tokens.cache_creation or 0
    if tokens.input is None or tokens.cache_read is None:
        return None, tokens.output, tokens.cache_read, written
    fresh = tokens.input - tokens.cache_read - written
    return (fresh if fresh >= 0 else None), tokens.output, tokens.cache_read, written


def _source(found: Price | Unpriced) -> str:
    if not isinstance(found, Price):
        return f"no price: {found.value}"
    begin, end = found.valid_from or "the beginning", found.valid_until or "now"
    return f"{found.source}: {found.model}, {begin} to {end}"
