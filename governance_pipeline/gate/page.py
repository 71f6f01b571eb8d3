"""The answers of `govern gate` as lines of text.

What belongs here: layout. What does not: values, which come as documents (`answers`), and escaping, which whoever
prints does for the whole line.
"""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.gate.attempt_answers import attempt_words
from governance_pipeline.gate.delegation_answers import delegation_words
from governance_pipeline.gate.display import CONFIRM_CHARACTERS
from governance_pipeline.gate.states import State
from governance_pipeline.report.case_page import standing_words
from governance_pipeline.report.texts import words

if TYPE_CHECKING:
    from collections.abc import Mapping

SHORT: Final = 16
"""Characters of an id that are shown; a command takes them as the whole."""

CASE_SHORT: Final = 21
"""Characters of a case id that are shown: `case-` and 16 digits."""

_SHOWN_CLAIMS = 5


def inbox_lines(document: dict[str, Any], explained: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Give the inbox: a line per request, and under it the claims that do not match.

    `explained` gives what was tried on a claim, by record id; it stands below the claim.
    """
    lines = []
    for item in document["requests"]:
        age = f"{item['age_s'] // 3600} h old"
        code = f" {item['code']}" if item["code"] else ""
        lines.append(
            f"{item['request_id'][:SHORT]}  {item['round_id']}  {item['state']}{code}  verdict {item['verdict']}  "
            f"{age}, expires {item['expires']}  may act: {', '.join(item['may_act']) or 'nobody'}"
        )
        claims = item["open_claims"] or []
        for claim in claims[:_SHOWN_CLAIMS]:
            lines += _claim_lines(claim, explained.get(claim["record_id"]))
        if len(claims) > _SHOWN_CLAIMS:
            lines.append(f"  and {len(claims) - _SHOWN_CLAIMS} more: govern gate show {item['request_id'][:SHORT]}")
    return lines or ["nothing waits"]


def _claim_lines(claim: dict[str, Any], explained: str | None) -> list[str]:
    at = f"{claim['evidence']['path']}:{claim['evidence']['line']}"
    line = (
        f"  {claim['status']} {json.dumps(claim['field'])}: declared {claim['declared']}, computed {claim['computed']}"
        f", delta {claim['delta']}, epsilon {claim['epsilon']}, at {at}"
    )
    case = claim["case"]
    said = [] if case is None else [f"    {_case_words(case)}"]
    return [line, *said, *([f"    {explained}"] if explained else [])]


def _case_words(case: Mapping[str, Any]) -> str:
    texts = words("en")
    held = case["owner"] or f"{texts['nobody']}, {json.dumps(case['assignee'])} is asked"
    return f"{case['case_id'][:CASE_SHORT]}: {standing_words(case, texts)}, {texts['held_by']} {held}"


def standing_lines(document: dict[str, Any]) -> list[str]:
    """Give what stands below the text of a request: its state, who may act, and the command."""
    code = f" {document['code']}: {document['message']}" if document["code"] else ""
    lines = [
        "",
        f"state      {document['state']}{code}",
        f"may act    {', '.join(document['may_act']) or 'nobody'}",
    ]
    digits = document["subject_sha256"][:CONFIRM_CHARACTERS]
    if document["command"] is None:
        return lines
    is_failed = document["state"] == State.APPROVED_FAILED
    return [
        *lines,
        f"retry      {document['command']}" if is_failed else f"approve    {document['command']} --digest {digits}",
    ]


def result_line(entry: dict[str, Any]) -> str:
    """Give what became of one decision."""
    done = f"{entry['decision']} recorded as {entry['decision_id'][:SHORT]}" if entry["recorded"] else "refused"
    why = f" {entry['code']}: {entry['message']}" if entry["code"] else ""
    return f"{entry['round_id']}  {entry['request_id'][:SHORT]}  {done}, now {entry['state']}{why}"


def head_line(document: dict[str, Any]) -> str:
    """Give the head of the ledger after what was decided, as `govern ledger verify --head` takes it."""
    return f"head {document['head']}  keep it elsewhere: it alone shows an older ledger put back"


def log_lines(document: dict[str, Any]) -> list[str]:
    """Give the history of a round, a line per event."""
    lines = [
        f"{event['seq']:>6}  {event['at']}  {event['type']:<9}  {_event_words(event)}" for event in document["events"]
    ]
    return lines or [f"nothing was asked about {document['round_id']}"]


def verification_line(document: dict[str, Any]) -> str:
    """Give whether passage would be granted."""
    said = "granted" if document["granted"] else f"{document['code']}: {document['message']}"
    return f"{document['round_id']} {document['request_id'][:SHORT]}: {said}"


def published_lines(document: dict[str, Any]) -> list[str]:
    """Give what is wrong with ledger and published files, or how much was sound."""
    if document["code"] is None:
        return [f"{document['files']} published files and {document['events']} events are accounted for"]
    faults = [f"event {f['seq'] or '-'} of the ledger: {f['code']}: {f['message']}" for f in document["faults"]]
    return [f"{document['code']}: {said}" for said in (*faults, *(f["message"] for f in document["unaccounted"]))]


def _event_words(event: dict[str, Any]) -> str:
    if event["type"] == "REQUESTED":
        return f"{event['request_id'][:SHORT]} is {event['state']}"
    if event["type"] in ("RUN_FAILED", "RETRY"):
        return attempt_words(event)
    if event["type"] in ("DELEGATED", "UNDELEGATED"):
        return delegation_words(event)
    if "signed_by" in event:
        signed = ", ".join(event["signed_by"]) or "NOBODY"
        signed += "" if event["on_behalf_of"] is None else f" on behalf of {event['on_behalf_of']}"
        return f"{event['request_id'][:SHORT]} signed by {signed}: {json.dumps(event['reason'], ensure_ascii=False)}"
    return f"{event['asset']} by run {event['run_id']} on {event['decision_id'][:SHORT]}"
