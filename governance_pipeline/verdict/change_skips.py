"""What the detectors of changes left out, for the verdict to say.

What belongs here: one entry for each question about changed files that stayed open. What does not: findings.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.rounds.globs import Globs
from governance_pipeline.rounds.paths import normal_form
from governance_pipeline.verdict.change_rows import facts_of, unjudged
from governance_pipeline.vocabulary import FactKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.verdict.round_view import RoundView

NO_PUBLIC: Final = "no_public"
PUBLIC: Final = "changes:public-signatures"
NO_READER: Final = "language_not_read"
NO_REGISTRY: Final = "no_registry"
CANONICAL: Final = "canonical-writes"
UNREAD_LANGUAGES: Final = (
    ".kt", ".rb", ".php", ".cs", ".swift", ".scala", ".c", ".h", ".cc", ".cpp", ".hpp", ".ex", ".dart", ".vue",
)  # fmt: skip
"""Ends of the names of source files whose public names nobody here reads; those of Python, JavaScript,
TypeScript, Go, Java and Rust are read."""

_SIGNATURES: Final = (FactKind.SIGNATURE_REMOVED, FactKind.SIGNATURE_NARROWED, FactKind.SIGNATURE_CHANGED)


def change_skips(view: RoundView) -> Iterator[dict[str, Any]]:
    """List what nobody could tell of the changed files: `{id, required, reason}`, once for each question and reason.

    Which names are public and which assets canonical only a contract says.
    """
    for aspect, reason in unjudged(view):
        yield {"id": f"changes:{aspect}", "required": False, "reason": reason}
    if view.promised("scope_public") is None and facts_of(view, *_SIGNATURES):
        yield {"id": PUBLIC, "required": False, "reason": NO_PUBLIC}
    if _has_unread_public(view):
        yield {"id": PUBLIC, "required": False, "reason": NO_READER}
    if view.promised("scope_canonical") is None and view.part("core_file_changes").num_rows:
        yield {"id": CANONICAL, "required": False, "reason": NO_REGISTRY}


def _has_unread_public(view: RoundView) -> bool:
    """Tell whether a public file of a language nobody here reads was changed."""
    public = view.promised("scope_public")
    if public is None:
        return False
    match = Globs(json.loads(public)).match
    paths = {normal_form(path) for path in view.values("core_file_changes", "file_path")}
    return any(path.endswith(UNREAD_LANGUAGES) and match(path) for path in paths)
