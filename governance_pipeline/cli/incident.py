"""`govern incident`: what went wrong, in ledger and incident log alike.

What belongs here: arguments and printing. What does not: rules; they are in `framework.incidents` and
`framework.incident_duties`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.governed_project import AS_JSON, CONFIG, PROJECT, folder_of
from governance_pipeline.cli.signing import LAKE, answer, clock
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.root import TrustRoot

SCHEMA = "govern/incidents/v1"
IN_STEP = "in_step"


@click.group(
    epilog="\b\nExample: govern incident list\n"
    "Exit: 0, 1 ledger and log differ or a row is missing (check), 2 wrong argument, 3 unreadable, 4 recorded before"
)
def incident() -> None:
    """Incidents of a governed project: recorded once, shown in the log, and held together."""


@incident.command(
    epilog="Example: govern incident add --incident 'totals were false' --cause 'no check' --lesson 'a check'"
)
@click.option("--date", metavar="DATE", help="Day, in UTC (2026-12-31); default: today.")
@click.option("--incident", "what", metavar="TEXT", help="What happened.")
@click.option("--cause", metavar="TEXT", help="Root cause.")
@click.option("--lesson", metavar="TEXT", help="What was done, or learned.")
@click.option("--about", "reference", metavar="ITEM", help="Item it is about, as `check` names it.")
@click.option(
    "--by", default="operator", show_default=True, metavar="NAME", help="Who records it; shown, not believed."
)
@click.option("--from-log", is_flag=True, help="Record the rows that only the log has, as they stand there.")
@PROJECT
@CONFIG
@AS_JSON
def add(
    date: str | None, what: str | None, cause: str | None, lesson: str | None, reference: str | None, by: str,
    from_log: bool, project: Path | None, config_path: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Record an incident in the ledger and write its row into the incident log."""
    from governance_pipeline.framework.incident_duties import about
    from governance_pipeline.framework.incident_log import IncidentRow
    from governance_pipeline.framework.incidents import add_incident, adopt_rows, keep_log_in_step

    folder, (ledger, _) = folder_of(project), opened_ledger(config_path)
    if from_log:
        if what or cause or lesson or reference:
            raise click.UsageError("--from-log takes the rows as they are; give nothing else")
        adopt_rows(folder, ledger, by, clock())
        keep_log_in_step(folder, ledger)
    else:
        if not (what and cause and lesson):
            raise click.UsageError("an incident needs --incident, --cause and --lesson")
        said = what if reference is None else f"{what} {about(reference)}"
        row = IncidentRow(date or f"{clock():%Y-%m-%d}", said, cause, lesson)
        add_incident(folder, ledger, row, by, clock(), reference)
    _answer(project, config_path, None, as_json=as_json)


@incident.command("list", epilog="Example: govern incident list --json")
@PROJECT
@CONFIG
@AS_JSON
def list_incidents(project: Path | None, config_path: Path | None, as_json: bool) -> None:
    """List every incident, and how ledger and log stand to each other."""
    _answer(project, config_path, None, as_json=as_json)


@incident.command(epilog="Example: govern incident check --lake data/out/lake")
@PROJECT
@LAKE
@CONFIG
@AS_JSON
def check(project: Path | None, lake: Path, config_path: Path | None, as_json: bool) -> int:
    """Check that ledger and log say the same, and that each unverified item that turned out wrong has a row."""
    document = _answer(project, config_path, lake, as_json=as_json)
    return ExitCode.CLEAN if all(each["state"] == IN_STEP for each in document["incidents"]) else ExitCode.FINDINGS


def opened_ledger(config_path: Path | None) -> tuple[Ledger, TrustRoot]:
    """Open the ledger a configuration names, and the trust root that is in force."""
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.ledger.trusted_root import trusted_root
    from governance_pipeline.trust.config import load_config

    config = load_config(config_path)
    ledger = Ledger(config.ledger)
    return ledger, trusted_root(config, ledger, clock())


def _answer(
    project: Path | None, config_path: Path | None, lake: Path | None, *, as_json: bool
) -> Mapping[str, Any]:  # fmt: skip
    from governance_pipeline.framework.incident_duties import duties, incident_rows, missing_rows
    from governance_pipeline.framework.incidents import standings
    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.trust.instants import instant_text

    folder, (ledger, root) = folder_of(project), opened_ledger(config_path)
    known = standings(folder, ledger)
    missing = [] if lake is None else missing_rows(duties(folder, ledger, root, clock(), Lake(lake)), known)
    names = (
        "item",
        "state",
        "date",
        "incident",
        "root_cause",
        "resolution",
        "reference",
        "ledger_seq",
        "recorded_by",
        "line",
    )
    entries = [
        {**{name: row.get(name) for name in names}, "recorded_at": _at(row.get("recorded_at"), instant_text)}
        for row in incident_rows(known, missing)
    ]
    document = {"schema": SCHEMA, "is_whole_check": lake is not None, "incidents": entries}
    answer(document, _lines(entries), as_json=as_json)
    return document


def _at(value: Any, write: Any) -> str | None:
    return None if value is None else str(write(value))


def _lines(entries: list[dict[str, Any]]) -> Iterable[str]:
    for each in entries:
        yield f"{each['state']}: {each['date'] or '-'} {each['incident']} ({each['item']})"
    if not entries:
        yield "none"
