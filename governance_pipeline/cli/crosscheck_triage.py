"""`govern crosscheck triage`: is a request a cross-check, and can it be one.

What belongs here: arguments and printing. What does not: the rules; they are in `crosscheck.triage`.
"""

from __future__ import annotations

from pathlib import Path

import click

from governance_pipeline.vocabulary import ExitCode


@click.command(
    epilog="Example: govern crosscheck triage request.json\n\n"
    "Exit: 0 verify or not_applicable, 3 degrade_to_human, 4 refuse, 2 no request this command understands."
)
@click.argument("request", metavar="REQUEST.json", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the govern/crosscheck-triage-answer/v1 document.")
@click.pass_context
def triage(ctx: click.Context, request: Path, as_json: bool) -> None:
    """Answer a typed request: verify, degrade_to_human, not_applicable, or refuse.

    A request to overwrite a declared value, or to make the numbers agree in any other way, is refused.
    """
    from governance_pipeline.crosscheck.report import json_text
    from governance_pipeline.crosscheck.triage import BAD_REQUEST, EXIT_OF, read_request
    from governance_pipeline.crosscheck.triage import triage as answer_of
    from governance_pipeline.errors import UsageError

    try:
        found = answer_of(read_request(request))
    except UsageError as error:
        message = str(error).removeprefix(f"{BAD_REQUEST}: ")
        if as_json:
            fault = {"code": BAD_REQUEST, "line": None, "message": message}
            click.echo(json_text({"schema": "govern/crosscheck-errors/v1", "errors": [fault]}), nl=False)
        click.echo(f"{BAD_REQUEST}: {message}", err=True)
        ctx.exit(ExitCode.USAGE)
    click.echo(json_text(found.to_json()) if as_json else f"{found.answer}: {found.reason_code}", nl=not as_json)
    ctx.exit(EXIT_OF[found.answer])
