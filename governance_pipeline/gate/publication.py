"""What is published of a released round: its report, and its features with the name of who approved them.

What belongs here: making and writing gated assets from a `Release`, and from nothing else. What does not: letting pass
(`guard`). Nothing here takes a lake to read from or a table by name: the only way to the rows is a release, so what is
published is what was approved. The same release gives the same bytes, so a run that died writes again without doing
anything twice.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.crosscheck.builtin import not_checkable
from governance_pipeline.crosscheck.catalogue import catalogue
from governance_pipeline.gate.published import receipt
from governance_pipeline.gate.published_pages import REPORTS, page_path
from governance_pipeline.ledger.cases import CaseEvent, read_cases
from governance_pipeline.report.audit_document import audit_document
from governance_pipeline.report.round_page import round_html
from governance_pipeline.storage.atomic import READ_ONLY
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.vocabulary import RecordStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    import pandas as pd

    from governance_pipeline.gate.guard import Release
    from governance_pipeline.storage.lake import Stored


class Report(NamedTuple):
    """The report of a round: its row, and the page."""

    frame: pd.DataFrame
    html: bytes


def published_features(release: Release) -> pd.DataFrame:
    """Return one row per step of the released round; columns as contract `published_features`."""
    (whole,) = release.inputs.rows("features_round")
    added = {
        "aus_round": whole["aus_round"],
        "aus_reason": whole["aus_reason"],
        "evidence_share_round": whole["evidence_share"],
        "evidence_reason": whole["evidence_reason"],
        **_approval_columns(release),
    }
    return frame_of("published_features", ({**row, **added} for row in release.inputs.rows("features_step_surface")))


def published_round_report(release: Release) -> Report:
    """Return the report of the released round and its row; columns as contract `published_round_report`."""
    html = _html(release).encode()
    digest = sha256_hex(html)
    (verdict,) = release.inputs.rows("verdict_rounds")
    statuses = [row["status"] for row in release.inputs.rows("audit_cross_checks")]
    row = {
        "round_id": release.round_id,
        "html_sha256": digest,
        "html_path": page_path(digest),
        "html_bytes": len(html),
        "verdict_status": verdict["status"],
        "findings_count": verdict["findings_count"],
        **{f"{status}_count": statuses.count(status) for status in RecordStatus},
        **_approval_columns(release),
        "approved_at": max(approval.recorded.ts for approval in release.approvals),
    }
    return Report(frame_of("published_round_report", [row]), html)


def write(release: Release) -> Stored:
    """Make the asset a release is for and put it into the lake, with its receipt in the metadata of the file.

    Raises:
        ContractBreach: a row breaks its contract; nothing is written.
        StorageError: it could not be written.
    """
    return WRITERS[release.asset](release)


def publish(release: Release, *, now: Callable[[], datetime]) -> Stored:
    """Write the asset and record that it was done: what the body of a gated asset calls for each release.

    Raises:
        As `write` and `Release.done`; the passage is then unfinished, and the same root run may go on.
    """
    stored = write(release)
    release.done(stored, now=now())
    return stored


def _write_features(release: Release) -> Stored:
    return _put(release, published_features(release))


def _write_report(release: Release) -> Stored:
    report = published_round_report(release)
    digest = sha256_hex(report.html)
    with release.lake.writer.locked(REPORTS):
        release.lake.writer.write(release.lake.root / page_path(digest), report.html, mode=READ_ONLY)
    return _put(release, report.frame)


WRITERS: Final[Mapping[str, Callable[[Release], Stored]]] = {
    "published_round_report": _write_report,
    "published_features": _write_features,
}
"""Gated asset -> what makes and writes it."""


def _put(release: Release, frame: pd.DataFrame) -> Stored:
    return release.lake.put(
        release.asset, release.round_id, frame, receipt(release.decision_ids, release.subject_sha256)
    )


def _approval_columns(release: Release) -> dict[str, Any]:
    return {
        "approved_by": json.dumps(release.approved_by, ensure_ascii=False),
        "decision_ids": json.dumps(release.decision_ids),
        "subject_sha256": release.subject_sha256,
        "is_throwaway": any(approval.decision.is_throwaway for approval in release.approvals),
    }


def _html(release: Release) -> str:
    inputs = release.inputs
    frames = {table: release.frame(table) for table in release.gate.upstream}
    (verdict,) = inputs.rows("verdict_rounds")
    (features,) = inputs.rows("features_round")
    decisions = [
        {
            "approver": approval.approver,
            "recorded_at": instant_text(approval.recorded.ts),
            "reason": approval.decision.reason,
            "assurance": str(approval.decision.assurance),
            "decision_id": approval.decision_id,
            "ledger_seq": approval.recorded.seq,
            "key_fingerprint": approval.key_fingerprint,
        }
        for approval in release.approvals
    ]
    return round_html(
        audit_document(frames, not_checkable(frames["core_declared"]), catalogue().meanings),
        parse_json(verdict["document"].encode()),
        plain_rows(release.frame("features_step_surface")),
        features,
        {
            "round_id": release.round_id,
            "gate": release.gate.name,
            "subject_sha256": release.subject_sha256,
            "trust_tier": release.approvals[0].decision.trust_tier,
            "is_throwaway": any(approval.decision.is_throwaway for approval in release.approvals),
            "decisions": decisions,
            "upstream": inputs.digests,
        },
        _standings(release),
    )


def _standings(release: Release) -> dict[tuple[str, str], dict[str, Any]]:
    """Say where the mismatch cases of a round stood when it was approved; an open one lets nothing pass.

    By the ledger as it was then, so that the same release gives the same bytes.
    """
    last, history = max(approval.recorded.seq for approval in release.approvals), read_cases(release.ledger)
    found = {}
    for ref, opened in history.opened.items():
        ends = [s.ts for s in history.steps.get(ref, ()) if s.type is CaseEvent.RESOLVED and s.seq <= last]
        if ref.round_id != release.round_id or not opened.case.is_mismatch or not ends:
            continue
        for record in opened.case.records:
            found[ref.round_id, record.record_id] = {
                "case_id": ref.case_id,
                "state": "resolved",
                "age_days": max((ends[-1] - opened.opened_at).days, 0),
                "is_overdue": False,
                "owner": None,
            }
    return found
