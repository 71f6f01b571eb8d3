"""What the rest of a run asks of the records of one check, whether they are held in a list or stored in a file.

What belongs here: counting and choosing. What does not: how records are stored (`crosscheck.stored_records`).
"""

from __future__ import annotations

import heapq
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from governance_pipeline.crosscheck.stored_records import StoredRecords
from governance_pipeline.vocabulary import Action, RecordStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from governance_pipeline.crosscheck.record import CrossCheckRecord

    Records = Sequence[CrossCheckRecord] | StoredRecords

VERIFIABLE = frozenset({RecordStatus.MATCH, RecordStatus.MISMATCH})
ANY_STATUS = frozenset(RecordStatus)


def counts_of(records: Records) -> dict[str, int]:
    """Return how many records there are, in all and by status."""
    if isinstance(records, StoredRecords):
        by_status = records.statuses()
    else:
        by_status = Counter(record.status.value for record in records)
    return {"records": by_status.total(), **{status.value: by_status[status.value] for status in RecordStatus}}


def total_counts(every: Iterable[Records]) -> dict[str, int]:
    """Return the counts of several checks together."""
    total: Counter[str] = Counter()
    for records in every:
        total.update(counts_of(records))
    return {name: total[name] for name in ("records", *map(str, RecordStatus))}


def smallest(records: Records, limit: int, statuses: frozenset[RecordStatus] = ANY_STATUS) -> list[CrossCheckRecord]:
    """Return the records with the smallest record_id: the same sample for the same input, whatever its order."""
    if isinstance(records, StoredRecords):
        return records.smallest(limit, statuses)
    chosen = (record for record in records if record.status in statuses)
    return heapq.nsmallest(limit, chosen, key=lambda record: record.record_id)


def first_mismatches(records: Records, limit: int) -> list[CrossCheckRecord]:
    """Return the first mismatches in the order of the report."""
    if isinstance(records, StoredRecords):
        found = records.having("status", frozenset({RecordStatus.MISMATCH}))
    else:
        found = (record for record in records if record.status is RecordStatus.MISMATCH)
    return list(islice(found, limit))


def non_accepted(records: Records) -> Iterator[CrossCheckRecord]:
    """Yield the records that go to a person, in the order of the report."""
    if isinstance(records, StoredRecords):
        return records.having("action", frozenset(Action) - {Action.ACCEPT})
    return (record for record in records if record.action is not Action.ACCEPT)


def reasons_of(records: Records) -> Counter[str]:
    """Return how many records there are by reason code; those without one are left out."""
    if isinstance(records, StoredRecords):
        return records.reasons()
    return Counter(record.reason_code.value for record in records if record.reason_code is not None)
