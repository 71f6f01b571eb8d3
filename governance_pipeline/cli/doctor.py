"""`govern doctor`: is everything in order.

What belongs here: arguments and printing. What does not: any question; they are in `doctor`.
"""

from __future__ import annotations

from pathlib import Path

import click

from governance_pipeline.cli.governed_project import PROJECT
from governance_pipeline.cli.signing import AS_JSON, AT, CONFIG, LAKE, answer, instant


@click.command(
    epilog="\b\nExample: govern doctor --json\n"
    "Exit: 0 in order, 1 findings at or above --fail-on, 3 something could not be told"
)
@LAKE
@CONFIG
@PROJECT
@click.option(
    "--fail-on", type=click.Choice(["warn", "fail", "never"]), default="fail", show_default=True,
    help="From which finding on the exit code is 1.",
)  # fmt: skip
@AT
@AS_JSON
def doctor(
    lake: Path, config_path: Path | None, project: Path | None, fail_on: str, at: str | None, as_json: bool
) -> int:
    """Look whether sensors run, the gate can be used, the record is sound, and nothing waits unseen.

    It needs no Dagster and writes nothing: a sensor that does not run is told by its last heartbeat.
    """
    from governance_pipeline.doctor.examination import doctor_document, doctor_lines, examine, exit_code
    from governance_pipeline.framework.folder import STATE

    here = Path() if project is None and (Path() / STATE).is_file() else project
    now = instant(at)
    document = doctor_document(examine(lake, now, config_path=config_path, project=here), now)
    answer(document, doctor_lines(document), as_json=as_json)
    return exit_code(document, fail_on)
