"""The HTML page of a verdict: inert, complete, and it says unknown where nobody knows."""

from __future__ import annotations

from html.parser import HTMLParser

from governance_pipeline.report.verdict_page import verdict_html


class Tags(HTMLParser):
    """Collects tags and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_hostile_text_makes_no_element_and_no_attribute(made):
    page = verdict_html(made.verdict_of(made.finding(), made.dismissed()))
    read = Tags()
    read.feed(page)
    assert not read.tags & {"img", "script", "a", "iframe", "link", "base", "form"}
    assert read.attributes <= {"charset", "class", "content", "http-equiv", "lang"}
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_everything_of_the_document_has_a_place(made):
    page = verdict_html(made.verdict_of(made.finding(), made.dismissed(), requires_justification=True))
    for text in ("unknown", "A person must justify", "cross-check-mismatch", "dismissed by ana", "What was left out: 1",
                 "log-accounted", "check_not_run", "Criteria: 1", "govern verdict check --round r-1"):  # fmt: skip
        assert text in page


def test_a_verdict_without_findings_says_so(made):
    page = verdict_html(made.verdict_of(status="pass", checks_run=[], checks_skipped=[], unknowns=[], criteria=[]))
    assert "No finding." in page
    assert "<p>Nothing.</p>" in page


def test_touched_units_are_shown_with_their_reach(made):
    side = {"impact_count": 7}
    unit = {"unit": made.text, "baseline": None, "candidate": side, "signals": {"impact_increase": True}}
    page = verdict_html(made.verdict_of(impact=[unit]))
    assert "Impact of the touched units: 1" in page
    assert "<td>not there</td><td>7</td><td>impact_increase </td>" in page
