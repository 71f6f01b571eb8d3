"""Options of every command about a governed project: which folder, and which ledger goes with it.

What belongs here: options and what they mean. What does not: commands.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.ledger.ledger import Ledger

PROJECT = click.option(
    "--project", type=click.Path(path_type=Path), envvar="GOVERN_PROJECT", metavar="DIR",
    help="The governed project; default: GOVERN_PROJECT, else the current folder if it is one.",
)  # fmt: skip
CONFIG = click.option(
    "--config", "config_path", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Configuration that names the ledger; default: gate.toml of this account, if there is one.",
)  # fmt: skip
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")


def folder_of(project: Path | None) -> GovernedFolder:
    """Open the governed project a command is about.

    Raises:
        UsageError: it is none.
    """
    from governance_pipeline.framework.folder import GovernedFolder

    return GovernedFolder(Path() if project is None else project)


def ledger_of(config_path: Path | None) -> Ledger | None:
    """Open the ledger the configuration names; None when this account has no configuration and none was named.

    Raises:
        UsageError: the configuration cannot be used.
    """
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.config import default_config_path, load_config

    if config_path is None and not default_config_path().exists():
        return None
    return Ledger(load_config(config_path).ledger)
