"""The forms in which `govern verdict show` prints a verdict: for people, for programs, for code hosts and CI.

What belongs here: one text per form. What does not: how each looks; that is in `verdict.page` and `report`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMS: Final = ("human", "json", "md", "sarif", "junit", "html")


def form_text(document: Mapping[str, Any], form: str) -> str:
    """Give a verdict as the text of one form other than `human`, with its final line feed."""
    from importlib.metadata import version

    from governance_pipeline.report.json_text import json_text
    from governance_pipeline.verdict.detectors import DETECTORS

    if form == "md":
        from governance_pipeline.report.markdown import verdict_markdown

        return verdict_markdown(document)
    if form == "junit":
        from governance_pipeline.report.junit import junit_xml

        return junit_xml(document, [detector.code for detector in DETECTORS])
    if form == "html":
        from governance_pipeline.report.verdict_page import verdict_html

        return verdict_html(document) + "\n"
    if form == "sarif":
        from governance_pipeline.report.sarif import sarif_log

        rules = {detector.code: detector.rule for detector in DETECTORS}
        return json_text(sarif_log(document, rules, version("governance-pipeline"))) + "\n"
    return json_text(document) + "\n"
