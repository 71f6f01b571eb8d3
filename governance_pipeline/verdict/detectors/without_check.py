"""`criterion-without-check`: no command is named by which anybody could see whether a criterion holds.

Only recorded: a criterion may be judged by other means, and whether it is proven is another question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.detector import Detector, Hit, contract_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.verdict.round_view import RoundView


def _detect(view: RoundView) -> Iterator[Hit]:
    with_command = {row["criterion_id"] for row in view.evidence if row["command"] is not None}
    for criterion in view.criteria:
        if criterion["check_command"] is None and criterion["criterion_id"] not in with_command:
            name = excerpt(criterion["criterion_id"], 80)
            yield Hit(
                (criterion["criterion_id"],),
                f"criterion {name} names no check, and no record of it names a command",
                {"criterion_id": name},
                contract_place(view),
                required=False,
            )


_BARE: Final = {"criterion_id": "C1", "check_command": None}

DETECTOR: Final = Detector(
    code="criterion-without-check",
    rule="a criterion has no check command, and none of its evidence has one",
    reads=("core_criteria", "core_evidence"),
    detect=_detect,
    fires_on={"core_criteria": [_BARE], "core_evidence": [{"state": "proven"}]},
    silent_on={"core_criteria": [_BARE], "core_evidence": [{"state": "proven", "command": "pytest -q"}]},
)
