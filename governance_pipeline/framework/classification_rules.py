"""Classification rules: used on production data only after an audited sample has shown how often they are wrong.

What belongs here: recording an audit, the entries, and refusing a rule without one that counts. What does not: the
sample (`audited_sample`), and the approval of a person that the first use needs besides (`authorize`). An
audit is about the exact bytes of a rule; another version, or another baseline, needs another audit.
Source: spec/framework.md §5.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.framework.audited_sample import read_sample
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.ledger.event import AlreadyRecorded, NewEvent
from governance_pipeline.ledger.rebaselines import baseline_in_force, read_rebaselines
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import digest_file
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.reasons import Refusal
from governance_pipeline.trust.rule_audit_statement import sign_audit, stated_audit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.ledger.event import Event
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.keys import Signer
    from governance_pipeline.trust.root import TrustRoot

EVENT: Final = "CLASSIFICATION_RULE_AUDITED"
"""Type of the event; the name stays for ever, because events do."""
SCHEMA: Final = "govern/classification-rule-audit/v1"
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", re.ASCII)


class RuleCode(StrEnum):
    """Why a rule is refused; the codes never change their meaning."""

    NOT_VALIDATED = "RULE_NOT_VALIDATED"
    OTHER_VERSION = "RULE_OTHER_VERSION"
    STALE = "RULE_STALE"
    RECORDED = "RULE_AUDIT_RECORDED_BEFORE"


class RuleAudit(NamedTuple):
    """One audit that counts.

    Attributes:
        rule_id: the rule.
        rule_sha256: digest of its file.
        author: who wrote it.
        sample_sha256: digest of the audited sample.
        sample_size: items in it.
        errors: items the rule classified wrongly.
        error_rate: share of them; `error_low` and `error_high` are its two-sided 0.95 interval.
        error_low: as above.
        error_high: as above.
        auditors: who signed.
        seq: event of it.
        at: when it was recorded.
        is_stale: a re-baseline has ended since.
    """

    rule_id: str
    rule_sha256: str
    author: str
    sample_sha256: str
    sample_size: int
    errors: int
    error_rate: str
    error_low: str
    error_high: str
    auditors: tuple[str, ...]
    seq: int
    at: datetime
    is_stale: bool


def audit_rule(
    ledger: Ledger, root: TrustRoot, rule_id: str, rule: Path, sample: Path, author: str, signer: Signer, now: datetime
) -> RuleAudit:
    """Count the errors of a rule on an audited sample, sign and record it.

    Raises:
        UsageError: no legal id.
        Refusal: the signature would not count, or the auditor wrote the rule.
        FrameworkRefused: RULE_AUDIT_RECORDED_BEFORE: this sample was recorded for this version of the rule.
        FaultyFileError, UnreadableError: rule or sample cannot be used.
        StorageError: the ledger could not be written.
    """
    if not _ID.fullmatch(rule_id):
        raise UsageError(f"{excerpt(rule_id, 80)!r} is no id of a rule; letters, digits and ._- are, up to 80")
    found = read_sample(sample)
    document = {
        "schema": SCHEMA, "rule_id": rule_id, "rule_sha256": digest_file(rule).sha256, "author": author,
        "sample_sha256": found.sha256, "sample_size": found.size, "errors": found.errors,
        "error_rate": found.rate.value, "error_low": found.rate.low, "error_high": found.rate.high,
        "signed_at": instant_text(now),
    }  # fmt: skip
    envelope = sign_audit(document, signer)
    people = stated_audit(envelope, root, now, now).people
    unique = f"rule-audit:{rule_id}:{document['rule_sha256']}:{found.sha256}"
    body = {"rule_id": rule_id, "envelope": envelope.decode()}
    try:
        event = ledger.append_all([NewEvent(EVENT, people[0], body, now, unique)])[0]
    except AlreadyRecorded as recorded:
        message = f"this sample was recorded for this version of {rule_id} with event {recorded.event.seq}"
        raise FrameworkRefused(RuleCode.RECORDED, f"{message}; audit another sample") from None
    return _audit(event, root, now, stale_before=0)


def audits(ledger: Ledger, root: TrustRoot, now: datetime) -> list[RuleAudit]:
    """Give the audits that count, oldest first; those of an older baseline are marked stale.

    Raises:
        StorageError: the ledger cannot be read.
    """
    baseline = baseline_in_force(read_rebaselines(ledger), root, now)
    first = 0 if baseline is None else baseline.seq
    found = []
    for event in ledger.events(types={EVENT}):
        try:
            found.append(_audit(event, root, now, stale_before=first))
        except (LookupError, TypeError, ValueError, Refusal):
            continue  # it counts for nothing, so the rule stays unvalidated
    return found


def require_validated(ledger: Ledger, root: TrustRoot, rule_id: str, rule: Path, now: datetime) -> RuleAudit:
    """Give the latest audit of a rule as its file is now.

    Raises:
        FrameworkRefused: RULE_NOT_VALIDATED, RULE_OTHER_VERSION or RULE_STALE.
        UnreadableError: the file of the rule cannot be read.
    """
    of_rule = [audit for audit in audits(ledger, root, now) if audit.rule_id == rule_id]
    if not of_rule:
        message = (
            f"no audit of {excerpt(rule_id, 80)!r} counts; `govern classification audit` it on a real sample first"
        )
        raise FrameworkRefused(RuleCode.NOT_VALIDATED, message)
    sha256 = digest_file(rule).sha256
    same = [audit for audit in of_rule if audit.rule_sha256 == sha256]
    if not same:
        message = f"{rule_id} was audited as {of_rule[-1].rule_sha256}, its file is {sha256} now; audit it again"
        raise FrameworkRefused(RuleCode.OTHER_VERSION, message)
    if same[-1].is_stale:
        message = f"{rule_id} was audited under an older baseline (event {same[-1].seq}); audit it on the new scope"
        raise FrameworkRefused(RuleCode.STALE, message)
    return same[-1]


def contradicted(found: list[RuleAudit], after: int) -> Iterator[tuple[str, str]]:
    """Give each rule that a later audit, after event `after`, shows to be worse than was coded, and where to look.

    The whole interval of the later audit of the same version lies above that of the first one.
    """
    first: dict[tuple[str, str], RuleAudit] = {}
    for audit in found:
        before = first.setdefault((audit.rule_id, audit.rule_sha256), audit)
        if audit.seq > after and float(audit.error_low) > float(before.error_high):
            yield audit.rule_id, f"ledger event {audit.seq}"


def _audit(event: Event, root: TrustRoot, now: datetime, *, stale_before: int) -> RuleAudit:
    said = stated_audit(str(event.body["envelope"]).encode(), root, event.ts, now)
    document: Any = said.document
    texts = ("rule_id", "rule_sha256", "author", "sample_sha256", "error_rate", "error_low", "error_high")
    return RuleAudit(
        **{name: str(document[name]) for name in texts},
        sample_size=int(document["sample_size"]),
        errors=int(document["errors"]),
        auditors=said.people,
        seq=event.seq,
        at=event.ts,
        is_stale=event.seq < stale_before,
    )
