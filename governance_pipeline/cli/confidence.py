"""`govern confidence …`: how far each agent and each user can be trusted; it informs and never blocks.

What belongs here: the group. What does not: the commands, one module each (`confidence_<name>`).
"""

from __future__ import annotations

import click

from governance_pipeline.cli.confidence_diagnose import diagnose
from governance_pipeline.cli.confidence_export import export, params
from governance_pipeline.cli.confidence_history import history
from governance_pipeline.cli.confidence_hub import hub
from governance_pipeline.cli.confidence_import import derive, import_
from governance_pipeline.cli.confidence_init import init, register
from governance_pipeline.cli.confidence_lessons import lessons, trigger
from governance_pipeline.cli.confidence_rate import bonus, rate
from governance_pipeline.cli.confidence_replay import replay
from governance_pipeline.cli.confidence_seal import seal, verify
from governance_pipeline.cli.confidence_show import brief, check, explain, pool, recovery, status, team


@click.group(epilog="\b\nExample: govern confidence status")
def confidence() -> None:
    """Scores of agents and users from events: replayable, explainable, and read by no gate."""


for _command in (
    bonus,
    brief,
    check,
    derive,
    diagnose,
    explain,
    export,
    history,
    hub,
    import_,
    init,
    lessons,
    params,
    pool,
    rate,
    recovery,
    register,
    replay,
    seal,
    status,
    team,
    trigger,
    verify,
):
    confidence.add_command(_command)
