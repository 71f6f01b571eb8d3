"""May this agent do this now: the two layers of authority, asked before each critical write.

What belongs here: the order of the questions and the answer with its rule. What does not: the allow-list
(`allowlist`), the critical list (`critical_actions`), what a person signs (`critical_proposal`) and the gate.

An action of the critical list needs an approval, and no row of the allow-list replaces one. Any other needs a row that
counts now. Whatever cannot be read (a faulty allow-list or registry, a ledger that cannot be used) allows nothing.
Source: spec/framework.md §5.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.errors import FaultyFileError
from governance_pipeline.framework.allowlist import Permission, Standing, load_allowlist
from governance_pipeline.framework.critical_actions import Evidence, asset_in_scope, critical_entry
from governance_pipeline.framework.critical_proposal import Asked, approved_by, ask_for, hand_over
from governance_pipeline.framework.folder import REGISTRY
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.registry import Registry, load_registry
from governance_pipeline.framework.registry_changes import refuse_frozen
from governance_pipeline.strict.files import FileRefused
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.framework.critical_actions import Critical
    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.gate.passage import Verifier


class Verdict(StrEnum):
    """The three answers; only the first lets anything happen."""

    ALLOWED = "allowed"
    NEEDS_APPROVAL = "needs_approval"
    REFUSED = "refused"


class Answer(NamedTuple):
    """An answer and what it rests on.

    Attributes:
        verdict: allowed, needs_approval or refused.
        rule: stable name of the rule that decided.
        reason: the sentence for whoever asked.
        critical: entry of the critical list, None where the action is on none.
        code: reason code of a refusal.
        request_id: the request a person has to decide, where there is one.
        decision_ids: the decisions an allowed critical action rests on.
        inactive: rows of the allow-list that are over, whatever was asked.
    """

    verdict: Verdict
    rule: str
    reason: str
    critical: str | None = None
    code: str | None = None
    request_id: str | None = None
    decision_ids: tuple[str, ...] = ()
    inactive: tuple[tuple[Permission, Standing], ...] = ()


class Question(NamedTuple):
    """What is asked.

    Attributes:
        action: name of the action.
        agent: who wants to act.
        scope: on what: a path below the project, a name, or None.
        backup: file that holds a copy of what is overwritten.
        why: the reason, for whoever has to decide.
        asks: ask a person where one has to decide.
        run_id: the run that acts; its use of an approval is recorded, and no other run may use it.
    """

    action: str
    agent: str
    scope: str | None = None
    backup: Path | None = None
    why: str | None = None
    asks: bool = False
    run_id: str | None = None


def authorize(
    question: Question,
    folder: GovernedFolder | None,
    verifier: Verifier | None,
    now: datetime,
    tables: Sequence[str] = (),
) -> Answer:
    """Answer one question.

    Args:
        question: what is asked.
        folder: the governed folder; None only for the corpus of a lake that goes with none.
        verifier: what is trusted; None where no gate is configured, and then nobody can approve anything.
        now: the time.
        tables: the tables of rounds, whose replacement is what reprocessing asks about.

    Raises:
        UsageError: no legal action, or a scope is needed and missing.
        StorageError: lake or ledger cannot be written.
    """
    try:
        registry = Registry() if folder is None else load_registry(folder.path(REGISTRY))
    except (FaultyFileError, FileRefused) as error:
        return Answer(Verdict.REFUSED, "registry_unreadable", str(error), code="REGISTRY_UNREADABLE")
    asset = asset_in_scope(registry, question.scope)
    entry = critical_entry(question.action, asset)
    rows, inactive, fault = _rows(folder, now)
    if entry is not None:
        asked = Asked(question.action, entry, question.agent, question.scope, asset, question.backup, question.why)
        if not asked.is_harmless(folder, verifier):
            return _critical(question, asked, folder, verifier, now, tables)._replace(inactive=tuple(inactive))
    if fault is not None:
        return Answer(Verdict.REFUSED, "allowlist_unreadable", fault, code="ALLOWLIST_UNREADABLE")
    row = next((row for row in rows if row.covers(question.agent, question.action, question.scope)), None)
    if row is not None:
        rule = "temporary_extension" if row.is_temporary else "standing_permission"
        return Answer(Verdict.ALLOWED, rule, row.words, inactive=tuple(inactive))
    return _unlisted(question, inactive)


def require_authorized(answer: Answer) -> Answer:
    """Give back an answer that allows; the one line a writer needs before it writes.

    Raises:
        FrameworkRefused: it does not, with the rule as code.
    """
    if answer.verdict is not Verdict.ALLOWED:
        raise FrameworkRefused(answer.verdict, f"{answer.rule}: {answer.reason}")
    return answer


def authorize_document(question: Question, answer: Answer) -> dict[str, Any]:
    """Give `govern/authorize/v1`."""
    return {
        "schema": "govern/authorize/v1",
        "action": question.action,
        "agent": question.agent,
        "scope": question.scope,
        "answer": str(answer.verdict),
        "rule": answer.rule,
        "reason": answer.reason,
        "critical": answer.critical,
        "code": answer.code,
        "request_id": answer.request_id,
        "decision_ids": list(answer.decision_ids),
        "inactive": [
            {"line": row.line, "standing": str(standing), "words": row.words} for row, standing in answer.inactive
        ],
    }


def _rows(
    folder: GovernedFolder | None, now: datetime
) -> tuple[list[Permission], list[tuple[Permission, Standing]], str | None]:
    """Give the rows that count, those that are over, and why the list cannot be used."""
    if folder is None:
        return [], [], "there is no governed folder, so nothing is allowed in advance"
    try:
        found = load_allowlist(folder)
    except (FaultyFileError, FileRefused) as error:
        return [], [], str(error)
    return found.active(now, folder.root), found.inactive(now, folder.root), None


def _unlisted(question: Question, inactive: Sequence[tuple[Permission, Standing]]) -> Answer:
    over = [row for row, _ in inactive if row.covers(question.agent, question.action, question.scope)]
    said = f"no row of the allow-list lets {question.agent!r} do this"
    if over:
        said += f"; line {over[0].line} did, and is over"
    return Answer(Verdict.NEEDS_APPROVAL, "not_on_allowlist", said, inactive=tuple(inactive))


def _critical(
    question: Question,
    asked: Asked,
    folder: GovernedFolder | None,
    verifier: Verifier | None,
    now: datetime,
    tables: Sequence[str],
) -> Answer:
    entry: Critical = asked.entry
    if verifier is None:
        said = f"{entry.title} needs an approval, and no gate is configured, so nobody can give one"
        return Answer(Verdict.REFUSED, "no_gate", said, entry.name, str(ReasonCode.MISSING))
    try:
        refuse_frozen(verifier, now)
        approval = (
            approved_by(asked, folder, verifier, now, tables)
            if question.run_id is None
            else hand_over(asked, folder, verifier, now, tables, question.run_id)
        )
    except (Refusal, FrameworkRefused) as refusal:
        return _refused(question, asked, folder, verifier, now, tables, refusal)
    except (FaultyFileError, FileRefused) as error:
        return Answer(Verdict.REFUSED, "evidence_unreadable", str(error), entry.name, "EVIDENCE_UNREADABLE")
    who = ", ".join(approval.approvers)
    said = f"{entry.title}: approved by {who}" + ("" if question.run_id is None else f", for run {question.run_id}")
    return Answer(Verdict.ALLOWED, "approved", said, entry.name, decision_ids=approval.decision_ids)


_NO: frozenset[str] = frozenset({"FROZEN", "REVOKED", "SELF_APPROVAL", "RULE_NOT_VALIDATED", "RULE_OTHER_VERSION"}) | {
    "RULE_STALE", "LOG_INCONSISTENT", "ROOT_ROLLBACK", "INTERNAL", "CLOCK_SUSPECT", "NO_SUCH_SCOPE",
}  # fmt: skip
"""Codes that no approval takes away as things are; any other waits for one."""


def _refused(
    question: Question,
    asked: Asked,
    folder: GovernedFolder | None,
    verifier: Verifier,
    now: datetime,
    tables: Sequence[str],
    refusal: Refusal | FrameworkRefused,
) -> Answer:
    code = str(refusal.code)
    said = f"{asked.entry.title} needs an approval: {str(refusal).removeprefix(f'{code}: ')}"
    if code in _NO:
        return Answer(Verdict.REFUSED, code.lower(), said, asked.entry.name, code)
    is_of_registry = asked.entry.evidence is Evidence.REGISTRY
    request = None
    if question.asks and not is_of_registry:
        try:
            request = ask_for(asked, folder, verifier, now, tables).request_id
        except (Refusal, FrameworkRefused) as no:
            return Answer(Verdict.REFUSED, str(no.code).lower(), str(no), asked.entry.name, str(no.code))
    if is_of_registry:
        hint = "; `govern registry supersede` asks about the bytes that come"
    elif request is None:
        hint = "; ask a person with --ask"
    else:
        hint = f"; govern gate approve {request} --lake {verifier.lake.root} --key FILE"
    return Answer(Verdict.NEEDS_APPROVAL, "critical_list", f"{said}{hint}", asked.entry.name, code, request)
