"""The page of one published round: one HTML file, figures inline, no script, no request.

What belongs here: a released round as HTML, from its tables and the approval only. What does not: deciding whether it
may be published (gate). Everything from a log goes through Jinja's autoescape after control and bidi characters were
made visible; the figures carry no text of a log except format names.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.report import audit_summary as summary
from governance_pipeline.report.html import audit_figures, case_pages, rendered
from governance_pipeline.report.round_figure import surface_by_step
from governance_pipeline.report.texts import words
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LANGUAGE: Final = "en"
_SHOWN_CHARACTERS = 400


def round_html(
    document: dict[str, Any],
    verdict: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    features: Mapping[str, Any],
    approval: Mapping[str, Any],
    standings: Mapping[tuple[str, str], Mapping[str, Any]] = MappingProxyType({}),
) -> str:
    """Return the report of one round as one self-contained HTML page.

    Args:
        document: `govern/audit/v1` of the round.
        verdict: `govern/verdict/v1` of the round.
        steps: rows of `features_step_surface`, null as None.
        features: row of `features_round`, null as None.
        approval: round_id, gate, subject_sha256, is_throwaway, trust_tier, and decisions (who, when, why, with what).
        standings: where the case of each record stood when the round was approved, by round and record id.
    """
    from markupsafe import Markup

    texts = words(LANGUAGE)
    return rendered(
        "round.html",
        _shown,
        w=texts,
        document=document,
        verdict=verdict,
        findings=[*verdict["new_findings"], *verdict["known_findings"]],
        features=features,
        approval=approval,
        mismatches=case_pages(document, texts, standings),
        hashes=summary.false_hashes(document),
        unverifiable=summary.unverifiable(document),
        not_checkable=summary.not_checkable(document),
        coverage=summary.coverage(document),
        surface=Markup(surface_by_step(steps)),  # noqa: S704 - SVG drawn by us, from numbers
        figures=audit_figures(document, texts),
    )


def _shown(value: object, length: int = _SHOWN_CHARACTERS) -> str:
    return "unknown" if value is None else excerpt(str(value), length)
