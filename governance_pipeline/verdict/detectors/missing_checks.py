"""`required-check-not-run` and `no-required-check-ran`: what was not verified.

Without the second, a round in which nothing at all was verified would look like one that merely has a gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.verdict.decision_table import missing_checks, none_ran
from governance_pipeline.verdict.detector import Detector, Hit, contract_place
from governance_pipeline.verdict.required_checks import required_checks
from governance_pipeline.verdict.signals import NO_REQUIRED_CHECK_RAN, REQUIRED_CHECK_NOT_RUN, GapReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.verdict.round_view import RoundView


def _not_run(view: RoundView) -> Iterator[Hit]:
    for check in missing_checks(view.once(required_checks)):
        factors = {"kind": check.kind, "check": check.id}
        yield Hit((check.kind, *check.subject), check.message, factors, check.place, reason=check.reason)


def _none_ran(view: RoundView) -> Iterator[Hit]:
    checks = view.once(required_checks)
    if none_ran(checks):
        message = "no required check came to a result: nothing of this round was verified"
        factors = {"required_checks": len(checks)}
        yield Hit((), message, factors, contract_place(view), reason=GapReason.CHECK_NOT_RUN)


_TABLES: Final = (
    "raw_log_files", "raw_quarantine", "core_criteria", "core_evidence", "core_steps", "audit_cross_checks",
    "audit_integrity", "audit_independence",
)  # fmt: skip
_READ: Final = {"lines_in": 1, "accepted": 1}
_UNREAD: Final = {"lines_in": 1, "quarantined": 1, "reason_code": "unsupported_format"}

NOT_RUN: Final = Detector(
    code=REQUIRED_CHECK_NOT_RUN,
    rule="a required check of the round came to no result",
    reads=_TABLES,
    detect=_not_run,
    fires_on={"raw_log_files": [_READ, {"path": "logs/b.txt", **_UNREAD}]},
    silent_on={
        "raw_log_files": [_READ],
        "core_criteria": [{"check_command": "pytest -q"}],
        "core_steps": [{"command": "pytest -q", "exit_code": 1}],
        "audit_cross_checks": [{"declared": "8", "computed": "9", "status": "mismatch", "mismatch": True}],
    },
)
NONE_RAN: Final = Detector(
    code=NO_REQUIRED_CHECK_RAN,
    rule="no required check of the round came to a result, or none is defined",
    reads=_TABLES,
    detect=_none_ran,
    fires_on={"raw_log_files": [_UNREAD]},
    silent_on={"raw_log_files": [_READ, {"path": "logs/b.txt", **_UNREAD}]},
)
