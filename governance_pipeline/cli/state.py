"""`govern state`: the state of a governed project, its history, and the inbox it follows.

What belongs here: arguments and printing. What does not: rules; they are in `framework.state`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.governed_project import AS_JSON, CONFIG, PROJECT, folder_of, ledger_of
from governance_pipeline.cli.signing import LAKE, answer, clock, open_trusted
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BY = click.option("--by", required=True, metavar="ID", help="Who changes it; it stands in the history.")
REASON = click.option("--reason", required=True, help="Why; it stands in the history.")


@click.group(epilog="Example: govern state set current_phase=load --by ana --reason 'requirements are agreed'")
def state() -> None:
    """Where a governed project stands: one file, changed in one step, every earlier state kept."""


@state.command(epilog="Example: govern state show --json")
@PROJECT
@AS_JSON
def show(project: Path | None, as_json: bool) -> None:
    """Show the state in force and the digest of its file."""
    from governance_pipeline.framework.state import read_state
    from governance_pipeline.framework.work_documents import state_document

    found = read_state(folder_of(project))
    answer(state_document(found), _lines(found.members, found.sha256), as_json=as_json)


@state.command("set", epilog="Example: govern state set current_phase=load error_count=0 --by ana --reason 'phase 2'")
@click.argument("changes", metavar="MEMBER=VALUE...", nargs=-1, required=True)
@BY
@REASON
@click.option("--based-on", metavar="SHA256", help="Refuse unless this is still the state in force.")
@PROJECT
@CONFIG
@AS_JSON
def set_members(
    changes: tuple[str, ...], by: str, reason: str, based_on: str | None, project: Path | None,
    config_path: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Change members of the state in one step; the state before is kept in its history."""
    from governance_pipeline.framework.state import StateKeeper, read_state, values_of
    from governance_pipeline.framework.work_documents import state_document

    folder = folder_of(project)
    wanted = values_of(changes, read_state(folder).members)
    changed = StateKeeper(folder, ledger=ledger_of(config_path)).change(wanted, by=by, reason=reason, based_on=based_on)
    answer(state_document(changed), _lines(changed.members, changed.sha256), as_json=as_json)


@state.command(epilog="\b\nExample: govern state history\nExit: 1 when a state came into force by another way")
@PROJECT
@AS_JSON
def history(project: Path | None, as_json: bool) -> int:
    """List earlier states, who replaced each and why, and what does not fit."""
    from governance_pipeline.framework.state import StateKeeper
    from governance_pipeline.framework.work_documents import history_document

    keeper = StateKeeper(folder_of(project))
    faults = keeper.faults()
    entries = [] if any(fault.code == "entry_unreadable" for fault in faults) else keeper.history()
    lines = [f"{e.seq:>6}  {e.replaced_at}  {e.replaced_by}: {e.reason}  {e.state_sha256[:16]}" for e in entries]
    lines += [f"{fault.code}: {fault.where}: {fault.message}" for fault in faults]
    answer(history_document(entries, faults), lines or ["the state was never changed"], as_json=as_json)
    return ExitCode.FINDINGS if faults else ExitCode.CLEAN


@state.command(epilog="\b\nExample: govern state follow --check\nExit: with --check 1 when something is not in step")
@click.option("--check", is_flag=True, help="Change nothing; say what is not in step.")
@PROJECT
@LAKE
@CONFIG
@AS_JSON
def follow(check: bool, project: Path | None, lake: Path, config_path: Path | None, as_json: bool) -> int:
    """Write signed decisions about the project into it, and bring the state in step with the inbox."""
    from governance_pipeline.framework.approval_files import approval_faults, follow_inbox, inbox_faults
    from governance_pipeline.framework.state import StateKeeper, read_state
    from governance_pipeline.framework.work_documents import state_document

    folder, now = folder_of(project), clock()
    verifier = open_trusted(config_path, lake, now)
    if not check:
        follow_inbox(folder, verifier, StateKeeper(folder, ledger=verifier.ledger), now)
    faults = inbox_faults(folder, verifier, now)
    faults += [f"{fault.code}: {fault.name}: {fault.message}" for fault in approval_faults(folder, verifier)]
    found = read_state(folder)
    answer(state_document(found, faults), [*_lines(found.members, found.sha256), *faults], as_json=as_json)
    return ExitCode.FINDINGS if faults else ExitCode.CLEAN


def _lines(members: Mapping[str, Any], sha256: str) -> list[str]:
    return [*(f"{name:<24} {'-' if value is None else value}" for name, value in members.items()), f"sha256 {sha256}"]
