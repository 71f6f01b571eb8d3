"""`govern warehouse rebuild|query`: the DuckDB views over the lake, for people and notebooks.

What belongs here: arguments and printing. What does not: SQL (storage.warehouse) and how rows look (report.query_rows).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from governance_pipeline.cli.waiting import waiting

REBUILD_SCHEMA: Final = "govern/warehouse-rebuild/v1"

LAKE = click.option(
    "--lake",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path("lake"),
    show_default=True,
    envvar="GOVERN_LAKE",
    help="Root folder of the lake.",
)


@click.group(epilog="Example: govern warehouse rebuild --lake data/out/lake")
def warehouse() -> None:
    """Views over the stored tables, in lake/governance.duckdb."""


@warehouse.command(epilog="Example: govern warehouse rebuild --lake data/out/lake")
@click.option("--json", "as_json", is_flag=True, help="Print a govern/warehouse-rebuild/v1 document.")
@LAKE
def rebuild(as_json: bool, lake: Path) -> None:
    """Write the views again: aside, then renamed, so that no reader is blocked."""
    from governance_pipeline.contracts.registry import REGISTRY
    from governance_pipeline.report.json_text import json_text
    from governance_pipeline.storage import warehouse as stored
    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.strict.excerpt import escape_unprintable

    with waiting("writing views…", quiet=as_json):
        path = str(stored.rebuild(Lake(lake)))
    if as_json:
        click.echo(json_text({"schema": REBUILD_SCHEMA, "path": path, "views": list(REGISTRY)}))
    else:
        click.echo(escape_unprintable(path))


@warehouse.command(
    epilog='Example: govern warehouse query "select status, count(*) from audit_cross_checks group by 1"'
)
@click.argument("sql")
@click.option("--json", "as_json", is_flag=True, help="Print a govern/warehouse-query/v1 document.")
@LAKE
def query(sql: str, as_json: bool, lake: Path) -> None:
    """Run one read-only SQL statement over the stored tables."""
    from governance_pipeline.report.json_text import json_text
    from governance_pipeline.report.query_rows import query_document, query_page
    from governance_pipeline.storage import warehouse as stored
    from governance_pipeline.storage.lake import Lake

    with waiting("running the query…", quiet=as_json):
        frame = stored.query(Lake(lake), sql)
    click.echo(json_text(query_document(frame)) if as_json else query_page(frame))
