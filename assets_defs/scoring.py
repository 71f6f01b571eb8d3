"""What the confidence assets work with: mismatches people decided, files people imported, events people recorded.

What belongs here: reading these where they are, and what Dagster shows of scores. What does not: facts and scores
(governance_pipeline.confidence). Nothing here is read by an audit, a verdict or a gate.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from assets_defs.resources import PROJECT_ROOT, Gatekeeper
from governance_pipeline.confidence.importing import imported_files
from governance_pipeline.confidence.lake_tables import JUDGED, make_events
from governance_pipeline.confidence.stale_tables import due_rounds
from governance_pipeline.gate.cases import Cases
from governance_pipeline.gate.confirmed import decided_mismatches
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.storage.lake import Lake, Stored

FOLDER_VARIABLE, FOLDER_DEFAULT = "GOVERN_CONFIDENCE", "confidence"
SHOWN_SCORES = 50

Decided = tuple[str, str, str, datetime]
"""Round, record, outcome and time of a mismatch a person has decided."""


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
        decided, imported = self._known(round_ids)
        return {table: make_events(self.lake, round_ids, decided, imported) for table in tables}

    def due(self) -> list[str]:
        """Return the judged rounds whose table is missing or would be another one now; raises as `make`."""
        decided, imported = self._known(self.lake.rounds(JUDGED))
        return due_rounds(self.lake, decided, imported)

    def _known(self, round_ids: Sequence[str]) -> tuple[list[Decided], set[str]]:
        """Read what people decided and imported; nothing where no gate is configured."""
        if not self._keeper.is_configured():
            return [], set()
        cases = Cases(self._keeper.verifier(self.lake), self._keeper.now())
        decided: list[Decided] = [*decided_mismatches(cases.standings(round_ids))]
        return decided, imported_files(Ledger(self._keeper.config().ledger))


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
