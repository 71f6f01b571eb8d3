"""Events of verified facts: a confirmed mismatch, a false completion claim, a review that caught something.

What belongs here: tables of this pipeline in, facts out; deterministic, and in no case an agent's word about itself.
What does not: what each is worth (`facts.yaml`), who did it (`attribution`), and storing them (`lake_tables`).
Source: spec/confidence.md §1, §5 and §11.11.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.confidence.attribution import Doer, Unattributed, doer_of, only_producer
from governance_pipeline.confidence.diagnosis import Outcome, Side, diagnosis
from governance_pipeline.confidence.fact_rules import fact_rules
from governance_pipeline.contracts.frames import plain_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    import pandas as pd

    Row = Mapping[str, Any]
    Decided = tuple[str, str, str, datetime]
    """Round, record, outcome and time of a mismatch a person has decided."""

FACT_TABLES = (
    "core_runs", "core_steps", "core_declared", "core_approvals", "audit_cross_checks", "audit_independence",
    "verdict_findings",
)  # fmt: skip
"""The tables facts are read from."""

NOBODY = Doer(None, None, None, None, None)


class Fact(NamedTuple):
    """One verified fact, and what it is worth to one side.

    Attributes:
        kind: what was verified.
        evidence: id of the record that shows it.
        at: when it was established; None: unknown.
        doer: who answers for it, or why nobody can be named.
        members: the members of its event that its kind fixes; empty where it makes none.
        place: the row that points to the bytes behind it.
    """

    kind: str
    evidence: str
    at: datetime | None
    doer: Doer
    members: Mapping[str, str]
    place: Row


class _Round:
    """The rows of one round, and who is who in it."""

    def __init__(self, tables: Mapping[str, pd.DataFrame], round_id: str) -> None:
        self.rows = {name: plain_rows(tables[name][tables[name]["round_id"] == round_id]) for name in FACT_TABLES}
        self.runs = {run["run_id"]: run for run in self.rows["core_runs"]}
        validators = {row["validator_run_id"] for row in self.rows["audit_independence"]}
        self.producer = only_producer(self.rows["core_runs"], validators)

    def step_at(self, place: Row) -> Row | None:
        """Return the step a finding points to; None when it points to something else, or to several."""
        at = ("path", "line", "pointer")
        found = [step for step in self.rows["core_steps"] if all(step[name] == place[name] for name in at)]
        return found[0] if len(found) == 1 else None

    def end_of(self, doer: Doer) -> datetime | None:
        """Return when a run ended: the moment its claim stood."""
        run = self.runs.get(doer.run_id) if doer.run_id else None
        return None if run is None else run["ended_at"] or run["started_at"]


def facts_of(tables: Mapping[str, pd.DataFrame], round_id: str, decided: Iterable[Decided]) -> list[Fact]:
    """Return the facts of one round, whatever else is in the tables and in whatever order its rows stand.

    Args:
        tables: `FACT_TABLES` over any rounds.
        round_id: the round.
        decided: mismatches people have decided in a way that counts, of any rounds.
    """
    here = _Round(tables, round_id)
    outcomes = {record: (outcome, at) for of, record, outcome, at in decided if of == round_id}
    found = [*_mismatches(here, outcomes), *_false_claims(here), *_caught(here), *_approvals(here)]
    return sorted(found, key=lambda fact: (fact.kind, fact.evidence, fact.doer.agent_id or "", fact.doer.run_id or ""))


def _mismatches(here: _Round, outcomes: Mapping[str, tuple[str, datetime]]) -> Iterator[Fact]:
    rules = fact_rules()
    formats = {(row["path"], row["line"], row["pointer"]): row["format"] for row in here.rows["core_declared"]}
    for row in here.rows["audit_cross_checks"]:
        outcome, at = outcomes.get(row["record_id"], (None, None))
        if not row["mismatch"] or outcome not in rules.outcomes:
            continue
        names = ("declared_path", "declared_line", "declared_pointer", "declared_file_sha256")
        path, line, pointer, digest = (row[name] for name in names)
        doer = here.producer
        if formats.get((path, line, pointer)) not in rules.formats:
            doer = NOBODY._replace(reason=Unattributed.WRITTEN_BY_RUNTIME)
        elif row["subject_id"] in here.runs:
            doer = doer_of(here.runs[row["subject_id"]])
        place = {"path": path, "line": line, "pointer": pointer, "file_sha256": digest}
        yield Fact("mismatch_confirmed", row["record_id"], at, doer, rules.mismatch, place)


def _false_claims(here: _Round) -> Iterator[Fact]:
    rules = fact_rules()
    for finding in here.rows["verdict_findings"]:
        rule = rules.findings.get(finding["code"])
        if rule is None or finding["class"] != "A" or finding["decision"] == "dismissed":
            continue
        step = here.step_at(finding)
        run = None if step is None else here.runs.get(step["run_id"])
        doer = here.producer if step is None else doer_of(run, step["agent_id"])
        if rule.needs_claim and not _claimed(finding, here.runs.get(doer.run_id or "")):
            continue
        at = (step and step["at"]) or here.end_of(doer)
        yield Fact("false_completion", finding["finding_id"], at, doer, rule.event, finding)


def _claimed(finding: Row, run: Row | None) -> bool:
    """Tell whether a success was claimed against a finding: by the run at its end, or by the record of evidence."""
    words = (run["self_reported_status"] if run else None, json.loads(finding["factors"]).get("evidence_state"))
    return any(isinstance(word, str) and word.strip().lower() in fact_rules().claims for word in words)


def _caught(here: _Round) -> Iterator[Fact]:
    """A signed no of somebody independent: the reviewer's gain, once, if an executor is of another pool."""
    rules = fact_rules()
    found: dict[str, Fact] = {}
    for row in sorted(here.rows["audit_independence"], key=lambda row: row["producer_run_id"] or ""):
        if row["result"] not in rules.results or not row["is_independent"] or not row["is_signature_verified"]:
            continue
        fact = _review(here, row)
        kept = found.setdefault(fact.evidence, fact)
        if kept.doer.reason is not None and fact.doer.reason is None:
            found[fact.evidence] = fact
    yield from found.values()


def _review(here: _Round, row: Row) -> Fact:
    reviewer = doer_of(here.runs.get(row["validator_run_id"]))
    executor = doer_of(here.runs.get(row["producer_run_id"]))
    reviewer = reviewer._replace(reason=reviewer.reason or executor.reason)
    members: Sequence[Mapping[str, str]] = ()
    if reviewer.reason is None:
        sides = [Side(str(side.agent_id), str(side.runtime)) for side in (reviewer, executor)]
        members = diagnosis(Outcome.CAUGHT, sides[0], sides[1], *fact_rules().caught)
        if not members:
            reviewer = reviewer._replace(reason=Unattributed.ONE_POOL)
    event = {name: members[0][name] for name in ("event_type", "domain", "pattern_code")} if members else {}
    return Fact("review_caught", row["attestation_sha256"], here.end_of(reviewer), reviewer, event, row)


def _approvals(here: _Round) -> Iterator[Fact]:
    """A rejection that only a log reports: listed, because a log proves neither who it was nor that they are apart."""
    for row in here.rows["core_approvals"]:
        if row["kind"] == "rejected":
            where = f"{row['file_sha256']}#{row['line'] or 0}"
            doer = doer_of(here.runs.get(row["run_id"]))._replace(reason=Unattributed.LOG_ONLY)
            yield Fact("approval_logged", where, row["at"], doer, {}, row)
