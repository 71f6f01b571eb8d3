"""The catalogue of tables for the README, generated from the contracts so that it cannot go stale.

What belongs here: turning contracts into Markdown. What does not: any text of its own.
"""

from __future__ import annotations

from typing import Final

from governance_pipeline.contracts.registry import REGISTRY, descriptions_of, grain_of, key_of, version_of

HEADER: Final = "| table | grain | columns | key | version |\n|---|---|---|---|---|\n"


def markdown() -> str:
    """Give the Markdown table of all tables, in pipeline order; one row per table."""
    return HEADER + "".join(_row(table) for table in REGISTRY)


def _row(table: str) -> str:
    grain = grain_of(table).replace("|", "\\|").rstrip(".")
    key = ", ".join(f"`{column}`" for column in key_of(table))
    return f"| `{table}` | {grain} | {len(descriptions_of(table))} | {key} | {version_of(table)} |\n"
