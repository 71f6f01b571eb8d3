"""What an import did not bring in: said on stderr, every file by name with its reason, and by the exit code.

What belongs here: printing, and the code. What does not: deciding what is left out (ingest.planning, .importing).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from governance_pipeline.ingest.importing import Imported


def warn_of_what_is_not_there(results: Iterable[Imported]) -> None:
    """Name every file that was left out or not imported."""
    from governance_pipeline.strict.excerpt import escape_unprintable

    for result in results:
        for path, reason in result.left_out:
            click.echo(f"left out: {escape_unprintable(f'{result.round_id}/{path}')}: {reason}", err=True)
        for conflict in result.conflicts:
            name = escape_unprintable(f"{result.round_id}/{conflict.path}")
            click.echo(f"not imported: {name}: {conflict.message}", err=True)


def import_exit_code(results: Iterable[Imported]) -> int:
    """Give 2 where other bytes have the place of a file, 3 where a file cannot be read, else 0 (design §7)."""
    from governance_pipeline.ingest.planning import DUPLICATE_FILE, OTHER_FORMAT

    results = list(results)
    if any(result.conflicts for result in results):
        return ExitCode.USAGE
    reasons = {reason for result in results for _, reason in result.left_out}
    return ExitCode.UNKNOWN if reasons - {DUPLICATE_FILE, OTHER_FORMAT} else ExitCode.CLEAN
