"""Entry point of `govern`: finds the command group, and turns errors into exit codes.

Groups are imported only when they are called: `govern --help` must not pay for pandas.
"""

from __future__ import annotations

import importlib
import io
import os
import re
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from governance_pipeline.errors import FaultyFileError, GovernError
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: dict[str, tuple[str, str]] = {
    "audit": ("governance_pipeline.cli.audit", "Audit logs: which declared numbers are false; nothing to set up."),
    "authorize": ("governance_pipeline.cli.authorize", "May this agent do this now, and by which rule."),
    "audit-trail": (
        "governance_pipeline.cli.audit_trail",
        "The audit trail of a governed project: which hashes hold.",
    ),
    "classification": (
        "governance_pipeline.cli.classification",
        "Classification rules, validated on audited samples.",
    ),
    "confidence": (
        "governance_pipeline.cli.confidence",
        "How far agents and users can be trusted; it never blocks.",
    ),
    "crosscheck": ("governance_pipeline.cli.crosscheck", "Compare declared with computed numbers in your own files."),
    "doctor": ("governance_pipeline.cli.doctor", "Is everything in order: sensors, gate, record, disks, versions."),
    "features": ("governance_pipeline.cli.features", "How far each step of a round spread, and how much it proved."),
    "framework": ("governance_pipeline.cli.framework", "What of a project's rules is enforced; set-up scripts."),
    "gate": ("governance_pipeline.cli.gate", "Approve, reject and look at what waits for a person."),
    "incident": (
        "governance_pipeline.cli.incident",
        "Incidents of a governed project, in ledger and log alike.",
    ),
    "init": ("governance_pipeline.cli.init", "Lay out a governed project folder, or add what one lacks."),
    "ledger": ("governance_pipeline.cli.ledger", "Was the record of decisions touched, and everything in it."),
    "lock": ("governance_pipeline.cli.lock", "One holder at a time for what processes of a governed project share."),
    "rebaseline": (
        "governance_pipeline.cli.rebaseline",
        "Change the baseline of a governed project, step by step.",
    ),
    "registry": (
        "governance_pipeline.cli.registry",
        "Which file of a governed project counts; it changes only when approved.",
    ),
    "red": ("governance_pipeline.cli.red", "Long processes: lock, checkpoint and a measured limit, or no start."),
    "rounds": ("governance_pipeline.cli.rounds", "Import rounds of agent work, list and verify them."),
    "stage": ("governance_pipeline.cli.stage", "Marks between stages of a run, measured again before the next."),
    "state": ("governance_pipeline.cli.state", "Where a governed project stands, and every earlier state."),
    "trust": ("governance_pipeline.cli.trust", "Who may sign: make the trust root, add principals, look at it."),
    "verdict": ("governance_pipeline.cli.verdict", "Verdicts of rounds: what they add up to, and why."),
    "verify-layout": ("governance_pipeline.cli.verify_layout", "Look whether a project folder is as it was laid out."),
    "warehouse": ("governance_pipeline.cli.warehouse", "Rebuild the DuckDB views over the lake, or query them."),
}

SECTIONS: dict[str, tuple[str, ...]] = {
    "Audit what agents report": ("audit", "crosscheck", "rounds", "features", "verdict", "warehouse", "confidence"),
    "Decide": ("gate", "trust", "ledger", "doctor"),
    "Govern a project folder": (
        "init", "verify-layout", "framework", "authorize", "registry", "lock", "state", "stage", "red", "incident",
        "audit-trail", "classification", "rebaseline",
    ),
}  # fmt: skip
"""Heading of the help -> the commands below it; each stands below one of them, as a test shows."""

_PRINTERS = frozenset({"click", "rich"})
"""Packages that write to stdout for us."""

EXIT_CODES = """\b
Example: govern audit ~/.claude/projects

\b
Exit codes, the same for every command:
  0  clean
  1  findings at or above --fail-on
  2  usage or configuration error
  3  could not analyze, or unknown
  4  refused by a gate
"""


