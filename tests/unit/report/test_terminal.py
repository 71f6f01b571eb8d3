"""Claims about the terminal page: nothing from a log is obeyed, nothing is cut off unsaid, both values stand there."""

from __future__ import annotations

import copy
import io
import re

import pytest
from rich.console import Console

from governance_pipeline.report.audit_summary import verdict
from governance_pipeline.report.terminal import MAX_ROWS, audit_page
from governance_pipeline.report.texts import LANGUAGES, words

STYLE = re.compile(r"\x1b\[[0-9;]*m")


def page(document, *, language="en", width=160, terminal=False, markup=False) -> str:
    """Return what a console writes; with `terminal` including the styles."""
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, markup=markup, color_system="truecolor" if terminal else None, legacy_windows=False)  # fmt: skip
    console.print(audit_page(document, words(language), verdict(document, "warn")))
    return out.getvalue()


@pytest.mark.parametrize("width", [40, 80, 160, 400])
def test_no_control_or_invisible_character_of_a_log_reaches_the_terminal(document, width):
    text = page(document, width=width)
    assert all(character == "\n" or character.isprintable() for character in text)


def test_on_a_terminal_the_only_escapes_are_our_own_styles(document):
    text = STYLE.sub("", page(document, terminal=True))
    assert all(character == "\n" or character.isprintable() for character in text)


def test_a_log_sends_no_style_link_or_title_of_its_own(document):
    styled = page(document, terminal=True)
    assert "\x1b]" not in styled
    assert "[31m" not in "".join(STYLE.findall(styled)), "our red is bold"


def test_markup_of_a_log_is_shown_not_parsed_even_by_a_console_that_would(document):
    assert "[red]markup[/red]" in page(document, markup=True, width=300)


def test_a_long_name_is_cut_with_an_ellipsis(document):
    text = page(document, width=400)
    assert "n" * 59 + "…" in text
    assert "n" * 61 not in text


def test_a_credential_is_masked(document):
    assert "ghp_" not in page(document)


def test_mismatches_lead_and_show_both_values_the_difference_and_the_place(document):
    text = page(document, width=300)
    row = next(line for line in text.splitlines() if "total_cost_usd" in line)
    assert re.search(r"\b9\.5\b.*\b0\.5\b.*\b9\b.*declared\.jsonl:2", row)
    assert text.index("false") < text.index("verify") < text.index("read and checked")


def test_checks_that_cannot_fail_are_named_and_nothing_looks_clean(document):
    proof = {"catalogue_sha256": "0" * 64, "checks": 2, "cannot_fail": ["one\x1b[31m"]}
    text = page({**document, "proof": proof}, width=300)
    assert "1 that cannot fail" in text
    assert ": one\\x1b[31m" in text
    assert "Blocked: 1 of the checks" in text
    assert "exit code 4" in text


def test_more_rows_than_fit_are_counted(document):
    many = copy.deepcopy(document)
    wrong = [r for r in document["cross_checks"] if r["status"] == "mismatch"]
    many["cross_checks"] = wrong * 10
    assert f"and {len(wrong) * 10 - MAX_ROWS} more" in page(many)


def test_a_value_of_a_document_without_lines_is_found_by_its_pointer(document):
    one = copy.deepcopy(document)
    one["cross_checks"] = [r for r in one["cross_checks"] if r["field"] == "total_cost_usd"]
    one["cross_checks"][0]["declared_pointer"]["line"] = None
    assert "declared.jsonl /value" in page(one, width=300)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_last_line_is_the_verdict_with_its_exit_code(document, language):
    last = page(document, language=language).rstrip().splitlines()[-1]
    assert re.search(r"\b12\b.*\b12\b.*\b1\)$", last)


def test_what_is_unknown_is_listed_apart_from_what_is_false(document):
    text = page(document)
    assert "declared_not_a_number" in text
    assert "output_not_in_round" in text
    assert "declared_not_a_sha256" in text


def test_an_audit_that_found_nothing_says_so(document_of):
    text = page(document_of())
    assert "Nothing was audited" in text
    assert "agrees" not in text
