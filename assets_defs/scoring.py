"""What the confidence assets work with: mismatches people decided, files people imported, events people recorded.

What belongs here: reading these where they are, and what Dagster shows of scores. What does not: facts and scores
(governance_pipeline.confidence). Nothing here is read by an audit, a verdict or a gate.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from assets_defs.resources import PROJECT_ROOT, Gatekeeper
from governance_pipeline.confidence.importing import imported_files
from governance_pipeline.confidence.lake_tables import make_events
from governance_pipeline.gate.cases import Cases
from governance_pipeline.gate.confirmed import decided_mismatches
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.storage.lake import Lake, Stored

FOLDER_VARIABLE, FOLDER_DEFAULT = "GOVERN_CONFIDENCE", "confidence"
SHOWN_SCORES = 50


def confidence_folder() -> Path:
    """Return the folder of the recorded events; a relative path is taken from the project root."""
    return PROJECT_ROOT / os.environ.get(FOLDER_VARIABLE, FOLDER_DEFAULT)


class Facts:
    """Makes `confidence_events` of rounds, with what people decided where a gate is configured."""

    def __init__(self, keeper: Gatekeeper, lake: Lake) -> None:
        self.lake = lake
        self._keeper = keeper

    def make(self, tables: Sequence[str], round_ids: Sequence[str]) -> Mapping[str, Mapping[str, Stored]]:
        """Make and store the table.

        Raises:
            GovernError: a gate is configured and cannot be used, or a table of a round is missing or damaged.
        """
        if not self._keeper.is_configured():
            return {table: make_events(self.lake, round_ids) for table in tables}
        cases = Cases(self._keeper.verifier(self.lake), self._keeper.now())
        decided = decided_mismatches(cases.standings(round_ids))
        imported = imported_files(Ledger(self._keeper.config().ledger))
        return {table: make_events(self.lake, round_ids, decided, imported) for table in tables}


def shown_scores(scores: pd.DataFrame) -> dict[str, Any]:
    """Return the last score of each track and domain as numbers, which the UI draws over materializations."""
    last = scores.drop_duplicates(["role", "subject_id", "runtime", "domain"], keep="last").head(SHOWN_SCORES)
    columns = (last[name] for name in ("role", "subject_id", "runtime", "domain", "score"))
    return {
        f"{role} {subject} {domain}" + ("" if pd.isna(runtime) else f" {runtime}"): dg.MetadataValue.float(float(score))
        for role, subject, runtime, domain, score in zip(*columns, strict=True)
    }


confidence = dg.ResourceDefinition(
    resource_fn=lambda _: confidence_folder(),
    description=f"Folder of the recorded confidence events, from {FOLDER_VARIABLE}; takes no run configuration.",
)
