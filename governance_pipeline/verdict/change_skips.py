"""What the detectors of changes left out, for the verdict to say.

What belongs here: one entry for each question about changed files that stayed open. What does not: findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.verdict.change_rows import facts_of, unjudged
from governance_pipeline.vocabulary import FactKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.verdict.round_view import RoundView

NO_PUBLIC: Final = "no_public"
PUBLIC: Final = "changes:public-signatures"
NO_REGISTRY: Final = "no_registry"
CANONICAL: Final = "canonical-writes"
_SIGNATURES: Final = (FactKind.SIGNATURE_REMOVED, FactKind.SIGNATURE_NARROWED, FactKind.SIGNATURE_CHANGED)


def change_skips(view: RoundView) -> Iterator[dict[str, Any]]:
    """List what nobody could tell of the changed files: `{id, required, reason}`, once for each question and reason.

    Which names are public and which assets canonical only a contract says.
    """
    for aspect, reason in unjudged(view):
        yield {"id": f"changes:{aspect}", "required": False, "reason": reason}
    if view.promised("scope_public") is None and facts_of(view, *_SIGNATURES):
        yield {"id": PUBLIC, "required": False, "reason": NO_PUBLIC}
    if view.promised("scope_canonical") is None and view.part("core_file_changes").num_rows:
        yield {"id": CANONICAL, "required": False, "reason": NO_REGISTRY}
