"""Components of native declared aggregates: one set of rows per run, one for the whole round.

What belongs here: which declared subjects a native record is a part of. What does not: what its columns mean.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import value_kind, value_raw

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Record

FORMAT: Final = "native"
"""Format of native declared aggregates and of their components."""


class ComponentRows:
    """Component rows of one source, numbered from 1 inside each subject.

    Only subjects that `declared.jsonl` names get rows (it is read first): the run a record belongs to, and the round
    itself, whose rows are those of all its records.
    """

    def __init__(self, out: Extraction, source: str) -> None:
        self._out = out
        self._source = source
        self._next: dict[str, int] = defaultdict(int)

    def add(self, file: LogFile, record: Record, run_id: str | None, values: Mapping[str, tuple[Any, str]]) -> None:
        """Add one row per subject; `values` maps a column to its value as read and the pointer to it."""
        for subject in dict.fromkeys((run_id, self._out.round_id)):
            if subject is None or subject not in self._out.subjects:
                continue
            self._next[subject] += 1
            for column, (value, pointer) in values.items():
                self._out.add(
                    "core_components",
                    file,
                    record,
                    pointer,
                    subject_id=subject,
                    source=self._source,
                    row_index=self._next[subject],
                    column=column,
                    value_raw=value_raw(value),
                    value_kind=value_kind(value),
                    format=FORMAT,
                )
