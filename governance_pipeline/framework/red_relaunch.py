"""The relaunch of a red process after an interruption: an action of the critical list, asked about and used once.

What belongs here: the question for exactly this interruption. What does not: what an interruption is (`red_processes`),
the critical list and the answer (`authorize`). The scope that is signed names the record of what happened by its
digest, so an approval for one interruption is none for the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.framework.authorize import Question, Verdict, authorize
from governance_pipeline.framework.red_processes import Interruption, RedCode
from governance_pipeline.framework.refusal import FrameworkRefused

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.gate.passage import Verifier

ACTION: Final = "relaunch_red_process"
"""Name of the action in the critical list."""


def relaunch_question(interruption: Interruption, agent: str, run_id: str | None = None) -> Question:
    """Give the question whether a process may be launched again after exactly this interruption.

    Args:
        interruption: what happened.
        agent: who wants to launch it.
        run_id: the launch that uses the approval; None only asks whether there is one.
    """
    ended = interruption.reason or "killed"
    why = f"run {interruption.run_id}, started {interruption.started_at}, ended without a plan: {ended}"
    scope = f"{interruption.process} after record {interruption.record_sha256}"
    return Question(ACTION, agent, scope, why=why, asks=True, run_id=run_id)


def relaunch_approved(
    folder: GovernedFolder, verifier: Verifier, interruption: Interruption, agent: str, run_id: str, now: datetime
) -> None:
    """Use the approval of a relaunch for one launch; where nobody was asked, ask.

    Raises:
        FrameworkRefused: RELAUNCH_NEEDS_APPROVAL with the command that approves it, or the code of what no approval
            takes away, such as FROZEN.
        StorageError: the ledger or the lake could not be written.
    """
    answer = authorize(relaunch_question(interruption, agent, run_id), folder, verifier, now)
    if answer.verdict is Verdict.ALLOWED:
        return
    code = answer.code if answer.verdict is Verdict.REFUSED and answer.code else str(RedCode.RELAUNCH)
    raise FrameworkRefused(
        code, f"red process {interruption.process}: {answer.reason}; then run the same command again"
    )
