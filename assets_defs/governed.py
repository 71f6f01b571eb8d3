"""What the assets of the governed folder work with: the folder itself, if one is named.

What belongs here: finding it. What does not: what is in it (governance_pipeline.framework).
"""

import os

import dagster as dg

from assets_defs.resources import PROJECT_ROOT
from governance_pipeline.framework.folder import GovernedFolder

FOLDER_VARIABLE = "GOVERN_PROJECT"
NO_FOLDER = f"no governed folder is named in {FOLDER_VARIABLE}; make one with `govern init DIR`"


class Project:
    """Finds the governed folder each time it is asked: it may be made while the code location runs."""

    def folder(self) -> GovernedFolder | None:
        """Open the folder the environment names; None when it names none.

        Raises:
            UsageError: what it names is no governed folder.
        """
        named = os.environ.get(FOLDER_VARIABLE)
        return GovernedFolder(PROJECT_ROOT / named) if named else None


project = dg.ResourceDefinition(
    resource_fn=lambda _: Project(),
    description=f"The governed folder, from {FOLDER_VARIABLE}; takes no run configuration.",
)
