"""Deriving the trusted numbers again, on a real sample of the new scope: the third step.

What belongs here: measuring and recording, and asking later whether the sample still gives these numbers. What does
not: the measurement itself. Numbers of the old baseline are never copied: no command takes one, the sample must not be
one that an earlier baseline was measured on, and the same files are measured again before work goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.framework.incidents import SERVICE
from governance_pipeline.framework.rebaseline.measurement import Measured, measure, rounds_in
from governance_pipeline.framework.rebaseline.protocol import Project, RebaselineCode, require_step, step_event, take
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.ledger.rebaselines import Step, every_progress, read_rebaselines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.ledger.event import NewEvent
    from governance_pipeline.ledger.rebaselines import Progress


def rederive(project: Project, sample: Path, round_ids: Sequence[str] = ()) -> Progress:
    """Measure a sample and record what came of it.

    Args:
        project: where.
        sample: folder with one sub-folder for each round.
        round_ids: the rounds of it to measure; none: all of them.

    Raises:
        FrameworkRefused: the step may not be taken now, the sample is empty, or an earlier baseline was measured on it.
        UsageError: folder or round is not there.
    """
    require_step(project, Step.REDERIVE)
    chosen = list(round_ids) or rounds_in(sample)
    if not chosen:
        raise FrameworkRefused(RebaselineCode.NO_SAMPLE, f"{sample} holds no round; a sample of nothing proves nothing")
    measured = measure(sample, chosen)
    if int(measured.numbers["accepted"]) == 0:
        message = f"no record of the rounds in {sample} could be used; choose rounds of the new scope"
        raise FrameworkRefused(RebaselineCode.NO_SAMPLE, message)

    def events(progress: Progress) -> list[NewEvent]:
        _refuse_old(project, progress, measured)
        body = {**_body(measured), "sample": str(sample.resolve())}
        return [step_event(progress, Step.REDERIVE, body, SERVICE, project.clock())]

    return take(project, Step.REDERIVE, events)


def require_repeated(progress: Progress) -> None:
    """Measure the recorded sample once more: it must still be there, and give the recorded numbers.

    Raises:
        FrameworkRefused: REBASELINE_SAMPLE_CHANGED, with the first difference.
        UsageError: the sample is gone.
    """
    from pathlib import Path

    said = progress.taken[Step.REDERIVE].body
    again = _body(measure(Path(said["sample"]), list(said["round_ids"])))
    changed = sorted(name for name, value in again.items() if said.get(name) != value)
    if changed:
        message = (
            f"the sample measured again differs in {', '.join(changed)}; its files have changed since, or the recorded "
            "numbers were never measured: run `govern rebaseline rederive` again"
        )
        raise FrameworkRefused(RebaselineCode.SAMPLE_CHANGED, message)


def numbers_of(progress: Progress) -> Mapping[str, str]:
    """Give the numbers that were derived again; empty before the step was taken."""
    taken = progress.taken.get(Step.REDERIVE)
    return {} if taken is None else dict(taken.body["numbers"])


def _body(measured: Measured) -> dict[str, Any]:
    return {
        "sample_sha256": measured.sample_sha256,
        "round_ids": list(measured.round_ids),
        "files": measured.files,
        "numbers": measured.numbers,
    }


def _refuse_old(project: Project, progress: Progress, measured: Measured) -> None:
    for other in every_progress(read_rebaselines(project.ledger), project.root, project.clock()):
        taken = other.taken.get(Step.REDERIVE)
        if other.rebaseline_id == progress.rebaseline_id or taken is None:
            continue
        if taken.body.get("sample_sha256") == measured.sample_sha256:
            message = (
                f"these very files gave the numbers of {other.rebaseline_id}; measuring them again only copies the old "
                "baseline. Choose a sample of the new scope"
            )
            raise FrameworkRefused(RebaselineCode.OLD_SAMPLE, message)
