"""The answers of `govern crosscheck cases`: JSON documents (schemas in `crosscheck/schemas`) and lines of text.

What belongs here: plain values and layout. What does not: any rule, printing, and escaping, which whoever prints does
for the whole line. Both values are always shown side by side; none is ever shown as right.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.crosscheck.catalogue import catalogue
from governance_pipeline.errors import StorageError
from governance_pipeline.gate.cases import TABLES, CaseState
from governance_pipeline.gate.decision import TRUST_TIER
from governance_pipeline.gate.display import CONFIRM_CHARACTERS
from governance_pipeline.report.audit_document import as_explanation
from governance_pipeline.report.case_page import age_words, by_record, case_page, page_lines
from governance_pipeline.report.texts import words
from governance_pipeline.strict.excerpt import mask_secrets
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from governance_pipeline.gate.case_deciding import Recorded
    from governance_pipeline.gate.cases import Cases, CaseStanding, Said
    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.trust.case_statement import CaseRecord

SHORT: Final = 21
"""Characters of a case id that are shown: `case-` and 16 digits; a command takes them as the whole."""
SHOWN_RECORDS: Final = 20
"""Records of one case that are shown as text; the document has all of them."""

_DETAILS: Final = (
    "record_id", "subject_id", "field", "data_type", "unit", "declared", "declared_raw", "computed", "delta", "epsilon",
    "epsilon_reason", "status", "reason_code", "formula", "components_count", "declared_file_sha256", "declared_path",
    "declared_line", "declared_pointer", "escalate_to",
)  # fmt: skip
EXPLANATIONS: Final = "audit_explanations"
_NUMBERS: Final = ("declared", "computed", "delta", "epsilon")


def cases_document(cases: Cases, standings: Sequence[CaseStanding]) -> dict[str, Any]:
    """Give `govern/crosscheck-cases/v1`: cases, oldest first, each with its records."""
    return {
        "schema": "govern/crosscheck-cases/v1",
        **_set_up(cases),
        "at": instant_text(cases.now),
        "unusable": [fault._asdict() for fault in cases.history.unusable],
        "cases": [_item(standing) for standing in standings],
    }


def case_document(cases: Cases, standing: CaseStanding) -> dict[str, Any]:
    """Give `govern/crosscheck-case/v1`: one case, and its records as the tables of its round have them now."""
    return {
        "schema": "govern/crosscheck-case/v1",
        **_set_up(cases),
        "at": instant_text(cases.now),
        "case": _item(standing),
        "details": _details(cases.verifier.lake, standing),
    }


def result_document(cases: Cases, recorded: Recorded) -> dict[str, Any]:
    """Give `govern/crosscheck-case-result/v1`: the event that was recorded, and where the case stands now."""
    return {
        "schema": "govern/crosscheck-case-result/v1",
        **_set_up(cases),
        "seq": recorded.event.seq,
        "type": recorded.event.type,
        "case": _item(recorded.standing),
    }


def cases_lines(document: dict[str, Any]) -> list[str]:
    """Give the list: a line per case, and under it what it asks."""
    lines = []
    for item in document["cases"]:
        late = ", OVERDUE" if item["is_overdue"] else ""
        lines.append(
            f"{item['case_id'][:SHORT]}  {item['round_id']}  {item['state']}  {_age(item)}{late}  "
            f"{item['reason']} of {_quoted(item['field'])}  owner: {_owner(item)}{_stale(item)}"
        )
        first = item["records"][0]
        more = "" if item["records_count"] == 1 else f" and {item['records_count'] - 1} more records"
        lines.append(f"  declared {_known(first['declared'])}, computed {_known(first['computed'])}{more}")
    lines += [f"event {f['seq']} of the ledger: {f['code']}: {f['message']}" for f in document["unusable"]]
    return lines or ["no case is open"]


def case_lines(document: dict[str, Any]) -> Iterator[str]:
    """Yield one case with its records, and the command that resolves it."""
    item = document["case"]
    yield f"case       {item['case_id']}"
    yield f"digest     {item['sha256']}"
    yield f"round      {item['round_id']}{_stale(item)}"
    yield f"check      {_quoted(item['check_id'])}, field {_quoted(item['field'])}"
    yield f"reason     {item['reason']}"
    yield f"state      {item['state']}, {_age(item)}{', OVERDUE' if item['is_overdue'] else ''}"
    yield f"owner      {_owner(item)}"
    details = {row["record_id"]: row for row in document["details"] or ()}
    for record in item["records"][:SHOWN_RECORDS]:
        yield from _record_lines(record, details.get(record["record_id"]))
    if item["records_count"] > SHOWN_RECORDS:
        yield f"           and {item['records_count'] - SHOWN_RECORDS} more records; --json has all of them"
    for name in ("acknowledgement", "resolution"):
        if (said := item[name]) is not None:
            found = f" as {said['outcome']}" if said["outcome"] else ""
            yield f"{name[:10]:<10} {said['at']}{found} by {', '.join(said['people'])}: {_quoted(said['reason'])}"
    yield from (f"left out   {why}" for why in item["left_out"])
    if item["state"] != CaseState.RESOLVED:
        digest = item["sha256"][:CONFIRM_CHARACTERS]
        yield f"resolve    govern crosscheck cases resolve {item['case_id'][:SHORT]} --as OUTCOME --digest {digest}"


def result_line(document: dict[str, Any]) -> str:
    """Give what was recorded."""
    item = document["case"]
    return f"{item['case_id'][:SHORT]}  {item['round_id']}  recorded as event {document['seq']}, now {item['state']}"


def _set_up(cases: Cases) -> dict[str, Any]:
    return {"trust_tier": TRUST_TIER, "is_throwaway": cases.verifier.root.is_throwaway}


def _item(standing: CaseStanding) -> dict[str, Any]:
    case = standing.case
    return {
        "case_id": case.case_id,
        "round_id": case.round_id,
        "sha256": case.sha256,
        "check_id": case.check_id,
        "field": case.field,
        "reason": case.reason,
        "assignee": case.assignee,
        "state": str(standing.state),
        "owner": standing.owner,
        "opened_at": None if standing.opened_at is None else instant_text(standing.opened_at),
        "age_days": standing.age_days,
        "is_overdue": standing.is_overdue,
        "is_current": standing.is_current,
        "records_count": len(case.records),
        "records": [_record(record) for record in case.records],
        "acknowledgement": _said(standing.acknowledged),
        "resolution": _said(standing.resolved),
        "left_out": list(standing.left_out),
    }


def _record(record: CaseRecord) -> dict[str, Any]:
    numbers = {"declared": record.declared, "computed": record.computed}
    return {"record_id": record.record_id, **{name: _number(text) for name, text in numbers.items()}}


def _said(said: Said | None) -> dict[str, Any] | None:
    if said is None:
        return None
    outcome = None if said.outcome is None else str(said.outcome)
    return {
        "seq": said.seq, "at": instant_text(said.at), "people": list(said.people), "outcome": outcome,
        "reason": said.reason,
    }  # fmt: skip


def _details(lake: Lake, standing: CaseStanding) -> list[dict[str, Any]] | None:
    """Give the rows of `audit_cross_checks` of a case the tables ask as they are; None of any other."""
    if not standing.is_current:
        return None
    wanted = {record.record_id for record in standing.case.records}
    try:
        rows = plain_rows(lake.get(TABLES[1], standing.case.round_id))
    except StorageError:
        return None
    tried, meanings = _tried(lake, standing.case.round_id), catalogue().meanings
    return [
        {
            **{name: _number(row[name]) if name in _NUMBERS else row[name] for name in _DETAILS},
            "meaning": meanings.get(row["check_id"]),
            "explanations": [as_explanation(one) for one in tried.get((row["round_id"], row["record_id"]), ())],
        }
        for row in rows
        if row["record_id"] in wanted
    ]


def _tried(lake: Lake, round_id: str) -> Mapping[tuple[str, str], list[Mapping[str, Any]]]:
    try:
        return by_record(plain_rows(lake.get(EXPLANATIONS, round_id)))
    except StorageError:
        return {}


def _record_lines(record: dict[str, Any], row: dict[str, Any] | None) -> Iterator[str]:
    both = f"declared {_known(record['declared'])}, computed {_known(record['computed'])}"
    if row is None:
        yield f"record     {record['record_id']}: {both}"
        return
    yield f"record     {record['record_id']} of {_quoted(row['subject_id'])}: {both}"
    pointer = {"file": row["declared_file_sha256"], "line": row["declared_line"], "pointer": row["declared_pointer"]}
    shown = {**row, "declared_pointer": {**pointer, "pointer": mask_secrets(row["declared_pointer"] or "")}}
    texts = words("en")
    yield from page_lines(case_page(shown, row["explanations"], row["meaning"], texts), texts)


def _number(text: str | None) -> Lexeme | None:
    return None if text is None else Lexeme(text)


def _known(value: object) -> str:
    return "unknown" if value is None else str(value)


def _quoted(value: object) -> str:
    """Quote a text of somebody else; null is the word unknown, without quotes."""
    return "unknown" if value is None else json.dumps(value, ensure_ascii=False)


def _age(item: dict[str, Any]) -> str:
    return age_words(item["age_days"], words("en"))


def _owner(item: dict[str, Any]) -> str:
    return str(item["owner"]) if item["owner"] else f"nobody yet, {_quoted(item['assignee'])} is asked"


def _stale(item: dict[str, Any]) -> str:
    if item["is_current"] is None:
        return "  (the tables of the round are not there)"
    return "" if item["is_current"] else "  (the tables of the round do not ask this any more)"


def is_listed(standing: CaseStanding, state: str | None, owner: str | None = None, *, every: bool) -> bool:
    """Tell whether a list shows a case: those nobody has resolved, those of one state, or all; of everybody or of one.

    A case nobody holds is on the list of whom its check asks.
    """
    if owner is not None and owner != (standing.owner or standing.case.assignee):
        return False
    return every or (standing.state is not CaseState.RESOLVED if state is None else standing.state == state)
