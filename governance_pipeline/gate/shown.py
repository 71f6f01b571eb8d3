"""What a person sees of a request before deciding: where it stands, its manifest, and the exact text.

What belongs here: finding a request by its id and gathering what is shown. What does not: the words (`display`) and
deciding (`drafts`, `deciding`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.gate.closings import case_resolutions
from governance_pipeline.gate.display import display_sha256, display_text
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.manifest import kept_manifest
from governance_pipeline.gate.states import standing_of

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.gate.events import History, Requested
    from governance_pipeline.gate.manifest import Manifest
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.gate.states import Standing


class Shown(NamedTuple):
    """A request as a person sees it: where it stands, the manifest, and the exact text."""

    standing: Standing
    manifest: Manifest
    text: str

    @property
    def display_sha256(self) -> str:
        """Digest of the text."""
        return display_sha256(self.text)


def request_of(history: History, request_id: str) -> Requested:
    """Give the newest window of a request by its id, or by the beginning of one that names it alone.

    Raises:
        UsageError: no request, or several, have it.
    """
    found = {r.request_id: r for r in history.requests if r.request_id.startswith(request_id)} if request_id else {}
    if len(found) != 1:
        problem = "several requests begin" if found else "no request begins"
        raise UsageError(f"{problem} with {request_id[:64]!r}; `govern gate inbox` lists them")
    return next(iter(found.values()))


def shown(verifier: Verifier, request_id: str, now: datetime, history: History | None = None) -> Shown:
    """Give what a person is shown of a request.

    Raises:
        UsageError: no such request.
        StorageError: its manifest is not in the lake any more, or damaged.
        Refusal: LOG_INCONSISTENT.
    """
    history = read_history(verifier.ledger) if history is None else history
    request = request_of(history, request_id)
    manifest = kept_manifest(verifier.lake, request.subject_sha256)
    if (manifest.document["gate"], manifest.document["round_id"]) != (request.gate, request.round_id):
        raise StorageError(f"manifest {request.subject_sha256} is of another round than request {request.request_id}")
    text = display_text(request, manifest, case_resolutions(manifest, history))
    return Shown(standing_of(request, verifier, history, now), manifest, text)
