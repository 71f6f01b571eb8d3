"""Options that the commands about a governed folder share.

What belongs here: the options and what they mean together. What does not: commands.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from governance_pipeline.framework.scaffold.plan import Plan

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
TEMPLATE = click.option(
    "--template", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Folder with your own wording, files named as in a governed project; what it lacks is the shipped one.",
)  # fmt: skip
LANGUAGE = click.option(
    "--lang",
    "language",
    type=click.Choice(("en", "es")),
    default="en",
    show_default=True,
    help="Language of the words.",
)
SKELETON = click.option(
    "--skeleton", is_flag=True, help="safety_checks.py with signatures and contracts only, which raise until filled in."
)


def plan_asked_for(language: str, *, is_skeleton: bool, template: Path | None) -> Plan:
    """Make the plan that the options name."""
    from governance_pipeline.framework.scaffold.plan import plan_of
    from governance_pipeline.framework.scaffold.signatures import Variant

    return plan_of(language, Variant.SKELETON if is_skeleton else Variant.LIBRARY, template)


def say_lines(lines: Iterable[str]) -> None:
    """Print lines that may name files somebody else made: nothing in them is obeyed by a terminal."""
    from governance_pipeline.strict.excerpt import escape_unprintable

    for line in lines:
        click.echo(escape_unprintable(line))
