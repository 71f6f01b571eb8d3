"""The manifest of one act (`govern/gate-action-manifest/v1`): what is signed for at a gate of actions.

What belongs here: the document. What does not: its digest and keeping it (`manifest`), and how it is shown (`display`).
It names no time, no run and no person who decides, so the same act proposed again is the same subject.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.gate.gates import Gate
    from governance_pipeline.gate.proposals import Proposal

SCHEMA: Final = "govern/gate-action-manifest/v1"
NO_VERDICT: Final = "none"
"""Status where there is no verdict: an act is no round."""


def action_document(
    proposal: Proposal, gate: Gate, policy: Mapping[str, Any], code_sha256: str, project_baseline: str | None
) -> dict[str, Any]:
    """Give the manifest of a proposed act; it has no claims, validators or verdict, and says so."""
    return {
        "schema": SCHEMA,
        "gate": gate.name,
        "round_id": proposal.subject_id,
        "releases": list(gate.assets),
        "baseline_version": proposal.baseline_version,
        "project_baseline_version": project_baseline,
        "policy": dict(policy),
        "code_sha256": code_sha256,
        "producers": sorted(proposal.producers),
        "validators": [],
        "verdict": {"status": NO_VERDICT},
        "claims": [],
        "action": dict(proposal.action),
    }
