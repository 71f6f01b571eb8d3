"""Confidence events: `confidence.jsonl`. Counted line by line and nothing more.

An agent could have written them, so they become events only when a person imports them (spec/ingest.md §1): no table
but `raw_log_files` and `raw_quarantine` learns of them here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Sample

NAME: Final = "native_confidence"
DECLARES: Final[tuple[str, ...]] = ()
RECOMPUTABLE: Final[tuple[str, ...]] = ()
VERSIONS: Final = "govern/confidence-event/v1"


def detect(_sample: Sample) -> bool:
    """Confidence events are known by their place in the round folder, not by their content."""
    return False


def read(files: Sequence[LogFile], out: Extraction) -> None:  # noqa: ARG001 - the signature every format has
    """Account for every line; a line that is no object is quarantined."""
    for file in files:
        for record in file.lines():
            if not isinstance(record.value, dict):
                file.quarantine(record, "not_an_object")
