"""Is every published file one the gate let through: the file in the lake against the ledger.

What belongs here: the receipt a published file carries, and holding it to the ledger. What does not: making the file
(`publication`). A file somebody wrote by hand has no receipt, or one the ledger does not know; so has the file that was
published before an older copy of the ledger was put back.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from governance_pipeline.errors import RecordRefused, StorageError
from governance_pipeline.gate.events import EventType
from governance_pipeline.gate.gates import GATES
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from governance_pipeline.gate.events import History
    from governance_pipeline.storage.lake import Lake

RECEIPT: Final = "gate.receipt"
"""Key in the metadata of a published file."""


class Unaccounted(NamedTuple):
    """One published file nobody can account for: asset, round, and what is wrong."""

    asset: str
    round_id: str
    message: str


def receipt(decision_ids: Iterable[str], subject_sha256: str) -> dict[str, str]:
    """Give the metadata a published file carries: the decisions and the bytes it rests on; no time and no run."""
    members = {"decision_ids": sorted(decision_ids), "subject_sha256": subject_sha256}
    return {RECEIPT: json.dumps(members, separators=(",", ":"), sort_keys=True)}


def unaccounted(asset: str, round_id: str, lake: Lake, history: History) -> str | None:
    """Say what is wrong with the published file of a round; None when it is accounted for, or there is none."""
    try:
        found = lake.versions(asset, round_id).read_in_force()
        if found is None:
            return None
        path, data = found
        said = _receipt_of(data)
    except (StorageError, RecordRefused, pa.ArrowException, KeyError, TypeError) as error:
        return f"{asset} of round {round_id} is no file the gate let through ({error!r}); find out who wrote it"
    used = [p for p in history.passages if (p.asset, p.round_id) == (asset, round_id)]
    consumed = {(p.decision_id, p.subject_sha256) for p in used if p.type is EventType.CONSUMED}
    unknown = [d for d in said["decision_ids"] if (d, said["subject_sha256"]) not in consumed]
    if unknown or not said["decision_ids"]:
        return (
            f"{asset} of round {round_id} names decisions the ledger has not seen used "
            f"({', '.join(unknown) or 'none'}); the file was written around the gate, or the ledger is an older copy"
        )
    outputs = {p.output_sha256 for p in used if p.type is EventType.RELEASED and p.decision_id in said["decision_ids"]}
    if outputs and path.stem not in outputs:
        return f"{asset} of round {round_id} has digest {path.stem}, released was {', '.join(map(str, outputs))}"
    return None


def unaccounted_files(lake: Lake, history: History) -> list[Unaccounted]:
    """Go through every published file of every round; empty when each has its events.

    What `govern gate verify` without a request and the Dagster check `gated_materializations_are_consumed` ask.
    """
    assets = [asset for gate in GATES.values() for asset in gate.assets]
    found = [
        (asset, round_id, unaccounted(asset, round_id, lake, history))
        for asset in assets
        for round_id in lake.rounds(asset)
    ]
    return [Unaccounted(asset, round_id, message) for asset, round_id, message in found if message is not None]


def _receipt_of(data: bytes) -> Mapping[str, Any]:
    metadata = pq.read_schema(pa.BufferReader(data)).metadata or {}
    said = parse_json(metadata[RECEIPT.encode()])
    if not all(isinstance(digest, str) for digest in (said["subject_sha256"], *said["decision_ids"])):
        raise TypeError("the receipt holds something that is no digest")
    members: Mapping[str, Any] = said
    return members