_SURROGATE = re.compile("[\ud800-\udfff]+")
"""What Python makes of bytes of the command line, or of a file's name, that are not UTF-8."""
_AROUND = 30


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the command names, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Import and return one command; None when there is no such name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """Write the command list without importing any command."""
        for heading, names in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, COMMANDS[name][1]) for name in names])


@click.group(cls=LazyGroup, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="governance-pipeline", prog_name="govern")
def govern() -> None:
    """Audit the work of AI agents: recompute every number their logs declare."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; never raises."""
    try:
        given = None if arguments is None else list(arguments)
        result = govern.main(args=given, prog_name="govern", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except SystemExit:  # click's answer to a reader that closed the pipe; its exit code 1 would look like a finding
        return ExitCode.UNKNOWN
    except Exception as error:  # noqa: BLE001 - a crash of ours must not look like a finding (exit 1)
        return _reported(error)
    return result if isinstance(result, int) else ExitCode.CLEAN


def _reported(error: Exception) -> int:
    """Say on stderr what went wrong, and return the exit code of that kind of error."""
    if isinstance(error, click.ClickException):
        usage = io.StringIO()
        error.show(usage)
        _say(usage.getvalue().rstrip())
        return ExitCode.USAGE
    if isinstance(error, click.Abort):
        _say("stopped")
        return ExitCode.UNKNOWN
    if isinstance(error, FaultyFileError):
        _say(f"{error.path} is refused:")
        for fault in error.faults:
            _say(f"  {fault.words}")
        return error.exit_code
    if isinstance(error, GovernError):
        _say(f"govern: {error}")
        return error.exit_code
    return _reported_unforeseen(error)


def _reported_unforeseen(error: Exception) -> int:
    """Say what the system or Python refused: one message where it names a place or a text, else the whole traceback."""
    if isinstance(error, UnicodeEncodeError) and (wrong := _SURROGATE.search(error.object)):
        around = error.object[max(wrong.start() - _AROUND, 0) : wrong.end() + _AROUND]
        _say(f"govern: {around!r} is no UTF-8 text and cannot be recorded; write it, or the file's name, in UTF-8")
        return ExitCode.USAGE
    if isinstance(error, OSError) and _was_printing(error):
        _say_lost(error)
    elif isinstance(error, OSError) and error.filename is not None:
        places = " and ".join(str(place) for place in (error.filename, error.filename2) if place is not None)
        _say(f"govern: {places}: {error.strerror}; look at what is there, its rights and the disk, then run it again")
    else:
        _say("".join(traceback.format_exception(error)).rstrip())
    return ExitCode.UNKNOWN


def _was_printing(error: OSError) -> bool:
    """Tell whether an error of the system came up while something was printed (a full disk, say)."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return frames[-1].f_globals.get("__name__", "").partition(".")[0] in _PRINTERS


def _say_lost(error: OSError) -> None:
    _say(f"govern: the answer is not complete, stdout cannot be written: {error.strerror}; send it somewhere else")


def _say(text: str) -> None:
    """Write lines to stderr; a message may quote a log or a file name, so nothing in it is obeyed or given away."""
    from governance_pipeline.strict.excerpt import escape_unprintable, mask_secrets

    with suppress(OSError):  # nobody can be told
        click.echo("\n".join(escape_unprintable(line) for line in mask_secrets(text).split("\n")), err=True)


def main() -> None:
    """Console script: `run`, and what Python still holds back is written before the exit code is decided."""
    code = run()
    if sys.stdout is None:  # closed by whoever started us: nothing was said
        sys.exit(code or ExitCode.UNKNOWN)
    try:
        sys.stdout.flush()
    except OSError as error:  # the reader is gone or the disk full; what Python holds back still goes nowhere
        if not isinstance(error, BrokenPipeError) and code != ExitCode.UNKNOWN:
            _say_lost(error)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or ExitCode.UNKNOWN
    sys.exit(code)
