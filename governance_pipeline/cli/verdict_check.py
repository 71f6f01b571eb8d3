"""`govern verdict check`: run detectors again, on the stored inputs or on a bundle from another machine.

What belongs here: arguments and printing. What does not: rules; they are in `verdict.again` and `verdict.bundle`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from governance_pipeline.cli.verdict_inputs import (
    AS_JSON,
    CONFIG,
    LAKE,
    LANDING,
    Said,
    answer,
    inputs_of_finding,
    inputs_of_round,
    said_of,
    shown,
    trust_of,
    verdict_document,
)
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    import pandas as pd

    from governance_pipeline.cli.verdict_inputs import Tables
    from governance_pipeline.verdict.policy_document import Policy

FAIL_ON = click.option(
    "--fail-on", type=click.Choice(["warn", "block", "never"]), default="block", show_default=True,
    help="From what on the exit code is 1; never turns every verdict into 0.",
)  # fmt: skip

_FINDING = re.compile(r"[0-9a-f]{8,64}")


class _Places(NamedTuple):
    """What the options name."""

    folder: Path | None
    lake: Path
    landing: Path
    config_path: Path | None
    bundle: Path | None


class _Inputs(NamedTuple):
    """What the detectors are run on: tables, policy, what people signed, and stored findings (None: none are)."""

    tables: Tables
    policy: Policy
    said: Said
    stored: pd.DataFrame | None = None


@click.command(
    epilog="\b\nExample: govern verdict check --finding 1f3a90c4d2b7\n"
    "         govern verdict check --finding 1f3a90c4d2b7 --bundle finding.zip\n"
    "Exit, as the finding or the verdict says: block 1, unknown 3, else 0; 3 when a stored finding is not found again"
)
@click.option("--finding", metavar="ID", help="Run the detectors again and look for this finding; 8 digits are enough.")
@click.option("--round", "round_", metavar="ROUND", help="Make the whole verdict of a round again.")
@click.option(
    "--folder", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Look for the finding in this round folder instead of the lake.",
)  # fmt: skip
@click.option(
    "--bundle", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="A file that is there is read instead of lake and landing folder; one that is not is written, for another "
    "machine: the inputs of the round and the policy.",
)  # fmt: skip
@LAKE
@LANDING
@CONFIG
@FAIL_ON
@AS_JSON
def check(
    finding: str | None, round_: str | None, folder: Path | None, bundle: Path | None, lake: Path, landing: Path,
    config_path: Path | None, fail_on: str, as_json: bool,
) -> int:  # fmt: skip
    """Run detectors again on the stored inputs of a finding, or of a whole round."""
    if (finding is None) == (round_ is None):
        raise click.UsageError("give either --finding or --round")
    if finding is not None and not _FINDING.fullmatch(finding):
        raise click.UsageError(f"{shown(finding)!r} is no finding id; give 8 to 64 hex digits of one")
    places = _Places(folder, lake, landing, config_path, bundle)
    if finding is not None:
        return _check_finding(finding, places, fail_on, as_json=as_json)
    return _check_round(str(round_), places, fail_on, as_json=as_json)


def _check_finding(finding: str, places: _Places, fail_on: str, *, as_json: bool) -> int:
    from governance_pipeline.verdict.again import look_again
    from governance_pipeline.verdict.decision_table import exit_code, status_of
    from governance_pipeline.verdict.page import finding_page
    from governance_pipeline.verdict.signals import Decision

    inputs = _bundled(places) or _inputs_of_finding(finding, places)
    again = look_again(finding, inputs.tables, inputs.policy, inputs.stored, *inputs.said[:2])
    _write_bundle(places, again.round_id, inputs)
    page = finding_page(again.round_id, again.entry, is_reproduced=again.is_reproduced)
    answer(again.document(), as_json, page)
    if not again.is_reproduced:
        return ExitCode.UNKNOWN
    return exit_code(status_of([Decision(again.entry["decision"])]), fail_on)


def _check_round(round_: str, places: _Places, fail_on: str, *, as_json: bool) -> int:
    from governance_pipeline.verdict.decision_table import exit_code
    from governance_pipeline.verdict.page import verdict_page
    from governance_pipeline.verdict.policy_document import shipped_policy
    from governance_pipeline.verdict.signals import Status

    round_id, inputs = round_, _bundled(places)
    if inputs is None:
        round_id, tables = inputs_of_round(round_, places.lake, places.landing)
        inputs = _Inputs(tables, shipped_policy(), said_of(trust_of(places.config_path)))
    elif round_ not in set(inputs.tables["core_rounds"]["round_id"]):
        raise click.UsageError(f"the bundle holds no round {shown(round_)!r}")
    document = verdict_document(round_id, inputs.tables, inputs.policy, inputs.said)
    _write_bundle(places, round_id, inputs)
    answer(document, as_json, verdict_page(document))
    return exit_code(Status(document["status"]), fail_on)


def _inputs_of_finding(finding: str, places: _Places) -> _Inputs:
    from governance_pipeline.verdict.policy_document import shipped_policy

    stored, tables = inputs_of_finding(finding, places.folder, places.lake, places.landing)
    return _Inputs(tables, shipped_policy(), said_of(trust_of(places.config_path)), stored)


def _bundled(places: _Places) -> _Inputs | None:
    """What the bundle holds; None where there is none to read."""
    from governance_pipeline.verdict.bundle import read_bundle
    from governance_pipeline.verdict.dismissals import NOTHING

    if places.bundle is None or not places.bundle.exists():
        return None
    read = read_bundle(places.bundle)
    click.echo(
        f"read from {shown(str(places.bundle))}, under its policy {shown(read.policy.version)}; it holds no dismissals",
        err=True,
    )
    return _Inputs(read.tables, read.policy, Said(NOTHING, read.calibrations, ()))


def _write_bundle(places: _Places, round_id: str, inputs: _Inputs) -> None:
    from importlib.metadata import version

    from governance_pipeline.errors import StorageError, UsageError
    from governance_pipeline.storage.atomic import AtomicWriter
    from governance_pipeline.verdict.bundle import bundle_bytes
    from governance_pipeline.verdict.policy_document import shipped_policy_bytes

    path = places.bundle
    if path is None or path.exists():
        return
    policy = json.loads(shipped_policy_bytes())
    data = bundle_bytes(round_id, inputs.tables, policy, version("governance-pipeline"), inputs.said.plans)
    try:
        AtomicWriter(path.parent).write(path, data, mode=0o644)
    except StorageError as error:
        raise UsageError(f"--bundle: {error}; or choose another path") from None
    click.echo(f"written: {shown(str(path))}, {len(data)} bytes", err=True)
