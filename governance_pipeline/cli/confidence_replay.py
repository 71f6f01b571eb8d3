"""`govern confidence replay`: fold a file of events and print the scores.

What belongs here: arguments and printing. What does not: rules; they are in `confidence`.
"""

from __future__ import annotations

from pathlib import Path

import click

from governance_pipeline.vocabulary import ExitCode


@click.command(
    epilog="\b\nExample: govern confidence replay events.jsonl --json --summary\n"
    "Exit: 0, also with refused events; 2 for an unreadable file or a broken registry, nothing on stdout"
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one govern/confidence-replay/v1 document instead of text.")
@click.option("--summary", is_flag=True, help="Leave out the list of events and days.")
def replay(file: Path, as_json: bool, summary: bool) -> int:
    """Fold the events in FILE (JSON Lines) in order of time; the same events give the same bytes.

    The order of lines plays no part. Refused events change nothing and are listed with their reason.
    """
    from governance_pipeline.confidence.bulk.long_histories import fold_states
    from governance_pipeline.confidence.fold import fold
    from governance_pipeline.confidence.reading import read_lines
    from governance_pipeline.confidence.replay_document import replay_document
    from governance_pipeline.errors import UnreadableError, UsageError
    from governance_pipeline.strict.canonical import canonical_json

    try:
        lines = read_lines(file)
    except UnreadableError as error:  # the specification's exit code for this command
        raise UsageError(str(error)) from error
    folded = (fold_states if summary else fold)(lines.events, lines.registry)
    document = replay_document(lines, folded, is_summary=summary)
    refused = document["counts"]["refused"]
    if refused:
        click.echo(f"{refused} of {document['counts']['lines']} lines refused", err=True)
    if as_json:
        click.echo(canonical_json(document).decode())
        return ExitCode.CLEAN
    from rich.console import Console

    from governance_pipeline.confidence.replay_page import replay_page

    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(markup=False, highlight=False, emoji=False, width=160)
    console.print(replay_page(document))
    return ExitCode.CLEAN
