"""`criterion-without-evidence`: nothing proves a criterion at the end of the round.

Refuted is not proven. A line of evidence.jsonl that could not be used may be the last word on any criterion: with one,
nothing is known to be proven.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.rounds.evidence import EvidenceState
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.criterion_state import criterion_state
from governance_pipeline.verdict.detector import Detector, Hit, contract_place, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.verdict.round_view import RoundView

_SAYS: Final = {
    "none": "nothing was recorded for it",
    "refuted": "its last record says refuted",
    "unproven": "its last record says unproven",
    "unknown": "a line of evidence.jsonl could not be used",
}


def _detect(view: RoundView) -> Iterator[Hit]:
    for criterion in view.criteria:
        state = criterion_state(view, criterion["criterion_id"])
        if state == EvidenceState.PROVEN:
            continue
        record = view.last_evidence.get(criterion["criterion_id"])
        name = excerpt(criterion["criterion_id"], 80)
        yield Hit(
            (criterion["criterion_id"],),
            f"criterion {name} is not proven: {_SAYS[state]}",
            {
                "criterion_id": name,
                "key_result_id": None if criterion["key_result_id"] is None else excerpt(criterion["key_result_id"]),
                "state": state,
                "strength": None if record is None else record["strength"],
                "lost_evidence_lines": view.lost_evidence,
            },
            contract_place(view) if record is None else place_of(record),
            required=criterion["is_required"],
        )


_CRITERION: Final = {"criterion_id": "C1", "check_command": "pytest -q"}

DETECTOR: Final = Detector(
    code="criterion-without-evidence",
    rule="the last state of a criterion is not proven, or cannot be known",
    reads=("core_criteria", "core_evidence", "raw_quarantine"),
    detect=_detect,
    fires_on={"core_criteria": [_CRITERION], "core_evidence": [{"state": "refuted"}]},
    silent_on={
        "core_criteria": [_CRITERION],
        "core_evidence": [{"state": "refuted"}, {"step_index": 2, "line": 2, "state": "proven"}],
    },
)
