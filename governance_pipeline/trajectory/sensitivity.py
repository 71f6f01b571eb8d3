"""How much a ranking of rounds depends on the weights of their criteria.

What belongs here: the weighted E of rounds, each weight 20 % less and more, and a seeded sweep over all weights there
could be. What does not: reading weights (`evidence_weights`) and layout. A rank is 1 for the largest E; equal E (to
12 decimals) share one. The sweep draws weights from a flat Dirichlet distribution: every mixture is equally likely, so
what no draw changes does not rest on the weights at all. Source: spec/trajectory.md §3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from governance_pipeline.rounds.evidence import Evidence, EvidenceState, last_states
from governance_pipeline.trajectory.evidence import evidence_by_round
from governance_pipeline.trajectory.rules import rules_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    import pandas as pd

    from governance_pipeline.trajectory.evidence import RoundEvidence
    from governance_pipeline.trajectory.evidence_weights import EvidenceWeights

    Matrix = npt.NDArray[np.float64]

SCHEMA: Final = "govern/weights-sensitivity/v1"
SHIFT: Final = 0.2
"""Share by which each weight is made smaller and larger (spec/trajectory.md §3)."""
DEFAULT: Final = "(default)"
"""How the weight of criteria that are not named is called; no criterion id has brackets."""
SENSITIVITY_TABLES: Final = ("core_rounds", "core_criteria", "core_evidence", "raw_quarantine")
_DECIMALS: Final = 12


class Weighed(NamedTuple):
    """The rounds whose weighted E is known, and the others with why not.

    `required[r, k]` counts the required criteria of round r that weight k is of, `strength[r, k]` adds up their e.
    """

    round_ids: list[str]
    keys: list[str]
    weights: Matrix
    required: Matrix
    strength: Matrix
    unknown: dict[str, str]


def weigh(tables: Mapping[str, pd.DataFrame], weights: EvidenceWeights) -> Weighed:
    """Look up what of the evidence of each round every weight counts.

    Args:
        tables: `SENSITIVITY_TABLES` of any number of rounds.
        weights: as declared.
    """
    keys = [*sorted(weights.criteria), *([] if weights.default is None else [DEFAULT])]
    rules = rules_of(tables["core_rounds"], tables["core_criteria"])
    found = evidence_by_round(rules, tables["core_evidence"], tables["raw_quarantine"])
    unknown = {name: reason for name, one in found.items() if (reason := _reason(one, weights)) is not None}
    known = [name for name in sorted(found) if name not in unknown]
    required, strength = np.zeros((len(known), len(keys))), np.zeros((len(known), len(keys)))
    for row, name in enumerate(known):
        last = last_states(found[name].records)
        for criterion in found[name].rules.contract.required:  # type: ignore[union-attr]  # else it is unknown
            column = keys.index(criterion.id if criterion.id in weights.criteria else DEFAULT)
            required[row, column] += 1
            strength[row, column] += _strength(last.get(criterion.id))
    values = [weights.criteria[key] if key != DEFAULT else weights.default or 0.0 for key in keys]
    return Weighed(known, keys, np.array(values, dtype=np.float64), required, strength, unknown)


def sensitivity(weighed: Weighed, samples: int, seed: int) -> dict[str, Any]:
    """Give E and rank of every round, and how both move with the weights; `govern/weights-sensitivity/v1` in part.

    Args:
        weighed: what `weigh` found.
        samples: weight vectors drawn in the sweep.
        seed: of the sweep; the same one gives the same document.
    """
    shares = _shares(weighed, weighed.weights[None, :])[:, 0]
    base = _ranks(shares[:, None])[:, 0]
    shifted = [_shifted(weighed, base, column, factor) for column in range(len(weighed.keys)) for factor in _FACTORS]
    drawn = np.random.default_rng(seed).dirichlet(np.ones(len(weighed.keys)), samples)
    swept = _shares(weighed, drawn)
    moved = _ranks(swept) != base[:, None]
    rounds = [
        {
            "round_id": name,
            "E": _number(shares[row]),
            "rank": int(base[row]),
            "E_min": _number(swept[row].min()),
            "E_max": _number(swept[row].max()),
            "rank_changes_share": float(moved[row].mean()),
        }
        for row, name in enumerate(weighed.round_ids)
    ]
    return {
        "weights": [
            {"criterion": key, "weight": float(w)} for key, w in zip(weighed.keys, weighed.weights, strict=True)
        ],
        "rounds": rounds,
        "unknown": [{"round_id": name, "reason": reason} for name, reason in sorted(weighed.unknown.items())],
        "shifts": shifted,
        "dirichlet": {
            "samples": samples,
            "seed": seed,
            "rounds_changing_rank": int(moved.any(axis=1).sum()),
            "rank_changes_share_mean": float(moved.mean()) if moved.size else 0.0,
        },
    }


_FACTORS: Final = (1 - SHIFT, 1 + SHIFT)


def _shifted(weighed: Weighed, base: npt.NDArray[np.int64], column: int, factor: float) -> dict[str, Any]:
    weights = weighed.weights.copy()
    weights[column] *= factor
    shares = _shares(weighed, weights[None, :])
    return {
        "criterion": weighed.keys[column],
        "factor": round(factor, 2),
        "rounds_changing_rank": int((_ranks(shares)[:, 0] != base).sum()),
        "E_min": _number(shares.min()) if shares.size else None,
        "E_max": _number(shares.max()) if shares.size else None,
    }


def _shares(weighed: Weighed, weights: Matrix) -> Matrix:
    """E of every round (rows) under every weight vector (columns); 0 where all its weights are 0, as nothing counts."""
    total = weighed.required @ weights.T
    earned = weighed.strength @ weights.T
    return np.divide(earned, total, out=np.zeros_like(earned), where=total > 0)


def _ranks(shares: Matrix) -> npt.NDArray[np.int64]:
    """Rank of every round in each column: 1 + rounds with a larger E."""
    rounded = np.round(shares, _DECIMALS)
    ordered = np.sort(rounded, axis=0)
    ranks = np.empty(rounded.shape, dtype=np.int64)
    for column in range(rounded.shape[1]):
        ranks[:, column] = 1 + len(rounded) - np.searchsorted(ordered[:, column], rounded[:, column], side="right")
    return ranks


def _reason(evidence: RoundEvidence, weights: EvidenceWeights) -> str | None:
    if evidence.reason is not None:
        return str(evidence.reason)
    if evidence.rules.contract is None or not evidence.rules.contract.required:
        return "nothing_required"
    own = [weights.of(criterion.id) for criterion in evidence.rules.contract.required]
    if None in own:
        return "weight_missing"
    return None if any(own) else "weights_zero"


def _strength(last: Evidence | None) -> float:
    """E of a criterion: its strength (1 when absent) if the last state is proven, else 0."""
    if last is None or last.state is not EvidenceState.PROVEN:
        return 0.0
    return 1.0 if last.strength is None else float(last.strength)


def _number(value: Any) -> float:
    return round(float(value), _DECIMALS)


def ranking(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Give the rounds of a document by rank, then by id."""
    return sorted(document["rounds"], key=lambda row: (row["rank"], row["round_id"]))
