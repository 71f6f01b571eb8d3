"""The verdict of each round as asset checks: one per family of detectors, and one for the whole.

What belongs here: which detectors one check speaks for, and how four verdicts become pass or fail without losing one.
What does not: any finding. The verdict stands in the metadata as its word, so that unknown is never read as pass or
fail (spec/verdict.md §5): a check that is not passed is a warning for `warn` and `unknown`, an error for `block`.
"""

import dagster as dg
import pandas as pd

from assets_defs.check_status import Judged, rows_metadata
from assets_defs.round_check import Judge, judged_check
from governance_pipeline.workspace import Workspace

FAMILIES = {
    "numbers_agree": ("cross-check-mismatch", "components-missing"),
    "outputs_are_as_hashed": ("output-hash-mismatch",),
    "validators_are_others": ("validator-not-independent",),
    "work_is_on_its_goal": ("goal-substitution",),
    "checks_ran_and_passed": ("focused-check-failed", "required-check-not-run", "no-required-check-ran"),
    "canonical_writes_are_approved": ("canonical-write-unapproved",),
    "changed_files_parse": ("parse-failure",),
    "tests_are_kept": ("test-deleted", "test-disabled", "assertion-removed"),
    "public_names_are_kept": ("public-signature-narrowed",),
    "dependencies_are_kept": ("dependency-added", "dependency-unpinned"),
    "rounds_can_be_compared": ("partial-impact-graph", "rebaseline-due"),
    "work_is_like_its_cohort": (
        "extreme-surface",
        "architectural-dispersion",
        "accumulated-expansion",
        "evidence-lag",
        "rewrite-attempt",
    ),
    "reach_did_not_grow": ("impact-increase", "outlier-crossing"),
    "criteria_have_evidence": (
        "criterion-without-evidence",
        "criterion-without-check",
        "bugfix-without-reproduction",
    ),
}
"""Name of a check -> the finding codes it speaks for; together all detectors there are, which a test holds."""

VERDICT_OF = {"block": "block", "unknown": "unknown", "warn": "warn", "pause": "warn"}
"""Decision on a finding -> verdict it makes; any other is only recorded. Worst first (spec/verdict.md §3)."""

WORST_FIRST = ("block", "unknown", "warn")
CLEAN = "pass"
COLUMNS = [
    "code", "decision", "reason", "message", "path", "line", "finding_id", "dismissed_by", "dismissal_reason",
]  # fmt: skip


def _family_judge(codes: tuple[str, ...]) -> Judge:
    def judge(workspace: Workspace, round_id: str) -> Judged:
        findings = workspace.lake.get("verdict_findings", round_id)
        own = findings[findings["code"].isin(codes)]
        shown = own[own["decision"].isin([*VERDICT_OF, "dismissed"])]
        verdicts = set(shown["decision"].map(VERDICT_OF))
        return _judged(next((word for word in WORST_FIRST if word in verdicts), CLEAN), shown)

    return judge


def _whole(workspace: Workspace, round_id: str) -> Judged:
    [row] = workspace.lake.get("verdict_rounds", round_id).to_dict("records")
    return _judged(row["status"], pd.DataFrame())


def _judged(verdict: str, findings: pd.DataFrame) -> Judged:
    severity = dg.AssetCheckSeverity.ERROR if verdict == "block" else dg.AssetCheckSeverity.WARN
    shown = rows_metadata(findings[COLUMNS]) if len(findings) else {}
    return Judged(verdict == CLEAN, {"verdict": dg.MetadataValue.text(verdict), **shown}, severity)


VERDICT_CHECKS = [
    *(
        judged_check(
            "verdict_findings",
            name,
            _family_judge(codes),
            f"Verdict of the findings {', '.join(codes)} alone: pass, warn, unknown or block.",
            blocking=False,
        )
        for name, codes in FAMILIES.items()
    ),
    judged_check(
        "verdict_rounds",
        "verdict",
        _whole,
        "Verdict of the round: pass, warn, unknown or block. A pass says only what was checked.",
        blocking=False,
    ),
]
