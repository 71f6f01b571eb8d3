"""The HTML report of an audit: one file, figures inline, no script, no request.

Everything from a log goes through Jinja's autoescape after control and bidi characters were made visible; the
figures are ours and carry no log text except format names.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.report import audit_summary as summary
from governance_pipeline.report.case_page import by_record, case_page
from governance_pipeline.report.trajectory_section import trajectory_section
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from markupsafe import Markup

    from governance_pipeline.report.case_page import CasePage
    from governance_pipeline.report.texts import Language
    from governance_pipeline.report.trajectory_series import Trajectory

    Standings = Mapping[tuple[str, str], Mapping[str, Any]]

GENERATOR: Final = "govern audit"
"""What a report says of who wrote it, near its beginning: how a later audit tells its own report from a source."""


def audit_html(
    document: dict[str, Any],
    words: dict[str, str],
    verdict: summary.Verdict,
    language: Language,
    trajectories: Sequence[Trajectory] = (),
) -> str:
    """Return the report as one self-contained HTML page; `trajectories` are what it draws of the rounds."""
    return rendered(
        "audit.html",
        _shown,
        w=words,
        language=language,
        generator=GENERATOR,
        document=document,
        verdict=verdict,
        sentence=words[verdict.text_key].format(**summary.verdict_values(document)),
        mismatches=case_pages(document, words),
        hashes=summary.false_hashes(document),
        findings=summary.findings(document),
        statuses=summary.statuses(document),
        unverifiable=summary.unverifiable(document),
        unknown_hashes=summary.unknown_hashes(document),
        not_checkable=summary.not_checkable(document),
        coverage=summary.coverage(document),
        not_used=summary.not_used(document),
        invalid_contracts=summary.invalid_contracts(document),
        figures=audit_figures(document, words),
        trajectories=trajectory_section(trajectories, words),
    )


def case_pages(
    document: dict[str, Any], words: dict[str, str], standings: Standings = MappingProxyType({})
) -> list[tuple[dict[str, Any], CasePage]]:
    """Return each mismatch of a document with its page, in document order.

    `standings` says where the case of a record stands, by round and record id.
    """
    explanations, meanings = by_record(document["explanations"]), document["meanings"]
    return [
        (
            record,
            case_page(
                record,
                explanations.get((record["round_id"], record["record_id"]), []),
                meanings.get(record["check_id"]),
                words,
                standings.get((record["round_id"], record["record_id"])),
            ),
        )
        for record in summary.mismatches(document)
    ]


def rendered(template: str, shown: Callable[[object], str], **members: Any) -> str:
    """Return one of the templates as text: everything escaped but `Markup`, a missing member is an error.

    Args:
        template: file name in `templates`.
        shown: its filter of that name, which makes text of a log safe and short.
        members: what the template names.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("governance_pipeline.report", "templates")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.filters["shown"] = shown
    return environment.get_template(template).render(members)


def audit_figures(document: dict[str, Any], words: dict[str, str]) -> list[Markup]:
    """Return the figures of an audit document as inline SVG."""
    from markupsafe import Markup

    from governance_pipeline.report import figures

    drawn = (figures.checks_by_format, figures.declared_against_computed, figures.records_by_format)
    return [Markup(draw(document, words)) for draw in drawn]  # noqa: S704 - SVG drawn by us


def _shown(value: object, length: int = 200) -> str:
    return "-" if value is None else excerpt(str(value), length)
