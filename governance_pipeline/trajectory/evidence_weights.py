"""Evidence weights (`govern/evidence-weights/v1`): how much each criterion counts, declared before evaluation.

What belongs here: reading a document, its digest, and refusing rounds that are older than it. What does not: computing
anything with them (`sensitivity`) and recording (ledger). Source: spec/trajectory.md §3.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from governance_pipeline.errors import RecordRefused, UsageError
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.trajectory.frames import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    import pandas as pd

    from governance_pipeline.ledger.weights import RegisteredWeights

SCHEMA_FILE: Final = "evidence-weights-v1.json"


class EvidenceWeights(NamedTuple):
    """Weights as declared.

    Attributes:
        weights_id: their id.
        criteria: criterion id -> weight, 0 or more.
        default: weight of a criterion that is not named; None: a round that requires one has no weighted E.
        document: as given.
    """

    weights_id: str
    criteria: Mapping[str, float]
    default: float | None
    document: Mapping[str, Any]

    @property
    def sha256(self) -> str:
        """Digest of the document: SHA-256 of its RFC 8785 form."""
        return sha256_hex(canonical_json(self.document))

    def of(self, criterion_id: str) -> float | None:
        """Weight of a criterion; None when nobody declared one."""
        return self.criteria.get(criterion_id, self.default)


def read_weights(data: bytes) -> EvidenceWeights:
    """Read weights.

    Raises:
        UsageError: it is no strict JSON, breaks its schema, or every weight is 0.
    """
    try:
        document = parse_json(data)
    except RecordRefused as reason:
        raise UsageError(f"weights: no strict JSON: {reason}") from None
    error = best_match(_validator().iter_errors(document))
    if error is not None:
        raise UsageError(f"weights: {excerpt(error.json_path, 80)}: {excerpt(error.message, 200)}")
    criteria = {name: float(weight) for name, weight in document["criteria"].items()}
    default = document.get("default")
    weights = EvidenceWeights(document["weights_id"], criteria, None if default is None else float(default), document)
    if not any((*criteria.values(), weights.default or 0)):
        raise UsageError("weights: every weight is 0, so nothing would count")
    return weights


def refuse_younger(weights: EvidenceWeights, registered: RegisteredWeights | None, core_rounds: pd.DataFrame) -> None:
    """Refuse a dataset unless its weights were registered, as they are, before its first step.

    Args:
        weights: as given.
        registered: what the ledger has under their id; None: nothing.
        core_rounds: rows of the rounds of the dataset; `started_at` is the earliest time any source of one carries.

    Raises:
        UsageError: they were not, or a round has no time, so that nobody can tell.
    """
    name = weights.weights_id
    if registered is None:
        raise UsageError(f"weights {name} are not registered; `govern features register WEIGHTS` before evaluating")
    if registered.sha256 != weights.sha256:
        raise UsageError(
            f"weights {name} were registered as {registered.sha256} (event {registered.seq}), these are "
            f"{weights.sha256}; what was declared is not changed, register others under another id"
        )
    for row in rows_of(core_rounds, ("round_id", "started_at")):
        if row["started_at"] is None:
            raise UsageError(f"round {row['round_id']} carries no time, so nobody can tell that the weights are older")
        if row["started_at"] <= registered.registered_at:
            raise UsageError(
                f"weights {name} were registered at {_text(registered.registered_at)}, and round {row['round_id']} "
                f"began at {_text(row['started_at'])}: weights that are younger than what they weigh are refused"
            )


def _text(at: datetime) -> str:
    return at.isoformat(sep=" ", timespec="seconds")


@cache
def _validator() -> Draft202012Validator:
    file = resources.files("governance_pipeline.trajectory") / "schemas" / SCHEMA_FILE
    return Draft202012Validator(json.loads(file.read_text("utf-8")))
