"""Claims about the HTML report: one file that asks nobody for anything, runs nothing, and is a pure function."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from governance_pipeline.report import figures
from governance_pipeline.report.audit_summary import verdict
from governance_pipeline.report.html import audit_html
from governance_pipeline.report.texts import LANGUAGES, words

TAGS = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "span", "details", "summary", "strong", "dl",
    "dt", "dd", "code", "br", "table", "tr", "th", "td", "svg", "defs", "g", "path", "use", "clippath", "rect", "text",
    "tspan",
}  # fmt: skip
ADDRESSES = {"href", "src", "xlink:href", "action", "data", "poster", "srcset", "background", "formaction", "style"}


class Page(HTMLParser):
    """All tags, attributes and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)


def html(document, language="en") -> str:
    return audit_html(document, words(language), verdict(document, "warn"), language)


@pytest.fixture(scope="module")
def report(document) -> str:
    return html(document)


@pytest.fixture(scope="module")
def page(report) -> Page:
    return Page(report)


def test_no_tag_comes_from_a_log(page):
    assert set(page.tags) - TAGS == set()


def test_no_attribute_runs_anything_or_asks_another_machine(page):
    assert [name for name, _ in page.attributes if name.startswith("on")] == []
    for name, value in page.attributes:
        if name in ADDRESSES:
            assert not re.search(r"//|javascript:|data:|@import|url\((?!#)", value or ""), (name, value)
        if name in {"href", "src", "xlink:href"}:
            assert value.startswith("#")


def test_the_style_sheet_asks_for_nothing(report):
    for sheet in re.findall(r"<style.*?</style>", report, re.DOTALL):
        assert not re.search(r"@import|url\((?!#)|//", sheet)


def test_the_page_forbids_itself_everything_but_its_own_style(page):
    where = page.attributes.index(("http-equiv", "Content-Security-Policy"))
    assert page.attributes[where + 1] == ("content", "default-src 'none'; style-src 'unsafe-inline'")


def test_no_control_or_invisible_character_is_in_the_file(report):
    assert all(character == "\n" or character.isprintable() for character in report)


def test_hostile_text_is_shown_as_text(page):
    shown = "".join(page.texts)
    for text in ("<script>alert(1)</script>", "![pixel](http://evil.example/p.png)", "[red]markup[/red]",
                 '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "{0.__class__}", "&lt;b&gt;", "\\u202egnp.exe"):  # fmt: skip
        assert text in shown
    assert "n" * 200 not in shown
    assert "49" not in re.findall(r"· (\S+):", shown)


def test_credentials_are_masked(report):
    assert "ghp_" not in report


def test_both_values_the_formula_and_the_place_of_a_mismatch_are_there(page):
    shown = " ".join(page.texts)
    for text in (
        "9.5",
        "0.5",
        "sum(audit_log.token_cost)",
        "declared.jsonl",
        "round_owner",
        "half of the last declared",
    ):
        assert text in shown


def test_every_list_of_the_terminal_page_has_its_heading(report, document):
    english = words("en")
    for key in ("mismatches", "hashes", "unverifiable", "unknown_hashes", "not_checkable", "coverage", "not_used",
                "bad_contract"):  # fmt: skip
        assert f"<h2>{english[key]}" in report, key
    assert report.count("<details") == document["counts"]["mismatch"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_says_its_language_and_its_verdict(document, language, monkeypatch):
    for drawn in ("checks_by_format", "declared_against_computed", "records_by_format"):
        monkeypatch.setattr(figures, drawn, lambda *_: "")  # they cost a second and have tests of their own
    report = html(document, language)
    assert f'<html lang="{language}">' in report
    assert f'class="verdict verdict_findings">{words(language)["verdict_findings"][:8]}' in report


def test_an_audit_that_found_nothing_has_no_figure_and_says_so(document_of):
    report = html(document_of())
    assert "<svg" not in report
    assert "Nothing was audited" in report


DRAW = """
import json, sys
from governance_pipeline.report.audit_summary import verdict
from governance_pipeline.report.html import audit_html
from governance_pipeline.report.texts import words
document = json.load(sys.stdin)
sys.stdout.write(audit_html(document, words("en"), verdict(document, "warn"), "en"))
"""


def test_the_same_document_gives_the_same_bytes_in_another_process_whatever_lies_in_its_folder(
    document, report, tmp_path
):
    (tmp_path / "matplotlibrc").write_text(
        "text.usetex: True\nsvg.fonttype: path\nfont.size: 30\nsvg.hashsalt: other\nbackend: pdf\n", "utf-8"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", DRAW], input=json.dumps(document).encode(), cwd=tmp_path, env=environment,
        capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout.decode() == report
