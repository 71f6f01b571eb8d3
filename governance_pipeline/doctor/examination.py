"""The examination: every check asked, whatever becomes of the others, and the answer as a document.

What belongs here: the list of checks, one answer for all, and its exit code. What does not: any question.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.doctor.finding import Finding, Health, Patient
from governance_pipeline.doctor.ledger_checks import ledger_is_sound, messages_go_out, requests_move
from governance_pipeline.doctor.project_checks import locks_are_held
from governance_pipeline.doctor.rebaseline_checks import baseline_fits
from governance_pipeline.doctor.sensors import sensors_run
from governance_pipeline.doctor.storage_checks import disks_have_room
from governance_pipeline.doctor.trust_checks import gate_is_configured, trust_root_holds
from governance_pipeline.doctor.versions import versions_fit
from governance_pipeline.errors import GovernError
from governance_pipeline.gate.passage import open_verifier
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.storage.lake import Lake
from governance_pipeline.strict.excerpt import excerpt, mask_secrets
from governance_pipeline.trust.config import default_config_path, load_config
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.doctor.finding import Check
    from governance_pipeline.gate.passage import Verifier

SCHEMA: Final = "govern/doctor/v1"
FAIL_ON: Final = ("warn", "fail", "never")

CHECKS: Final[tuple[Check, ...]] = (
    versions_fit,
    disks_have_room,
    gate_is_configured,
    trust_root_holds,
    ledger_is_sound,
    sensors_run,
    requests_move,
    messages_go_out,
    locks_are_held,
    baseline_fits,
)
"""Every check, in the order a person would look: the ground first."""

_LOGGER = logging.getLogger(__name__)


def examine(
    lake: Path, now: datetime, *, config_path: Path | None = None, project: Path | None = None
) -> list[Finding]:
    """Ask every check.

    Args:
        lake: root of the stored tables.
        now: the time.
        config_path: configuration to use; None means that of the account.
        project: governed project; None where there is none.

    Returns:
        Findings in the order of the checks; one that could not be asked is unknown.
    """
    place = default_config_path() if config_path is None else config_path
    opened = Lake(lake)
    patient = Patient(place, config_path is not None, _verifier(place, opened, now), opened, project, now)
    return [finding for check in CHECKS for finding in _asked(check, patient)]


def doctor_document(findings: list[Finding], now: datetime) -> dict[str, Any]:
    """Give `govern/doctor/v1`: the worst health (off is none), how many of each, every finding."""
    worst = Health.OK
    for finding in findings:
        is_worse = finding.health is not Health.OFF and finding.health.is_worse(worst)
        worst = finding.health if is_worse else worst
    return {
        "schema": SCHEMA,
        "at": instant_text(now),
        "health": str(worst),
        "counts": {str(health): sum(f.health is health for f in findings) for health in Health},
        "findings": [{**finding._asdict(), "health": str(finding.health)} for finding in findings],
    }


def doctor_lines(document: dict[str, Any]) -> list[str]:
    """Give a line per finding, and what to do below what is not in order."""
    lines = []
    for finding in document["findings"]:
        lines.append(f"{finding['health']:<8} {finding['check']:<14} {finding['subject']}: {finding['message']}")
        if finding["remedy"] is not None and finding["health"] != Health.OK:
            lines.append(f"{'':<8} {'':<14} -> {finding['remedy']}")
    counts = ", ".join(f"{count} {health}" for health, count in document["counts"].items() if count)
    return [*lines, counts]


def exit_code(document: dict[str, Any], fail_on: str) -> int:
    """Give the exit code: 1 for findings at or above `fail_on`, else 3 where something could not be told, else 0."""
    counts = document["counts"]
    if fail_on == "never":
        return ExitCode.CLEAN
    if counts[Health.FAIL] or (fail_on == "warn" and counts[Health.WARN]):
        return ExitCode.FINDINGS
    return ExitCode.UNKNOWN if counts[Health.UNKNOWN] else ExitCode.CLEAN


def _verifier(place: Path, lake: Lake, now: datetime) -> Verifier | None:
    """Open what the configuration names; None where it cannot be, which its own checks say."""
    try:
        config = load_config(place)
        return open_verifier(config, Ledger(config.ledger), lake, now)
    except GovernError:
        return None


def _asked(check: Check, patient: Patient) -> Iterator[Finding]:
    name = check.__name__
    try:
        yield from check(patient)
    except (GovernError, OSError) as error:
        yield Finding(name, Health.UNKNOWN, "-", excerpt(mask_secrets(str(error)), 500))
    except Exception as error:
        _LOGGER.exception("check %s failed", name)
        yield Finding(name, Health.UNKNOWN, "-", f"it failed with {type(error).__name__}; the log says more")
