"""Rounds as partitions, and how a set of rounds is cut into runs.

What belongs here: the one partitions definition, the chunk size and the range tags of a chunked run. What does not:
which rounds are due (governance_pipeline.ingest.freshness) and who asks for them (sensors, schedules, backfill).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import dagster as dg

rounds = dg.DynamicPartitionsDefinition(name="rounds")

CHUNK_ROUNDS = 50
"""Rounds per run of a backfill: a run costs about 3 s before its first step, a round of a chunk about 0.1 s."""

chunked = dg.BackfillPolicy.multi_run(max_partitions_per_run=CHUNK_ROUNDS)

RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"


def chunks(wanted: Collection[str], registered: Sequence[str], size: int = CHUNK_ROUNDS) -> Iterator[tuple[str, ...]]:
    """Cut the wanted rounds into runs: neighbours in the order of registration, at most `size` each.

    A run can only cover a range of partitions, so a round that is not wanted ends a chunk.
    """
    chunk: list[str] = []
    for round_id in registered:
        if chunk and (round_id not in wanted or len(chunk) == size):
            yield tuple(chunk)
            chunk = []
        if round_id in wanted:
            chunk.append(round_id)
    if chunk:
        yield tuple(chunk)


def halves(chunk: Sequence[str]) -> tuple[Sequence[str], ...]:
    """Cut a chunk in two; a single round cannot be cut and gives nothing."""
    middle = len(chunk) // 2
    return (chunk[:middle], chunk[middle:]) if middle else ()


def range_tags(chunk: Sequence[str]) -> Mapping[str, str]:
    """Return the run tags that make one run cover a chunk."""
    return {RANGE_START: chunk[0], RANGE_END: chunk[-1]}


def rounds_of_run(tags: Mapping[str, str], registered: Sequence[str]) -> tuple[str, ...]:
    """Return the rounds a run with these tags covers as a range; empty when it is no range or its ends are gone."""
    first, last = tags.get(RANGE_START), tags.get(RANGE_END)
    if first not in registered or last not in registered:
        return ()
    return tuple(registered[registered.index(first) : registered.index(last) + 1])
