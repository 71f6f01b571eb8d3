"""What `govern gate` answers about attempts: entries of a round's history, and what became of each retry.

What belongs here: attempts turned into plain values and into lines. What does not: printing, and any rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.gate.decision import TRUST_TIER
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from governance_pipeline.gate.attempts import Failed, Retried
    from governance_pipeline.gate.events import History
    from governance_pipeline.gate.passage import Verifier

SCHEMA: Final = "govern/gate-retries/v1"
_SHORT: Final = 16


def attempt_entries(history: History, round_id: str) -> Iterator[dict[str, Any]]:
    """Give the failed runs and further attempts of one round, as entries of `govern/gate-log/v1`."""
    for failed in history.failures:
        if failed.round_id == round_id:
            yield {**_where("RUN_FAILED", failed), "run_id": failed.run_id, "root_run_id": failed.root_run_id}
    for retried in history.retries:
        if retried.round_id == round_id:
            yield {
                **_where("RETRY", retried),
                "actor": retried.actor,
                "decision_id": retried.decision_id,
                "attempt": retried.attempt,
                "resumes": dict(retried.root_runs),
            }


def attempt_words(entry: dict[str, Any]) -> str:
    """Give the words of one such entry."""
    if entry["type"] == "RUN_FAILED":
        return f"run {entry['run_id']} failed; what was approved stays approved"
    runs = ", ".join(f"{asset} of run {run}" for asset, run in sorted(entry["resumes"].items()))
    return (
        f"attempt {entry['attempt']} on {entry['decision_id'][:_SHORT]}{f', which goes on with {runs}' if runs else ''}"
    )


def retries_document(verifier: Verifier, results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Give `govern/gate-retries/v1`: what became of each request somebody wants tried again."""
    return {
        "schema": SCHEMA,
        "trust_tier": TRUST_TIER,
        "is_throwaway": verifier.root.is_throwaway,
        "results": list(results),
    }


def retry_line(entry: dict[str, Any]) -> str:
    """Give what became of one of them."""
    where = f"{entry['round_id']}  {entry['request_id'][:_SHORT]}"
    if entry["code"] is not None:
        return f"{where}  not tried again, {entry['code']}: {entry['message']}"
    return f"{where}  attempt {entry['attempt']} is recorded; the sensor `decisions` launches it at its next tick"


def _where(kind: str, entry: Failed | Retried) -> dict[str, Any]:
    return {"seq": entry.seq, "at": instant_text(entry.ts), "type": kind, "request_id": entry.request_id}
