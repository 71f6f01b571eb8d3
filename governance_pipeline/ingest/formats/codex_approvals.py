"""What a Codex session says of approvals: the policy in force, the verdicts of its guardian, reviews, refusals.

What belongs here: which lines say so. What does not: whether anything was approved, which mostly leaves no line: a
person's yes is not written, only their no, as the output of the call. The guardian is a model.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.ingest.formats.codex_tools import DECLINED
from governance_pipeline.ingest.formats.values import members, text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.places import Place

    Members = Mapping[str, Any]

APPROVED, REJECTED, REVIEW, MODE = "approved", "rejected", "review", "mode"
MODEL, HUMAN = "model", "human"
_GUARDIAN: Final = {"approved": APPROVED, "denied": REJECTED}
_NO_VERDICT_YET: Final = "in_progress"


class Approval(NamedTuple):
    """One row of `core_approvals` but for its run."""

    place: Place
    kind: str
    at: datetime | None
    by: str | None = None
    by_id: str | None = None
    call_id: str | None = None
    result: str | None = None
    reason: str | None = None

    def write(self, out: Extraction, run_id: str) -> None:
        """Add the row."""
        columns = {name: value for name, value in self._asdict().items() if name != "place"}
        self.place.add(out, "core_approvals", run_id=run_id, **columns)


def mode_of(place: Place, context: Members, at: datetime | None) -> Approval | None:
    """Read the policy of a turn or of changed settings; a granular policy is an object, kept as JSON."""
    policy = context.get("approval_policy")
    result = text(policy) or (json.dumps(policy, sort_keys=True) if isinstance(policy, dict) else None)
    reviewer = text(context.get("approvals_reviewer"))
    return None if result is None else Approval(place, MODE, at, by_id=reviewer, result=result)


def verdict_of(place: Place, event: Members, at: datetime | None) -> Approval | None:
    """Read a verdict of the guardian, or of a review; an assessment that is still going on has none."""
    if event.get("type") == "guardian_assessment":
        status = text(event.get("status"))
        if status is None or status == _NO_VERDICT_YET:
            return None
        call_id = text(event.get("target_item_id"))
        reason = text(event.get("rationale"))
        return Approval(place, _GUARDIAN.get(status, REVIEW), at, MODEL, "guardian", call_id, status, reason)
    output = members(event.get("review_output"))
    if event.get("type") != "exited_review_mode" or not output:
        return None
    result, reason = text(output.get("overall_correctness")), text(output.get("overall_explanation"))
    return Approval(place, REVIEW, at, MODEL, result=result, reason=reason)


def refusal_of(place: Place, event: Members, at: datetime | None) -> Approval | None:
    """Read that a command or a patch was declined; by whom is not said."""
    call_id = text(event.get("call_id"))
    return Approval(place, REJECTED, at, call_id=call_id, result=DECLINED) if event.get("status") == DECLINED else None
