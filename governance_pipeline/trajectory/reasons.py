"""Why a term, E or AUS is unknown: stable codes, the ones of spec/trajectory.md §9.

What belongs here: the closed lists. What does not: which reason applies when (`terms`, `evidence`, `accumulated`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from governance_pipeline.vocabulary import ContractState


class Reason(StrEnum):
    """Why one of F L M P D H E is null."""

    STEP_REPEATED = "step_repeated"
    NOT_GIVEN = "not_given"
    CHURN_UNKNOWN = "churn_unknown"
    NO_PUBLIC = "no_public"
    NO_SCOPE = "no_scope"
    FILES_NOT_LISTED = "files_not_listed"
    NO_CONTRACT = "no_contract"
    CONTRACT_INVALID = "contract_invalid"
    EVIDENCE_QUARANTINED = "evidence_quarantined"


class AusReason(StrEnum):
    """Why AUS of a round is null; the first that holds, in this order."""

    NO_STEPS = "no_steps"
    CHANGES_QUARANTINED = "changes_quarantined"
    STEP_GAP = "step_gap"
    S_UNKNOWN = "s_unknown"


class GrowthReason(StrEnum):
    """Why a peak or the growth without evidence is null where no step is missing."""

    S_UNKNOWN = "s_unknown"
    H_UNKNOWN = "h_unknown"
    E_UNKNOWN = "e_unknown"


WITHOUT_CONTRACT: Final = {
    ContractState.VALID: None,
    ContractState.ABSENT: Reason.NO_CONTRACT,
    ContractState.INVALID: Reason.CONTRACT_INVALID,
}
"""State of a round contract -> why what it would say is unknown."""

IN_WORDS: Final = {
    Reason.STEP_REPEATED: "several events with different content have this step, and none of them is chosen",
    Reason.NOT_GIVEN: "the event carries neither this number nor files",
    Reason.CHURN_UNKNOWN: "the lines added or deleted of a file are unknown",
    Reason.NO_PUBLIC: "the contract declares no public boundary",
    Reason.NO_SCOPE: "the contract declares no scope",
    Reason.FILES_NOT_LISTED: "the event lists no files",
    Reason.NO_CONTRACT: "the round has no contract",
    Reason.CONTRACT_INVALID: "the round contract is invalid",
    Reason.EVIDENCE_QUARANTINED: "a line of evidence.jsonl could not be used",
    AusReason.NO_STEPS: "the round has no step",
    AusReason.CHANGES_QUARANTINED: "a line of changes.jsonl could not be used",
    AusReason.STEP_GAP: "a step is missing",
    AusReason.S_UNKNOWN: "S of a step is unknown",
}
"""Each reason as the end of a sentence."""
