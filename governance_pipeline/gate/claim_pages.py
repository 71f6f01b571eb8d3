"""The page of each claim that does not match, beside the text of a request: what was tried to explain it included.

What belongs here: reading the tables a request binds, and handing their rows to the page of a case (`report`). What
does not: the text a person signs (`display`): an explanation excuses nothing, so no signature is about one.
"""

from __future__ import annotations

from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.crosscheck.catalogue import catalogue
from governance_pipeline.errors import StorageError
from governance_pipeline.gate.page import inbox_lines, standing_lines
from governance_pipeline.report.audit_document import as_explanation, as_record
from governance_pipeline.report.case_page import case_page, explained_line, page_lines
from governance_pipeline.report.texts import words
from governance_pipeline.vocabulary import RecordStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from governance_pipeline.storage.lake import Lake

TABLES: Final = ("audit_cross_checks", "audit_explanations")
SHOWN_PAGES: Final = 20
"""Claims whose page is shown below a request; the tables have all of them."""

_STALE: Final = "explained  the stored tables are not those of this request; make them again to see what was tried"


class _Told(NamedTuple):
    records: Mapping[str, dict[str, Any]]
    explanations: Mapping[str, list[dict[str, Any]]]


def listed_lines(lake: Lake, document: Mapping[str, Any]) -> Iterator[str]:
    """Yield `govern/gate-inbox/v1` as lines, each mismatch with what was tried on it; the tables are read only then."""
    yield from inbox_lines(dict(document), _explained(lake, {item["round_id"] for item in document["requests"]}))


def shown_lines(lake: Lake, document: Mapping[str, Any]) -> Iterator[str]:
    """Yield `govern/gate-request/v1` as lines: what is signed, the pages of its cases, and where it stands."""
    yield from document["display"].splitlines()
    yield from claim_page_lines(lake, document["manifest"], document["cases"])
    yield from standing_lines(dict(document))


def claim_page_lines(
    lake: Lake, manifest: Mapping[str, Any], cases: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
) -> list[str]:
    """Return the pages of the claims of a manifest that do not match, mismatches first; empty when all match.

    Rows are shown only while the lake holds the very tables the manifest names. `cases` says where the case of a record
    stands, by record id.
    """
    order = (RecordStatus.MISMATCH, RecordStatus.UNVERIFIABLE)
    claims = [claim for status in order for claim in manifest["claims"] if claim["status"] == status]
    if not claims:
        return []
    told = _told(lake, manifest["round_id"], {table["table"]: table["sha256"] for table in manifest["upstream"]})
    if told is None:
        return ["", _STALE]
    texts, meanings = words("en"), catalogue().meanings
    lines = [""]
    for claim in claims[:SHOWN_PAGES]:
        record = told.records.get(claim["record_id"])
        if record is not None:
            tried, standing = told.explanations[record["record_id"]], cases.get(record["record_id"])
            page = case_page(record, tried, meanings.get(record["check_id"]), texts, standing)
            lines += [f"record     {record['record_id']}", *page_lines(page, texts)]
    if len(claims) > SHOWN_PAGES:
        lines.append(f"           and {len(claims) - SHOWN_PAGES} more; the table audit_cross_checks has all of them")
    return lines


def _explained(lake: Lake, round_ids: Iterable[str]) -> dict[str, str]:
    """Record id -> the one line that says what was tried on it, for the mismatches of some rounds."""
    texts, lines = words("en"), dict[str, str]()
    for round_id in round_ids:
        told = _told(lake, round_id, {})
        for record_id, rows in (told.explanations if told else {}).items():
            lines[record_id] = explained_line(rows, texts)
    return lines


def _told(lake: Lake, round_id: str, digests: Mapping[str, str]) -> _Told | None:
    """Read both tables of a round; None when one is not there, or is not the one of `digests`."""
    if any(lake.digest(table, round_id) != digests.get(table, lake.digest(table, round_id)) for table in TABLES):
        return None
    try:
        checks, tried = (plain_rows(lake.get(table, round_id)) for table in TABLES)
    except StorageError:
        return None
    explanations: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in tried:
        explanations[row["record_id"]].append(as_explanation(row))
    return _Told({row["record_id"]: as_record(row) for row in checks}, explanations)
