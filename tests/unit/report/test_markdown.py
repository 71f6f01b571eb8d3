"""Markdown of verdicts: text of a round stays text when a code host renders it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from governance_pipeline.report.markdown import MAX_ROWS, code, verdict_markdown
from governance_pipeline.strict.excerpt import excerpt

RENDERER = MarkdownIt("gfm-like", {"linkify": False, "html": True})


def rendered(text: str) -> str:
    return RENDERER.render(text)


@given(st.text(min_size=1, max_size=60).filter(lambda text: excerpt(text).strip()))
def test_any_text_renders_as_one_code_element_of_itself(text):
    html = rendered(f"x {code(text)} y")
    [shown] = re.findall(r"^<p>x <code>(.*)</code> y</p>$", html.strip(), re.DOTALL)
    plain = shown.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
    assert plain == excerpt(text)


@given(st.text(alphabet="|`\\ ab<@#", min_size=1, max_size=30).filter(str.strip))
def test_no_text_makes_another_cell_or_another_element(made, text):
    document = made.verdict_of(made.finding(message=text, evidence=None))
    html = rendered(verdict_markdown(document))
    row = next(part for part in html.split("<tr>") if "cross-check-mismatch" in part).split("</tr>")[0]
    assert row.count("<td>") == 5
    assert set(re.findall(r"<([a-z]+)", row)) <= {"td", "strong", "code", "h"}


def test_hostile_text_makes_no_link_image_or_tag(made):
    html = rendered(verdict_markdown(made.verdict_of(made.finding(), made.dismissed())))
    outside = re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL)
    assert not re.search(r"<(a|img|script)\b|@everyone|javascript|#1\b", outside)
    assert "\x1b" not in html
    assert made.text[:4] not in outside


@pytest.mark.parametrize(("value", "shown"), [(None, "unknown"), ("", "(empty)"), ("  ", "(blank)"), (0, "`0`")])
def test_unknown_and_empty_are_said_in_words(value, shown):
    assert code(value) == shown


def test_a_long_list_is_cut_and_counted(made):
    document = made.verdict_of(*(made.finding(finding_id=f"{number:064x}") for number in range(MAX_ROWS + 3)))
    text = verdict_markdown(document)
    assert "### New findings: 53" in text
    assert "And 3 more in the document." in text


def test_worst_comes_first_and_the_status_is_in_the_heading(made):
    text = verdict_markdown(
        made.verdict_of(made.finding(decision="record"), made.finding("output-hash-mismatch", "block"))
    )
    assert text.startswith("## Verdict of `r-1`: **unknown**\n")
    assert text.index("**block**") < text.index("**record**")


def test_touched_units_are_shown_with_their_reach_and_an_unknown_one_in_words(made):
    side = {"impact_count": 7}
    units = [
        {
            "unit": made.text,
            "baseline": side,
            "candidate": {"impact_count": None},
            "signals": {"impact_increase": True},
        },
        {"unit": "new.py", "baseline": None, "candidate": side, "signals": {"impact_increase": None}},
    ]
    text = verdict_markdown(made.verdict_of(impact=units))
    assert "### Impact: 2" in text
    assert "| `7` | unknown | impact_increase |" in text
    assert "| `new.py` | not there | `7` | none |" in text
