"""Re-baselines in the ledger: the steps that were taken, in order, and the baseline that is in force.

What belongs here: the events, the fold, and what follows from it for whoever holds an old number. What does not: what
each step has to do (framework) and what people sign (`trust.rebaseline_statement`). A fold believes nothing: a
declaration and a resumption count only with a signature that does, and a resumption covers the exact events of all
steps before it. Every step but the first and the last may be taken again while the re-baseline is open; what came after
it must then be taken again too, so none is ever skipped. Source: spec/framework.md §7, spec/gate.md §5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.ledger.verification import Fault
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.trust.reasons import Refusal
from governance_pipeline.trust.rebaseline_statement import Declared, Resumed, stated_declaration, stated_resumption

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from governance_pipeline.ledger.event import Event
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.root import TrustRoot


class Step(StrEnum):
    """The steps of a re-baseline in their order; none can be skipped."""

    DECLARE = "declare"
    FREEZE = "freeze"
    REDERIVE = "rederive"
    REVALIDATE = "revalidate"
    REISSUE = "reissue"
    RECORD = "record"
    RESUME = "resume"


FREEZE_EVENT: Final = "FREEZE"
"""Type of the event of a freeze: the gate's own, so that no gate has to know of re-baselines to be closed by one."""
EVENT_OF: Final = {
    Step.DECLARE: "REBASELINE_DECLARED",
    Step.FREEZE: FREEZE_EVENT,
    Step.REDERIVE: "REBASELINE_REDERIVED",
    Step.REVALIDATE: "REBASELINE_REVALIDATED",
    Step.REISSUE: "REBASELINE_REISSUED",
    Step.RECORD: "REBASELINE_RECORDED",
    Step.RESUME: "REBASELINE_RESUMED",
}
"""Step -> type of its event; names stay for ever, because events do."""

_STEP_OF: Final = {event: step for step, event in EVENT_OF.items()}
_BEFORE: Final = {later: earlier for earlier, later in pairwise(Step)}
_SIGNED: Final = frozenset({Step.DECLARE, Step.RESUME})


class StepTaken(NamedTuple):
    """One recorded step, not believed; the actor is only shown. `sha256` is the digest of the bytes of the event."""

    step: Step
    seq: int
    ts: datetime
    actor: str
    body: Mapping[str, Any]
    sha256: str

    @property
    def envelope(self) -> bytes:
        """Envelope of a signed step."""
        return str(self.body["envelope"]).encode()


@dataclass
class RebaselineHistory:
    """What the ledger says of re-baselines, up to event number `size`.

    `of` is id -> steps, oldest first; `unusable` are events that do not hold what their type needs: they count for
    nothing, so none of them can end a freeze.
    """

    size: int = 0
    of: dict[str, list[StepTaken]] = field(default_factory=dict)
    unusable: list[Fault] = field(default_factory=list)


@dataclass(frozen=True)
class Progress:
    """One re-baseline whose declaration counts.

    Attributes:
        rebaseline_id: its id.
        declared: who authorizes it, and the declaration.
        taken: the steps that stand, in order, without a gap.
        resumed: who has ended it, with which version; None while it is open.
    """

    rebaseline_id: str
    declared: Declared
    taken: Mapping[Step, StepTaken]
    resumed: Resumed | None

    @property
    def last(self) -> Step:
        """The latest step that stands."""
        return list(self.taken)[-1]

    @property
    def missing(self) -> list[Step]:
        """Steps that are still to be taken, in order."""
        return [step for step in Step if step not in self.taken]

    @property
    def chain_sha256(self) -> str:
        """Digest of every step before the resumption: what a resumption is bound to."""
        return chain_sha256(taken for step, taken in self.taken.items() if step is not Step.RESUME)


class Baseline(NamedTuple):
    """The baseline in force: its version, the re-baseline that brought it, and the event and time of that."""

    version: str
    rebaseline_id: str
    seq: int
    at: datetime


