"""Freezes: what is in force, and what ends one.

What belongs here: folding freezes and asking whether one covers a round. What does not: refusing (`passage_steps`, and
the governed folder's own writers). Anybody may freeze, because closing needs no leave. The freeze of a re-baseline ends
with a resumption that a person signed over every step of it, and with nothing else; any other with the event that lifts
it. Source: spec/gate.md §2, spec/framework.md §7.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.gate.event_members import text
from governance_pipeline.ledger.rebaselines import RebaselineHistory, Step, progress_of

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.ledger.event import Event
    from governance_pipeline.trust.root import TrustRoot


class Frozen(NamedTuple):
    """A recorded freeze: of everything, or of one round; of a re-baseline, or of none."""

    seq: int
    actor: str
    round_id: str | None
    reason: str
    rebaseline_id: str | None = None


@dataclass
class Freezes:
    """Every freeze that was recorded, those that an event lifted, and the re-baselines that may end theirs."""

    recorded: dict[int, Frozen] = field(default_factory=dict)
    lifted: set[int] = field(default_factory=set)
    rebaselines: RebaselineHistory = field(default_factory=RebaselineHistory)

    def add(self, event: Event) -> None:
        """Note a freeze.

        Raises:
            KeyError, TypeError: it does not hold what it needs.
        """
        scope, name = event.body.get("round_id"), event.body.get("rebaseline_id")
        self.recorded[event.seq] = Frozen(
            event.seq, event.actor, scope and text(scope), text(event.body["reason"]), name and text(name)
        )

    def lift(self, event: Event) -> None:
        """Note that a freeze was lifted; another person may have done so before.

        Raises:
            KeyError, ValueError: it names no freeze.
        """
        if event.body["freeze_seq"] not in self.recorded:
            raise ValueError("there is no such freeze")
        self.lifted.add(event.body["freeze_seq"])

    def covering(self, round_id: str | None, root: TrustRoot, now: datetime) -> Frozen | None:
        """Give the first freeze in force that covers a round, or everything (None); None when none does."""
        for frozen in self.recorded.values():
            if frozen.round_id in (None, round_id) and not self._is_over(frozen, root, now):
                return frozen
        return None

    def _is_over(self, frozen: Frozen, root: TrustRoot, now: datetime) -> bool:
        name = frozen.rebaseline_id
        progress = None if name is None else progress_of(self.rebaselines, name, root, now)
        step = None if progress is None else progress.taken.get(Step.FREEZE)
        if progress is None or step is None or step.seq != frozen.seq:
            return frozen.seq in self.lifted  # of no re-baseline, whatever it says
        return progress.resumed is not None


def frozen_words(frozen: Frozen) -> str:
    """Say what is frozen, by whom and why, and how a re-baseline ends."""
    what = "everything" if frozen.round_id is None else f"round {frozen.round_id}"
    way_out = "" if frozen.rebaseline_id is None else "; `govern rebaseline status` says what is left to do"
    return f"{frozen.actor!r} has frozen {what} (event {frozen.seq}): {frozen.reason!r}{way_out}"
