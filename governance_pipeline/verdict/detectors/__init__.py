"""The built-in detectors, one list.

What belongs here: the list, in the order findings of one class are shown. What does not: any rule. A code of
spec/verdict.md §1 that is not in this list has no detector yet, and no verdict claims to have looked for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import UsageError
from governance_pipeline.verdict.detectors import (
    amplification,
    canonical_write,
    changed_tests,
    cross_checks,
    dependencies,
    focused_check,
    goal_substitution,
    missing_checks,
    output_hash,
    parse_failure,
    partial_graph,
    public_signature,
    rebaseline,
    reproduction,
    statistics,
    validator,
    without_check,
    without_evidence,
)

if TYPE_CHECKING:
    from governance_pipeline.verdict.detector import Detector

DETECTORS: Final[tuple[Detector, ...]] = (
    output_hash.DETECTOR,
    canonical_write.DETECTOR,
    validator.DETECTOR,
    cross_checks.MISMATCH,
    focused_check.DETECTOR,
    parse_failure.DETECTOR,
    changed_tests.DELETED,
    changed_tests.DISABLED,
    changed_tests.REMOVED,
    public_signature.DETECTOR,
    dependencies.ADDED,
    dependencies.UNPINNED,
    goal_substitution.DETECTOR,
    without_evidence.DETECTOR,
    missing_checks.NOT_RUN,
    missing_checks.NONE_RAN,
    cross_checks.COMPONENTS_MISSING,
    reproduction.DETECTOR,
    partial_graph.DETECTOR,
    rebaseline.DETECTOR,
    without_check.DETECTOR,
    *statistics.DETECTORS,
    *amplification.DETECTORS,
)


def detector_of(code: str) -> Detector:
    """Give the detector of a code.

    Raises:
        UsageError: no detector has it.
    """
    for detector in DETECTORS:
        if detector.code == code:
            return detector
    raise UsageError(f"no detector has the code {code!r}; there are {', '.join(d.code for d in DETECTORS)}")
