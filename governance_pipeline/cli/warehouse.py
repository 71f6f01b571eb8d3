"""`govern warehouse rebuild|query`: the DuckDB views over the lake, for people and notebooks."""

from __future__ import annotations

import json
from pathlib import Path

import click

LAKE = click.option(
    "--lake", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path("lake"), show_default=True
)


@click.group()
def warehouse() -> None:
    """Views over the stored tables, in lake/governance.duckdb."""


@warehouse.command(epilog="Example: govern warehouse rebuild --lake data/out/lake")
@LAKE
def rebuild(lake: Path) -> None:
    """Write the views again: aside, then renamed, so that no reader is blocked."""
    from governance_pipeline.storage import warehouse as stored
    from governance_pipeline.storage.lake import Lake

    click.echo(str(stored.rebuild(Lake(lake))))


@warehouse.command(
    epilog='Example: govern warehouse query "select status, count(*) from audit_cross_checks group by 1"'
)
@click.argument("sql")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per row.")
@LAKE
def query(sql: str, as_json: bool, lake: Path) -> None:
    """Run one read-only SQL statement over the stored tables."""
    from governance_pipeline.report.audit_document import records
    from governance_pipeline.storage import warehouse as stored
    from governance_pipeline.storage.lake import Lake

    frame = stored.query(Lake(lake), sql)
    if as_json:
        for row in records(frame):
            click.echo(json.dumps(row, ensure_ascii=False, default=str))
    else:
        click.echo(frame.to_string(index=False))
