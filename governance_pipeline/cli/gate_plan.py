"""`govern gate plan-backfill`: which rounds could be published now.

What belongs here: arguments and printing. What does not: rules; they are in `gate.backfill_plan`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from governance_pipeline.cli.signing import AS_JSON, AT, CONFIG, LAKE, answer, instant, open_trusted

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    "plan-backfill",
    epilog="\b\nExample: govern gate plan-backfill --partitions\n"
    "Exit: 0, for something is only shown; every gated asset asks again when it runs",
)
@click.argument("rounds", metavar="[ROUND...]", nargs=-1)
@click.option("--gate", "gate_name", default="publish", show_default=True, help="The gate to pass.")
@click.option("--partitions", is_flag=True, help="Print only the open rounds, joined by commas, for `dg launch`.")
@LAKE
@CONFIG
@AT
@AS_JSON
def plan_backfill(
    rounds: tuple[str, ...],
    gate_name: str,
    partitions: bool,
    lake: Path,
    config_path: Path | None,
    at: str | None,
    as_json: bool,
) -> None:
    """Select the rounds a backfill may publish (all of the lake, or each ROUND), and list the rest with reasons."""
    from governance_pipeline.errors import UsageError
    from governance_pipeline.gate.backfill_plan import plan_document, plan_lines
    from governance_pipeline.gate.gates import GATES

    if gate_name not in GATES:
        raise UsageError(f"there is no gate {gate_name!r}; there is {', '.join(GATES)}")
    now = instant(at)
    verifier = open_trusted(config_path, lake, now)
    chosen = rounds or verifier.lake.rounds("verdict_rounds")
    document = plan_document(GATES[gate_name], chosen, verifier, now)
    lines = [",".join(document["open"])] if partitions else plan_lines(document)
    answer(document, lines, as_json=as_json)
