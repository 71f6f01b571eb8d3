"""What an import did not bring in, said on stderr: every file by name, with its reason.

What belongs here: printing. What does not: deciding it (ingest.importing).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

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