def read_rebaselines(ledger: Ledger, size: int | None = None) -> RebaselineHistory:
    """Fold the steps of re-baselines, up to event number `size` (None: all there are).

    Raises:
        StorageError: the ledger cannot be read.
    """
    history = RebaselineHistory(ledger.size() if size is None else size)
    for event in ledger.events(types=set(_STEP_OF)):
        if event.seq > history.size:
            break
        step = _STEP_OF[event.type]
        if step is Step.FREEZE and "rebaseline_id" not in event.body:
            continue  # of somebody who wants to look again, without a re-baseline
        name = event.body.get("rebaseline_id")
        if type(name) is not str or (step in _SIGNED and type(event.body.get("envelope")) is not str):
            message = f"it does not hold what a {event.type} needs"
            history.unusable.append(Fault(event.seq, "unusable", message))
            continue
        history.of.setdefault(name, []).append(_taken(step, event))
    return history


def chain_sha256(steps: Iterable[StepTaken]) -> str:
    """Give the digest of steps: RFC 8785 of step, number and digest of the bytes of each event, in order."""
    return sha256_hex(canonical_json([[taken.step, taken.seq, taken.sha256] for taken in steps]))


def progress_of(history: RebaselineHistory, name: str, root: TrustRoot, now: datetime) -> Progress | None:
    """Give how far a re-baseline is; None when no declaration of it counts."""
    declared, taken = None, dict[Step, StepTaken]()
    for each in history.of.get(name, ()):
        if each.step is Step.DECLARE:
            if declared is None and (declared := _declared(each, name, root, now)) is not None:
                taken[each.step] = each
        elif declared is None or _BEFORE[each.step] not in taken:
            continue  # before its time: it counts for nothing
        elif each.step is Step.FREEZE:
            taken.setdefault(each.step, each)
        elif each.step is not Step.RESUME:
            taken = {step: kept for step, kept in taken.items() if _is_before(step, each.step)} | {each.step: each}
        elif (resumed := _resumed(each, name, taken, root, now)) is not None:
            return Progress(name, declared, {**taken, Step.RESUME: each}, resumed)
    return None if declared is None else Progress(name, declared, taken, None)


def every_progress(history: RebaselineHistory, root: TrustRoot, now: datetime) -> list[Progress]:
    """Give the re-baselines whose declaration counts, oldest first."""
    found = (progress_of(history, name, root, now) for name in history.of)
    return sorted((p for p in found if p is not None), key=lambda p: p.taken[Step.DECLARE].seq)


def open_rebaseline(history: RebaselineHistory, root: TrustRoot, now: datetime) -> Progress | None:
    """Give the re-baseline that was declared and not ended, the oldest one; None when there is none."""
    return next((p for p in every_progress(history, root, now) if p.resumed is None), None)


def baseline_in_force(history: RebaselineHistory, root: TrustRoot, now: datetime) -> Baseline | None:
    """Give the baseline of the latest re-baseline that was ended; None before the first one was."""
    ended = [_baseline(p, p.resumed) for p in every_progress(history, root, now) if p.resumed is not None]
    return max(ended, key=lambda baseline: baseline.seq, default=None)


def _baseline(progress: Progress, resumed: Resumed) -> Baseline:
    last = progress.taken[Step.RESUME]
    return Baseline(resumed.baseline_version, progress.rebaseline_id, last.seq, last.ts)


def _taken(step: Step, event: Event) -> StepTaken:
    return StepTaken(step, event.seq, event.ts, event.actor, event.body, sha256_hex(event.bytes))


def _declared(each: StepTaken, name: str, root: TrustRoot, now: datetime) -> Declared | None:
    try:
        return stated_declaration(each.envelope, name, root, each.ts, now)
    except Refusal:
        return None


def _resumed(
    each: StepTaken, name: str, taken: Mapping[Step, StepTaken], root: TrustRoot, now: datetime
) -> Resumed | None:
    """Give a resumption that counts; one dated before the step it follows was not made after it."""
    if each.ts < taken[Step.RECORD].ts:
        return None
    try:
        return stated_resumption(each.envelope, name, chain_sha256(taken.values()), root, each.ts, now)
    except Refusal:
        return None


def _is_before(one: Step, other: Step) -> bool:
    order: Sequence[Step] = list(Step)
    return order.index(one) < order.index(other)
