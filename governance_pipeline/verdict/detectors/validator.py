"""`validator-not-independent`: who attested the round is, or depends on, who made it.

Undecidable is no fact: in final mode it is a required check that did not run (`required_checks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.detector import Detector, Hit
from governance_pipeline.verdict.independence_rows import attestations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.verdict.round_view import RoundView


def _detect(view: RoundView) -> Iterator[Hit]:
    for attestation in attestations(view):
        if attestation.is_independent is False:
            validator = excerpt(attestation.validator_id or "an unnamed validator", 80)
            rules = sorted({row["rule"] for row in attestation.rows if row["is_independent"] is False and row["rule"]})
            yield Hit(
                (attestation.validator_id or "", *rules),
                f"{validator} is not independent of the round it attests: {', '.join(rules)}",
                {"validator_id": validator, "rules": rules, "pairs": [_pair(row) for row in attestation.rows]},
                attestation.place,
            )


def _pair(row: Mapping[str, Any]) -> dict[str, Any]:
    """One validator and producer: what was judged, and how they are connected."""
    shared, lineage = (None if row[name] is None else excerpt(row[name]) for name in ("shared_value", "lineage_path"))
    return {
        "producer_run_id": None if row["producer_run_id"] is None else excerpt(row["producer_run_id"]),
        "is_independent": row["is_independent"],
        "rule": row["rule"],
        "shared_value": shared,
        "lineage_path": lineage,
    }


DETECTOR: Final = Detector(
    code="validator-not-independent",
    rule="a validator attestation fails a rule of independence against a producer of the round",
    reads=("audit_independence",),
    detect=_detect,
    fires_on={"audit_independence": [{"is_independent": False, "rule": "key"}]},
    silent_on={
        "audit_independence": [{"is_independent": True}, {"line": 2, "is_independent": None, "rule": "signature"}]
    },
)
