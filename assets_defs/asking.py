"""Asking for decisions, and what Dagster shows of a request.

What belongs here: calling the gate's own functions for the rounds of a run, and metadata for a person who looks at a
request in the web UI. What does not: what a request is (gate.request) and whether it stands (gate.states).
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import pandas as pd

from assets_defs.check_status import rows_metadata
from assets_defs.resources import Gatekeeper
from assets_defs.tables import REQUESTS
from governance_pipeline.gate.gates import GATES
from governance_pipeline.gate.manifest import kept_manifest
from governance_pipeline.gate.request import register_requests
from governance_pipeline.gate.states import State
from governance_pipeline.gate.tables import gate_requests
from governance_pipeline.pipeline import split
from governance_pipeline.storage.lake import Lake, Stored

CLAIM_COLUMNS = [
    "field",
    "subject_id",
    "declared",
    "computed",
    "delta",
    "epsilon",
    "status",
    "reason_code",
    "record_id",
]
WORST_FIRST = {"mismatch": 0, "unverifiable": 1}
"""Claims a person must look at come first, because only the first are shown."""


class Requests:
    """Makes `gate_requests`: asks about each round whose work was not asked about, then takes the picture."""

    def __init__(self, keeper: Gatekeeper, lake: Lake) -> None:
        self.lake = lake
        self._keeper = keeper

    def make(self, tables: Sequence[str], round_ids: Sequence[str]) -> Mapping[str, Mapping[str, Stored]]:
        """Append what is to be asked and store the table.

        Raises:
            Refusal: no gate is configured, or what it trusts is refused.
            StorageError: a table of a round is missing or damaged; nothing was asked then.
        """
        verifier = self._keeper.verifier(self.lake)
        for gate in GATES.values():
            register_requests(gate, round_ids, verifier, self._keeper.now())
        parts = split(gate_requests(round_ids, verifier, self._keeper.now()), round_ids)
        return {table: {key: self.lake.put(table, key, part) for key, part in parts.items()} for table in tables}

    def shown(self, round_id: str) -> Mapping[str, Any]:
        """Return the newest request of a round for the web UI: its state, the claims, and the command that approves."""
        requests = self.lake.get(REQUESTS, round_id)
        newest = requests[requests["state"] != State.SUPERSEDED].iloc[0]
        request_id, state = str(newest["request_id"]), str(newest["state"])
        claims = pd.DataFrame(kept_manifest(self.lake, newest["subject_sha256"]).document["claims"])
        texts = {"request_id": request_id, "state": state, "verdict": newest["verdict_status"]}
        if pd.notna(newest["code"]):
            texts |= {"code": newest["code"], "reason": newest["message"]}
        return {
            **{name: dg.MetadataValue.text(str(text)) for name, text in texts.items()},
            "expires_at": dg.MetadataValue.timestamp(newest["expires_at"].to_pydatetime()),
            "approve_with": dg.MetadataValue.text(shlex.join(approve_words(request_id, self._keeper, self.lake))),
            **_claims_metadata(claims),
        }


def approve_words(request_id: str, keeper: Gatekeeper, lake: Lake, key: str = "YOUR_KEY.pem") -> list[str]:
    """Give the command that approves a request, word by word."""
    words = ["govern", "gate", "approve", request_id, "--lake", str(lake.root), "--key", key]
    return words if keeper.named is None else [*words, "--config", str(keeper.named)]


def _claims_metadata(claims: pd.DataFrame) -> dict[str, Any]:
    if claims.empty:
        return {}
    worst_first = claims["status"].map(lambda status: WORST_FIRST.get(status, len(WORST_FIRST)))
    shown = claims.assign(rank=worst_first).sort_values("rank", kind="stable")[CLAIM_COLUMNS]
    return {"claims": rows_metadata(shown)["rows"]}
