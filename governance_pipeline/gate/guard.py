"""The guard: what every gated asset calls before it writes anything.

What belongs here: verifying every round at the moment of effect, recording the use so that it happens once, and handing
out the bytes. What does not: what is made of them (`publication`) and Dagster (assets_defs). However a run was started
(a job, a click, a backfill, a re-execution, with or without its checks), it comes by here, and what a check or a sensor
said before does not count.

Four events make one passage: INTENT and CONSUMED before the write, RELEASED and DONE after it. CONSUMED is unique per
decision, manifest and asset, and is appended only if nothing but our own intent was appended since everything was
verified: a revocation that comes in between is seen, and of two runs one wins. A run that died goes on under the same
root run; any other run, or other bytes, is a replay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.gates import gate_of
from governance_pipeline.gate.inputs import RoundInputs, inputs_or_refusal
from governance_pipeline.gate.parties import REQUESTER
from governance_pipeline.gate.passage import Verifier
from governance_pipeline.gate.policy import load_policy
from governance_pipeline.gate.room import require_room
from governance_pipeline.gate.sealing import remember
from governance_pipeline.gate.verify import passage_of, verify
from governance_pipeline.ledger.event import AlreadyRecorded, NewEvent
from governance_pipeline.ledger.ledger import LedgerMoved
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    import pandas as pd

    from governance_pipeline.gate.decision import Decision
    from governance_pipeline.gate.events import History, Recorded
    from governance_pipeline.gate.gates import Gate
    from governance_pipeline.gate.passage import Passage
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.storage.lake import Lake, Stored
    from governance_pipeline.trust.config import GateConfig
    from governance_pipeline.trust.root import TrustRoot

TRIES: Final = 100
"""How often everything is verified anew because something else was appended meanwhile."""


@dataclass(frozen=True)
class Approval:
    """One decision that opened the gate: id, the person, the decision itself, and the event that holds it."""

    decision_id: str
    approver: str
    key_fingerprint: str
    decision: Decision
    recorded: Recorded

    @property
    def names(self) -> str:
        """The person, and in whose place they approved."""
        place = self.decision.on_behalf_of
        return self.approver if place is None else f"{self.approver} on behalf of {place}"


@dataclass(frozen=True)
class Release:
    """What one gated asset may use of one round: the approved bytes and who approved them.

    Attributes:
        gate: the gate it passed.
        asset: the gated asset it is for.
        request_id: the request that was approved.
        subject_sha256: the manifest that was approved.
        approvals: who approved, in the order recorded.
        inputs: every upstream table, from the very bytes that were verified.
    """

    gate: Gate
    asset: str
    round_id: str
    request_id: str
    subject_sha256: str
    approvals: tuple[Approval, ...]
    inputs: RoundInputs
    ledger: Ledger
    lake: Lake
    run_id: str
    root_run_id: str

    @property
    def approved_by(self) -> list[str]:
        """The people who approved, sorted; who did so in the place of another is named with them."""
        return sorted({approval.names for approval in self.approvals})

    @property
    def decision_ids(self) -> list[str]:
        """The decisions that opened the gate, sorted."""
        return sorted({approval.decision_id for approval in self.approvals})

    def frame(self, table: str) -> pd.DataFrame:
        """Give an upstream table as it was approved."""
        return self.inputs.frame(table)

    def done(self, stored: Stored, *, now: datetime) -> None:
        """Record that the asset was written: RELEASED with what was written, then DONE. Once more changes nothing.

        Raises:
            Refusal: REPLAYED when other bytes than these were released on the same decisions.
            StorageError: the file is not the one in force in the lake, or the ledger could not be written.
        """
        in_force = self.lake.digest(self.asset, self.round_id)
        if in_force != stored.digest:
            raise StorageError(
                f"{self.asset} of round {self.round_id} was written as {stored.digest}, in force is {in_force}; "
                "somebody else wrote it meanwhile"
            )
        self.finished(stored.digest, now=now)

    def finished(self, output_sha256: str, *, now: datetime) -> None:
        """Record RELEASED and DONE with the digest of what was put in force; once more changes nothing.

        Raises:
            Refusal: REPLAYED when something else was released on the same decisions.
            StorageError: the ledger could not be written.
        """
        for kind in (EventType.RELEASED, EventType.DONE):
            output = {"output_sha256": output_sha256}
            for decision_id in self.decision_ids:
                entry = _entry(kind, self, decision_id, self.run_id, self.root_run_id, now, output)
                _append_once(self.ledger, entry, output_sha256)


def require_open_gate(
    gate: str,
    asset: str,
    round_ids: Sequence[str],
    lake: Lake,
    ledger: Ledger,
    root: TrustRoot,
    config: GateConfig,
    run_id: str,
    root_run_id: str,
    now: datetime,
) -> list[Release]:
    """Let a gated asset pass for every round it covers, or for none.

    Every round is verified before anything is written anywhere. After this the caller writes each round from its
    release and calls `Release.done`.

    Args:
        gate: name of the gate.
        asset: name of the gated asset.
        round_ids: every round the run covers (`context.partition_keys`).
        lake: the tables.
        ledger: the ledger the configuration names.
        root: the trust root, already verified; whether a newer one was seen is asked here again.
        config: where the verifier keeps what it trusts; names the policy.
        run_id: the run.
        root_run_id: the run it continues, across retries; the run itself when it is none.
        now: the time.

    Returns:
        One release per round, in the order given.

    Raises:
        Refusal: passage is refused, with the reason code; nothing was used, and nothing may be written.
        UsageError: the gate does not release this asset, or no round was given.
        PolicyError: the gate policy cannot be used.
        StorageError: the ledger could not be written.
    """
    chosen = gate_of(gate)
    if asset not in chosen.assets or not round_ids or not run_id or not root_run_id:
        raise UsageError(
            f"gate {gate} releases {', '.join(chosen.assets)} for at least one round of a run, not {asset}"
        )
    verifier = Verifier(lake, ledger, root, load_policy(config.policy), config)
    read = [inputs_or_refusal(chosen, round_id, lake) for round_id in dict.fromkeys(round_ids)]
    return pass_all(verifier, asset, read, run_id, root_run_id, now)


def pass_all(
    verifier: Verifier, asset: str, read: Sequence[RoundInputs], run_id: str, root_run_id: str, now: datetime
) -> list[Release]:
    """Verify and use decisions for inputs that were read, all or none; arguments and errors as `require_open_gate`."""
    for _ in range(TRIES):
        history = read_history(verifier.ledger)
        passages = [
            verify(
                passage_of(
                    verifier, inputs.gate, inputs.round_id, now,
                    asset=asset, root_run_id=root_run_id, history=history, inputs=inputs,
                )
            )
            for inputs in read
        ]  # fmt: skip
        releases = [_release(passage, asset, run_id, root_run_id) for passage in passages]
        require_room(verifier, read)
        try:
            _use(releases, history, now)
        except LedgerMoved:
            continue
        remember(verifier, now)
        return releases
    raise StorageError(f"ledger {verifier.ledger.path} is too busy: {TRIES} tries found it changed; run again")


def _release(passage: Passage, asset: str, run_id: str, root_run_id: str) -> Release:
    # By decision and key: an envelope that was recorded twice is one decision.
    approvals = {
        (offer.read.payload_sha256, s.key.fingerprint): Approval(
            offer.read.payload_sha256, s.principal.id, s.key.fingerprint, offer.said, offer.event
        )
        for offer in reversed(passage.offers)
        for s in offer.signers
        if offer.event is not None
    }
    return Release(
        gate=passage.inputs.gate,
        asset=asset,
        round_id=passage.inputs.round_id,
        request_id=passage.request.request_id,
        subject_sha256=passage.request.subject_sha256,
        approvals=tuple(sorted(approvals.values(), key=lambda approval: approval.recorded.seq)),
        inputs=passage.inputs,
        ledger=passage.verifier.ledger,
        lake=passage.verifier.lake,
        run_id=run_id,
        root_run_id=root_run_id,
    )


def _use(releases: Sequence[Release], history: History, now: datetime) -> None:
    """Append intents, then uses, each in one step over all rounds, and only onto the ledger that was verified."""
    ledger, size = releases[0].ledger, history.size
    for kind in (EventType.INTENT, EventType.CONSUMED):
        entries = [entry for release in releases for entry in _missing(kind, release, history, now)]
        if entries:
            try:
                size = ledger.append_all(entries, after=size)[-1].seq
            except AlreadyRecorded as recorded:
                message = f"this decision was used meanwhile, as event {recorded.event.seq} says"
                raise Refusal(ReasonCode.REPLAYED, message) from None


def _missing(kind: EventType, release: Release, history: History, now: datetime) -> Iterable[NewEvent]:
    """Give the events a passage still lacks; those a run that died has recorded stay as they are."""
    there = {
        passed.decision_id
        for passed in history.passages
        if passed.type is kind and passed.asset == release.asset and passed.root_run_id == release.root_run_id
    }
    for decision_id in release.decision_ids:
        if decision_id not in there:
            yield _entry(kind, release, decision_id, release.run_id, release.root_run_id, now)


def _entry(
    kind: EventType,
    release: Release,
    decision_id: str,
    run_id: str,
    root_run_id: str,
    now: datetime,
    more: Mapping[str, Any] | None = None,
) -> NewEvent:
    """Make one event of a passage.

    An intent may be recorded by several runs; a use, a release and an end belong to one run and are unique for ever.
    """
    key = f"{kind.lower()}:{decision_id}:{release.subject_sha256}:{release.asset}"
    body = {
        "gate": release.gate.name,
        "round_id": release.round_id,
        "asset": release.asset,
        "request_id": release.request_id,
        "decision_id": decision_id,
        "subject_sha256": release.subject_sha256,
        "run_id": run_id,
        "root_run_id": root_run_id,
        **(more or {}),
    }
    return NewEvent(kind, REQUESTER, body, now, None if kind is EventType.INTENT else key)


def _append_once(ledger: Ledger, entry: NewEvent, output_sha256: str) -> None:
    try:
        ledger.append(entry.type, entry.actor, entry.body, ts=entry.ts, unique=entry.unique)
    except AlreadyRecorded as recorded:
        if recorded.event.body.get("output_sha256") != output_sha256:
            message = f"other bytes were released on this decision, as event {recorded.event.seq} says"
            raise Refusal(ReasonCode.REPLAYED, message) from None
