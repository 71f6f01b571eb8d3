"""What a detector is: a code, what it reads, the rule, and two inputs that prove it works.

What belongs here: the shapes. What does not: any rule (`detectors`), any decision (`decision_table`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.verdict.round_view import CONTRACT_FILE, RoundView
from governance_pipeline.verdict.signals import CLASS_OF_CODE, Fact, Gap, GapReason, Signal, SignalClass, Statistic

if TYPE_CHECKING:
    from governance_pipeline.verdict.calibration import Extreme

Control = Mapping[str, Sequence[Mapping[str, Any]]]
"""Table -> rows that matter; columns left out are filled in (`controls`)."""


class Place(NamedTuple):
    """Where a finding can be looked up: file below the round folder, digest, physical line, RFC 6901 pointer."""

    path: str
    file_sha256: str | None
    line: int | None = None
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing a detector found in a round.

    Attributes:
        subject: what it is about, as texts that mean the same in every round: the fingerprint is made of it.
        message: one sentence, safe to print.
        factors: the numbers and texts behind it, JSON values; never only a scalar.
        place: where it can be looked up; None when it is about nothing in particular.
        required: of a gap, the round needs the thing.
        reason: of a gap, what is unknown.
        statistic: of a statistic, how far it is calibrated and extreme, and how good its reference is.
    """

    subject: tuple[str, ...]
    message: str
    factors: Mapping[str, Any] = field(default_factory=dict)
    place: Place | None = None
    required: bool = True
    reason: GapReason = GapReason.NO_EVIDENCE
    statistic: Extreme | None = None


@dataclass(frozen=True, slots=True)
class Detector:
    """One built-in detector.

    Attributes:
        code: stable code of its findings.
        rule: when it fires, as one sentence.
        reads: tables it reads, beside the round's own row.
        detect: the rule; pure.
        fires_on: an input on which it must fire.
        silent_on: its negative control: an input on which it must not.
    """

    code: str
    rule: str
    reads: tuple[str, ...]
    detect: Callable[[RoundView], Iterable[Hit]]
    fires_on: Control
    silent_on: Control

    @property
    def signal_class(self) -> SignalClass:
        """Class of its findings."""
        return CLASS_OF_CODE[self.code]

    def signal(self, hit: Hit, finding_id: str) -> Signal:
        """Give a hit as a signal of the decision table."""
        if self.signal_class == SignalClass.FACT:
            return Fact(finding_id, self.code)
        if hit.statistic is not None:
            return Statistic(finding_id, self.code, *hit.statistic)
        return Gap(finding_id, self.code, hit.required, hit.reason)

    def fingerprint(self, hit: Hit) -> str:
        """Digest of code and subject: the same finding in two rounds has the same one."""
        return sha256_hex(canonical_json([self.code, *hit.subject]))

    def finding_id(self, hit: Hit, round_id: str) -> str:
        """Digest of round, code, subject and place: other bytes give another id, so no dismissal carries over."""
        return sha256_hex(canonical_json([round_id, self.code, list(hit.subject), list(hit.place or ())]))


def place_of(row: Mapping[str, Any]) -> Place:
    """Place of a row that carries path, file_sha256, line and pointer."""
    return Place(row["path"], row["file_sha256"], row["line"], row["pointer"])


def contract_place(view: RoundView) -> Place | None:
    """Place of the round contract; None when there is none."""
    digest = view.row["contract_sha256"]
    return None if digest is None else Place(CONTRACT_FILE, digest)
