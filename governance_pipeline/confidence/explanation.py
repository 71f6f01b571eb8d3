"""Why a score is what it is: every event of a subject with what it did, and what was refused.

What belongs here: the document of `govern confidence explain`. What does not: arithmetic; it reads the rows of a fold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.confidence.amounts import START
from governance_pipeline.confidence.plain_numbers import points
from governance_pipeline.confidence.replay_document import alert_document, day_text, event_document
from governance_pipeline.confidence.score_documents import subject_document
from governance_pipeline.confidence.terms import Domain, Role
from governance_pipeline.errors import UsageError
from governance_pipeline.strict.excerpt import escape_unprintable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.confidence.fold import Folded
    from governance_pipeline.confidence.rating import Rated
    from governance_pipeline.confidence.registry import Registry
    from governance_pipeline.confidence.rows import EventRow

SCHEMA = "govern/confidence-explain/v1"


def explanation_document(registry: Registry, folded: Folded, rated: Rated, domain: str | None) -> dict[str, Any]:
    """Return the events of one subject in fold order; the applied deltas of a domain add up to its score minus 50.

    Raises:
        UsageError: no such subject or domain is known.
    """
    if domain is not None and domain not in list(Domain):
        raise UsageError(f"no domain {domain!r}; the five are {', '.join(Domain)}")
    role = rated.role or Role.AGENT
    subject_id = rated.subject_id or _lone(registry)
    if (role, subject_id) not in registry.weights:
        raise UsageError(f"no {role} {subject_id!r} is registered; `govern confidence status` lists them")
    rows = [
        _event(row)
        for row in folded.events
        if (row.event.role, row.event.subject_id) == (role, subject_id) and domain in (None, row.domain)
    ]
    alerts = [alert_document(a) for a in folded.alerts if a.track[:2] == (role, subject_id)]
    return {
        "schema": SCHEMA,
        "start": points(START),
        "subject": subject_document(folded.state, registry, role, subject_id),
        "domain": domain,
        "events": rows,
        "alerts": [alert for alert in alerts if domain in (None, alert["domain"])],
    }


def explanation_lines(document: Mapping[str, Any]) -> list[str]:
    """Return one line per event: what was submitted, what was applied and why, and the score after it."""
    lines = []
    for row in document["events"]:
        changed = f" of {row['raw']:+g}: {', '.join(row['reasons'])}" if row["reasons"] else ""
        where = f"{row['day']} {row['domain'] or 'seal'}"
        after = "" if row["score"] is None else f" → {row['score']:g}"
        what = " ".join(str(part) for part in (row["event_type"], row["pattern_code"], row["evidence"]) if part)
        lines.append(f"{where:<22}{row['applied']:+g}{changed}{after}  {what} ({row['event_id']})")
    lines += [
        f"{alert['day']} {alert['domain']}: {alert['kind'].replace('_', ' ')} ({alert['event_id']})"
        for alert in document["alerts"]
    ]
    subject = document["subject"]
    lines.append(f"{subject['role']} {subject['subject_id']}: global {subject['global']:g}, every domain starts at 50")
    return [escape_unprintable(line) for line in lines]


def _event(row: EventRow) -> dict[str, Any]:
    event = row.event
    return {
        **event_document(row),
        "day": day_text(event.day),
        "runtime": event.runtime,
        "event_type": event.event_type.value,
        "pattern_code": event.pattern_code,
        "evidence": event.evidence,
    }


def _lone(registry: Registry) -> str:
    agents = sorted(subject_id for role, subject_id in registry.weights if role is Role.AGENT)
    if len(agents) != 1:
        raise UsageError(f"whose score? Name --agent or --user; agents: {', '.join(agents) or 'none'}")
    return agents[0]
