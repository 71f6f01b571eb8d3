"""`govern crosscheck list`: the built-in checks.

What belongs here: arguments and printing. What does not: the catalogue.
"""

from __future__ import annotations

import click


@click.command("list", epilog="Example: govern crosscheck list --of codex_rollout")
@click.option("--of", "format_name", metavar="FORMAT", help="Only checks of this log format (govern rounds formats).")
@click.option("--markdown", "is_markdown", is_flag=True, help="Print docs/checks.md, the page of all formats.")
@click.option("--json", "as_json", is_flag=True, help="Print the govern/crosscheck-list/v1 document.")
def list_checks(format_name: str | None, is_markdown: bool, as_json: bool) -> None:
    """List the built-in checks: what is declared, the parts it is recomputed from, and how sure its meaning is."""
    from governance_pipeline.cli.check_files import print_page
    from governance_pipeline.crosscheck.catalogue import catalogue
    from governance_pipeline.crosscheck.catalogue_page import list_document, markdown
    from governance_pipeline.crosscheck.page import list_page
    from governance_pipeline.crosscheck.report import json_text

    known = catalogue().versions
    if format_name is not None and format_name not in known:
        raise click.UsageError(f"no checks of {format_name!r}; there are some of {', '.join(sorted(known))}")
    if is_markdown:
        click.echo(markdown(), nl=False)
    elif as_json:
        click.echo(json_text(list_document(format_name)), nl=False)
    else:
        print_page(list_page(list_document(format_name)))
