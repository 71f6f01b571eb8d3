"""What the pages of the inbox show: the documents the commands print, with words and links beside them.

What belongs here: which template, and plain values for it. What does not: any rule, and escaping, which the templates
do for every value. Names, numbers and sentences come from the same documents as `govern gate inbox --json` and
`show --json`, so that page and command line never disagree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.gate.answers import inbox_document, log_document, request_document
from governance_pipeline.gate.case_deciding import find_case
from governance_pipeline.gate.case_page import case_document
from governance_pipeline.gate.cases import Cases
from governance_pipeline.gate.decision import TIER_MEANS
from governance_pipeline.gate.display import CONFIRM_CHARACTERS
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.inbox.durations import age_words, left_words
from governance_pipeline.gate.inbox.evidence import evidence_lines
from governance_pipeline.gate.inbox.signing import page_keys
from governance_pipeline.gate.page import SHORT
from governance_pipeline.gate.shown import shown
from governance_pipeline.gate.states import State
from governance_pipeline.report.case_page import age_words as case_age_words
from governance_pipeline.report.case_page import case_page
from governance_pipeline.report.texts import words
from governance_pipeline.strict.excerpt import mask_secrets
from governance_pipeline.trust.instants import instant_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from governance_pipeline.gate.passage import Verifier

LISTED_CLAIMS: Final = 3
"""Claims that do not match, shown of each request of the list; its own page has all of them."""
LABEL_CHARACTERS: Final = 11
"""Width of the labels in the text a person is shown (`display`)."""

_REJECTABLE: Final = frozenset({State.PENDING, State.APPROVED, State.BLOCKED_POLICY, State.STALE})
_REVOCABLE: Final = frozenset({State.APPROVED, State.CONSUMED})
_ALARMING: Final = ("claim      mismatch", "finding    block", "warning    ", "validator  none")
"""Beginnings of lines that are set apart; colour is added, never said by colour alone."""


class Page(NamedTuple):
    """A page: its template and the values it names."""

    template: str
    members: dict[str, Any]


class TextLine(NamedTuple):
    """A line of the exact text: its label as it stands, the rest, and whether it is set apart."""

    label: str
    rest: str
    is_alarming: bool


def list_page(verifier: Verifier, now: datetime) -> Page:
    """Give the list of what waits, oldest first."""
    document = inbox_document(verifier, read_history(verifier.ledger), now)
    items = [_listed(item, now) for item in document["requests"]]
    waiting = [item for item in items if item["state"] == State.PENDING]
    members = {
        **_set_up(document),
        "title": "Inbox",
        "items": items,
        "waiting_count": len(waiting),
        "blocked_count": len(items) - len(waiting),
        "oldest": age_words(items[0]["age_s"]) if items else None,
    }
    return Page("list.html", members)


def request_page(verifier: Verifier, request_id: str, now: datetime, origin: str) -> Page:
    """Give one request: everything a decision is about, and what can be decided.

    Raises:
        As `gate.shown.shown`.
    """
    document = request_document(shown(verifier, request_id, now), verifier, now)
    state, claims = document["state"], document["manifest"].get("claims", [])
    keys = page_keys(verifier.root, origin, now)
    enrolled = {p.id for p in verifier.root.principals if set(p.keys) & set(keys)}
    members = {
        **_set_up(document),
        **_timed(document, now),
        "title": document["round_id"],
        "request": document,
        "short_id": document["request_id"][:SHORT],
        "short_digest": document["subject_sha256"][:CONFIRM_CHARACTERS],
        "lines": text_lines(document["display"]),
        "claims": _claims([c for c in claims if c["status"] != "match"], document["cases"]),
        "matching_count": sum(claim["status"] == "match" for claim in claims),
        "verbs": _verbs(state, document["may_act"]),
        "has_passkeys": bool(keys),
        "enrolled": sorted(enrolled & set(document["may_act"])),
        "origin": origin,
    }
    return Page("request.html", members)


def case_view(verifier: Verifier, round_id: str, case_id: str, now: datetime) -> Page:
    """Give one escalation case: both values of each record, what was tried to explain them, and who has said what.

    Raises:
        UsageError: no such case.
        StorageError: the ledger cannot be read.
    """
    cases = Cases(verifier, now)
    document = case_document(cases, find_case(cases, case_id, round_id))
    item, texts = document["case"], words("en")
    rows = {row["record_id"]: row for row in document["details"] or ()}
    records = [
        {**record, "page": None if (row := rows.get(record["record_id"])) is None else _record_page(row, texts)}
        for record in item["records"]
    ]
    members = {
        **_set_up(document),
        "title": f"Case of {item['round_id']}",
        "case": item,
        "records": records,
        "age": case_age_words(item["age_days"], texts),
        "short_digest": item["sha256"][:CONFIRM_CHARACTERS],
        "words": texts,
    }
    return Page("case.html", members)


def round_page(verifier: Verifier, round_id: str, now: datetime) -> Page:
    """Give the history of one round: what was asked, decided and used, in order."""
    document = log_document(verifier, read_history(verifier.ledger), round_id, now)
    return Page("round.html", {**_set_up(document), "title": f"History of {round_id}", "log": document})


def evidence_page(verifier: Verifier, sha256: str, line: int) -> Page:
    """Give the lines of a stored log around the one a claim points to.

    Raises:
        As `evidence.evidence_lines`.
    """
    lines = evidence_lines(verifier.lake.root, sha256, line)
    members = {"sha256": sha256, "line": line, "lines": lines, "title": f"Evidence, line {line}"}
    return Page("evidence.html", {**_set_up({"is_throwaway": verifier.root.is_throwaway}), **members})


def text_lines(text: str) -> list[TextLine]:
    """Give the exact text line by line; labels and rests put together again are the very text."""
    return [
        TextLine(line[:LABEL_CHARACTERS], line[LABEL_CHARACTERS:], line.startswith(_ALARMING))
        for line in text.splitlines(keepends=True)
    ]


def _set_up(document: Mapping[str, Any]) -> dict[str, Any]:
    return {"tier_means": TIER_MEANS, "is_throwaway": document["is_throwaway"], "at": document.get("at")}


def _listed(item: dict[str, Any], now: datetime) -> dict[str, Any]:
    claims = item["open_claims"] or []
    cases = {claim["record_id"]: claim["case"] for claim in claims if claim["case"]}
    shown_claims = _claims(sorted(claims, key=lambda c: c["status"] != "mismatch")[:LISTED_CLAIMS], cases)
    more = {"claims": shown_claims, "more_claims_count": max(len(claims) - LISTED_CLAIMS, 0)}
    return {**item, **_timed(item, now), **more, "mismatches_count": sum(c["status"] == "mismatch" for c in claims)}


def _timed(item: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    left = (instant_of(item["expires"]) - now).total_seconds()
    return {"age": age_words(item["age_s"]), "left": left_words(left), "is_urgent": left < 6 * 3600}


def _claims(claims: Iterable[Mapping[str, Any]], cases: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{**claim, "case": cases.get(claim["record_id"])} for claim in claims]


def _verbs(state: str, may_act: list[str]) -> list[str]:
    """Give what the page offers; whether it is granted is asked when it is signed."""
    verbs = ["APPROVE"] if may_act else []
    verbs += ["REJECT"] if state in _REJECTABLE else []
    return verbs + (["REVOKE"] if state in _REVOCABLE else [])


def _record_page(row: Mapping[str, Any], texts: Mapping[str, str]) -> Any:
    pointer = {"file": row["declared_file_sha256"], "line": row["declared_line"]}
    shown_row = {**row, "declared_pointer": {**pointer, "pointer": mask_secrets(row["declared_pointer"] or "")}}
    return case_page(shown_row, row["explanations"], row["meaning"], texts)
