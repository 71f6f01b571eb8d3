"""`govern verdict calibration`: what statistics were validated for, from a plan registered before the data exist.

What belongs here: arguments and printing. What does not: rules; they are in `gate.calibrating` and
`verdict.calibration_evaluation`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.signing import (
    AS_JSON,
    AT,
    CONFIG,
    KEY,
    LAKE,
    PASSPHRASE,
    answer,
    clock,
    instant,
    open_trusted,
    signer_of,
)
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping


@click.group(
    epilog="\b\nExample: govern verdict calibration list\n"
    "Exit: 0, 1 evaluated and the plan failed, 2 plan or labels refused, 4 it would not count"
)
def calibration() -> None:
    """Register the plan of a calibration, evaluate it once, list what came of each.

    Until its signal has a calibration in force a statistic is only recorded.
    """


@calibration.command(epilog="Example: govern verdict calibration register plan.json --key ana.pem")
@click.argument("plan", metavar="PLAN", type=click.Path(path_type=Path))
@KEY
@PASSPHRASE
@LAKE
@CONFIG
@AS_JSON
def register(
    plan: Path, key_path: Path, passphrase_file: Path | None, lake: Path, config_path: Path | None, as_json: bool
) -> None:
    """Sign and record PLAN (govern/calibration/v1). Only rounds that end after now can ever be evaluated by it."""
    from governance_pipeline.cli.verdict_inputs import bytes_of
    from governance_pipeline.gate.calibrating import register as record
    from governance_pipeline.trust.calibration_statement import plan_sha256
    from governance_pipeline.trust.instants import instant_text
    from governance_pipeline.verdict.calibration_evaluation import read_plan

    document = read_plan(bytes_of(plan))
    verifier = open_trusted(config_path, lake, clock())
    event = record(verifier, document, signer_of(key_path, passphrase_file), clock=clock)
    said = {
        "schema": "govern/calibration-registered/v1",
        "calibration_id": document["calibration_id"],
        "signal": document["signal"],
        "plan_sha256": plan_sha256(document),
        "registered_by": event.actor,
        "registered_at": instant_text(event.ts),
        "ledger_seq": event.seq,
    }
    lines = [f"registered as event {event.seq}; only rounds that end after {said['registered_at']} can be evaluated"]
    answer(said, lines, as_json=as_json)


@calibration.command(epilog="Example: govern verdict calibration evaluate surface-2026 labels.json --key ana.pem")
@click.argument("calibration_id", metavar="ID")
@click.argument("labels", metavar="LABELS", type=click.Path(path_type=Path))
@KEY
@PASSPHRASE
@LAKE
@CONFIG
@AS_JSON
def evaluate(
    calibration_id: str, labels: Path, key_path: Path, passphrase_file: Path | None, lake: Path,
    config_path: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Evaluate the plan ID on LABELS (govern/calibration-labels/v1), once. The result is kept also when it failed."""
    from governance_pipeline.cli.verdict_inputs import bytes_of
    from governance_pipeline.gate.calibrating import evaluate_once

    verifier = open_trusted(config_path, lake, clock())
    signer = signer_of(key_path, passphrase_file)
    result = evaluate_once(verifier, calibration_id, bytes_of(labels), signer, clock=clock).result
    answer(result, [_result_line(result)], as_json=as_json)
    return ExitCode.CLEAN if result["is_success"] else ExitCode.FINDINGS


@calibration.command("list", epilog="Example: govern verdict calibration list --json")
@LAKE
@CONFIG
@AT
@AS_JSON
def list_calibrations(lake: Path, config_path: Path | None, at: str | None, as_json: bool) -> None:
    """List every registered calibration, what it came to, and whether it is in force."""
    from governance_pipeline.gate.calibrating import list_document

    now = instant(at)
    document = list_document(open_trusted(config_path, lake, now), now)
    answer(document, [_line(entry) for entry in document["calibrations"]] or ["none"], as_json=as_json)


def _line(entry: Mapping[str, Any]) -> str:
    head = f"{entry['calibration_id']}: registered {entry['registered_at']} by {entry['registered_by']}"
    if not entry["counts"]:
        return f"{head}, does not count: its signature is none of an approver"
    plan = entry["plan"]
    head += f", {plan['signal']} by {plan['score']}, alpha {plan['alpha']['moderate']} and {plan['alpha']['extreme']}"
    if entry["result"] is None:
        return f"{head}, not evaluated"
    return f"{head}; {_result_line(entry['result'])}{', in force' if entry['is_in_force'] else ', not in force'}"


def _result_line(result: Mapping[str, Any]) -> str:
    said = "success" if result["is_success"] else f"failed ({result['reason']})"
    value, limit = result["value"] or "unknown", result["limit"] or "unknown"
    return (
        f"{said}: {result['measure']} {value} at the {result['level']} level, limit {limit} against {result['bound']}, "
        f"{result['known_rounds']} rounds, {result['unlabelled_rounds']} left unlabelled"
    )
