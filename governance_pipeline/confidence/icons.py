"""The icons of the confidence display; without them the same words stand alone (`--no-emoji`).

Source: spec/confidence.md §1 (domains), §4 and §8 (maturity, severities, escalation).
"""

from __future__ import annotations

from typing import Final

from governance_pipeline.confidence.terms import Domain, Escalation, EventType, Maturity, Severity

DOMAIN_ICON: Final = {
    Domain.TECH: "🔧",
    Domain.OPS: "⚙️",
    Domain.JUDGMENT: "🧠",
    Domain.COMMS: "💬",
    Domain.ORCH: "🎯",
}

DOMAIN_SHORT: Final = {
    Domain.TECH: "TECH",
    Domain.OPS: "OPS",
    Domain.JUDGMENT: "JDG",
    Domain.COMMS: "COM",
    Domain.ORCH: "ORC",
}
"""Heads of the columns of the two-row table."""

SEVERITY_ICON: Final = {Severity.MILD: "🟡", Severity.MEDIUM: "🟠", Severity.SEVERE: "🔴", Severity.CRITICAL: "⚫"}

EVENT_ICON: Final = {EventType.PRO_PATTERN: "🟢", EventType.BONUS: "⭐", EventType.EXCEPTIONAL: "🚀"}

MATURITY_ICON: Final = {
    Maturity.NEW: "🥒",
    Maturity.JUNIOR: "🟡",
    Maturity.ESTABLISHED: "🟠",
    Maturity.MATURE: "🔵",
}

ESCALATION_ICON: Final = {
    Escalation.CORRECT: "",
    Escalation.STOP_AND_ROOT_CAUSE: "⚠️",
    Escalation.MECHANICAL_ENFORCEMENT: "🔴",
    Escalation.REDESIGN: "⚫",
}
