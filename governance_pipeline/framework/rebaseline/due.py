"""Noticing that a re-baseline is due, so that nobody has to remember to start one.

What belongs here: comparing what there is with the assumptions the baseline was noted with. What does not: noting them
(`assumptions`) and judging rounds by it (the verdict's detector, from the table). Triggers by spec/framework.md §7: a
new log format, column or type of data; a phase that the requirements do not name; a finding that contradicts a coded
rule; policies or requirements that changed. While a re-baseline is open every one of them counts as declared. One more
has another way out: a round that came after a re-baseline and still names the version before it would be compared with
the cohort of the old baseline, which does not carry over; it must name the version in force.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.framework import folder as places
from governance_pipeline.framework.classification_rules import audits, contradicted
from governance_pipeline.framework.documents import CURRENT_STATE, read_document
from governance_pipeline.framework.kept_text import read_text
from governance_pipeline.framework.rebaseline.assumptions import noted_of, seen_in
from governance_pipeline.framework.rebaseline.declaring import DOCUMENTS, baseline_version, digests_of
from governance_pipeline.framework.rebaseline.files import is_of
from governance_pipeline.ledger.cases import CaseEvent
from governance_pipeline.ledger.rebaselines import Step, every_progress, read_rebaselines
from governance_pipeline.strict.files import FileRefused
from governance_pipeline.trust.case_statement import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from governance_pipeline.framework.rebaseline.assumptions import Noted, Seen
    from governance_pipeline.framework.rebaseline.protocol import Project


class Trigger(StrEnum):
    """What invalidates an assumption; the words never change their meaning."""

    NOT_NOTED = "baseline_not_noted"
    DOCUMENT_CHANGED = "document_changed"
    PHASE = "phase_not_in_requirements"
    NEW_FORMAT = "new_log_format"
    NEW_COLUMN = "new_column"
    NEW_DATA_TYPE = "new_data_type"
    RULE_CONTRADICTED = "rule_contradicted"
    OLD_BASELINE = "old_baseline"


_OF_KIND: Final = {
    "formats": Trigger.NEW_FORMAT,
    "columns": Trigger.NEW_COLUMN,
    "data_types": Trigger.NEW_DATA_TYPE,
}


class Due(NamedTuple):
    """One assumption that does not hold: trigger, what it is about, where to look, and the round it is in, if one."""

    trigger: Trigger
    subject: str
    pointer: str
    round_id: str | None


def due(project: Project, tables: Mapping[str, pd.DataFrame]) -> list[Due]:
    """List the assumptions that do not hold; empty when the baseline in force still fits.

    Args:
        project: where.
        tables: those of `assumptions.READS`, of every round there is.

    Raises:
        FaultyFileError, FileRefused: state or requirements cannot be read.
        StorageError: the ledger cannot be read.
    """
    version = baseline_version(project)
    late = list(_late_rounds(project, tables["core_rounds"]))
    noted = noted_of(project.folder, project.ledger, version)
    if noted is None:
        return [Due(Trigger.NOT_NOTED, f"baseline {version}", "govern rebaseline status --note", None), *late]
    return [
        *late,
        *_documents(project, noted),
        *_phase(project),
        *_data(noted, tables),
        *_resolved_against_us(project, noted),
        *_audited_again(project, noted),
    ]


def _late_rounds(project: Project, core_rounds: pd.DataFrame) -> Iterator[Due]:
    """Give the rounds that ended after a re-baseline of the folder and name a version that it left behind."""
    history = read_rebaselines(project.ledger)
    left = {
        str(p.declared.document["from_baseline"]): p.taken[Step.RESUME].ts
        for p in every_progress(history, project.root, project.clock())
        if p.resumed is not None and is_of(project.folder, p)
    }
    for row in plain_rows(core_rounds) if left else ():
        over = left.get(row["baseline_version"])
        if over is not None and row["ended_at"] is not None and row["ended_at"] > over:
            yield Due(Trigger.OLD_BASELINE, row["baseline_version"], f"{row['round_id']}/round.toml", row["round_id"])


def _documents(project: Project, noted: Noted) -> Iterator[Due]:
    here = digests_of(project.folder)
    for name, path in DOCUMENTS.items():
        if noted.documents.get(name) != here[name]:
            yield Due(Trigger.DOCUMENT_CHANGED, name, path, None)


def _phase(project: Project) -> Iterator[Due]:
    phase = str(read_document(project.folder, places.STATE, CURRENT_STATE)["current_phase"])
    try:
        text = read_text(project.folder, places.REQUIREMENTS)
    except FileRefused as refused:
        if refused.code != "not_found":
            raise
        text = ""
    if not re.search(rf"(?<!\w){re.escape(phase)}(?!\w)", text, re.IGNORECASE):
        yield Due(Trigger.PHASE, phase, f"{places.STATE}#/current_phase", None)


def _data(noted: Noted, tables: Mapping[str, pd.DataFrame]) -> Iterator[Due]:
    judged = _rounds_of(noted.version, tables["core_rounds"])
    for each in seen_in(tables):
        if each.round_id in judged and each.name not in noted.known[each.kind] and not _is_new_twice(each, noted):
            yield Due(_OF_KIND[each.kind], each.name, f"{each.round_id}/{each.pointer}", each.round_id)


def _is_new_twice(each: Seen, noted: Noted) -> bool:
    """Tell whether a type of data belongs to a column that is new itself, or a column to a format that is."""
    if each.kind == "data_types":
        return each.name.rpartition(": ")[0] not in noted.known["columns"]
    return each.kind == "columns" and each.name.partition(": ")[0] not in noted.known["formats"]


def _rounds_of(version: str, core_rounds: pd.DataFrame) -> set[str]:
    """Give the rounds that are judged under a baseline: those that name it, and those that name none."""
    names = zip(core_rounds["round_id"], core_rounds["baseline_version"].fillna(version), strict=True)
    return {str(round_id) for round_id, named in names if named == version}


def _resolved_against_us(project: Project, noted: Noted) -> Iterator[Due]:
    """Give the cases in which a person found that a coded rule computes wrongly."""
    for event in project.ledger.events(after=noted.seq, types={CaseEvent.RESOLVED}):
        if event.body.get("resolution") == Outcome.COMPUTATION_WRONG:
            yield Due(Trigger.RULE_CONTRADICTED, str(event.body.get("case_id")), f"ledger event {event.seq}", None)


def _audited_again(project: Project, noted: Noted) -> Iterator[Due]:
    found = audits(project.ledger, project.root, project.clock())
    for rule, pointer in contradicted(found, noted.seq):
        yield Due(Trigger.RULE_CONTRADICTED, rule, pointer, None)
