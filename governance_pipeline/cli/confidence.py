"""`govern confidence …`: how far each agent and each user can be trusted; it informs and never blocks.

What belongs here: the group. What does not: the commands, one module each (`confidence_<name>`).
"""

from __future__ import annotations

import click

from governance_pipeline.cli.confidence_replay import replay


@click.group(epilog="\b\nExample: govern confidence replay events.jsonl --json")
def confidence() -> None:
    """Scores of agents and users from events: replayable, explainable, and read by no gate."""


confidence.add_command(replay)
