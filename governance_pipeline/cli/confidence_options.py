"""What the commands on stored confidence events have alike: where they are, who is meant, how it is shown.

What belongs here: options and opening what they name. What does not: the commands, and any rule.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.confidence.wording import LANGUAGES
from governance_pipeline.report.json_text import json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from governance_pipeline.confidence.display import Style
    from governance_pipeline.confidence.rating import Rated
    from governance_pipeline.confidence.registry import Team
    from governance_pipeline.confidence.store import EventStore, Standing

FOLDER = click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path), default=Path("confidence"), show_default=True,
    envvar="GOVERN_CONFIDENCE", help="Where the confidence events are kept.",
)  # fmt: skip
LANG = click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language.")
NO_EMOJI = click.option("--no-emoji", "no_emoji", is_flag=True, help="Words only.")
AGENT = click.option("--agent", metavar="ID", help="The agent it is about; default: the only one registered.")
USER = click.option("--user", metavar="ID", help="The user it is about.")
RUNTIME = click.option("--runtime", metavar="P/M/T", help="platform/model/thinking; default: where the agent was last.")
SESSION = click.option("--session", default="cli", show_default=True, metavar="ID", help="Session it belongs to.")


def open_store(folder: Path) -> EventStore:
    """Open the stored events."""
    from governance_pipeline.confidence.store import EventStore

    return EventStore(folder)


def style_of(lang: str, no_emoji: bool) -> Style:
    """Give how to say it."""
    from governance_pipeline.confidence.display import Style

    return Style(lang, not no_emoji)


def rated_of(agent: str | None, user: str | None, runtime: str | None) -> Rated:
    """Give who is meant.

    Raises:
        click.UsageError: agent and user are both named.
    """
    from governance_pipeline.confidence.rating import Rated
    from governance_pipeline.confidence.terms import Role

    if agent is not None and user is not None:
        raise click.UsageError("--agent and --user name two subjects; an event is about one")
    if user is not None:
        return Rated(Role.USER, user, None)
    return Rated(Role.AGENT if agent is not None else None, agent, runtime)


def teams_of(standing: Standing) -> list[Team]:
    """Give the registered teams, by id."""
    return [team for _, team in sorted(standing.registry.teams.items())]


def say(document: dict[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
    """Print a document as JSON, or its lines; names in them are identifiers, and free text was escaped before."""
    if as_json:
        click.echo(json_text(document))
        return
    for line in lines:
        click.echo(line)


def with_options(*options: Any) -> Callable[[Any], Any]:
    """Give a decorator that adds options in the order of `--help`."""

    def _add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return _add
