"""A fact as columns of `core_change_facts`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from governance_pipeline.ingest.change_facts.fact import short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.ingest.change_facts.fact import ChangeFact


def fact_columns(fact: ChangeFact) -> dict[str, Any]:
    """Give the columns a fact fills by itself."""
    return {
        "kind": str(fact.kind),
        "subject": short(fact.subject),
        "text_before": fact.before,
        "text_after": fact.after,
        "removed_assertions": _list(fact.removed),
        "added_assertions": _list(fact.added),
        "changed_line": fact.file_line,
    }


def _list(digests: Sequence[str]) -> str | None:
    return json.dumps(list(digests), separators=(",", ":")) if digests else None
