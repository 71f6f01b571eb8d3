"""Below the text of a request stands the page of each claim that does not match; it is no part of what is signed."""

from __future__ import annotations

import pytest
from gate_world import HOUR, NOON, digest

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.gate.answers import inbox_document, request_document
from governance_pipeline.gate.claim_pages import claim_page_lines, listed_lines, shown_lines
from governance_pipeline.gate.shown import shown

LATER = NOON + HOUR


@pytest.fixture
def mismatching(world):
    """A request about a round with one mismatch, on which one hypothesis was tried."""
    world.make_round(mismatch=True)
    tried = {
        "round_id": "r1", "record_id": digest("r1 check"), "attempt_index": 1, "check_id": "cost", "hypothesis": "scope",
        "reads": "the first file", "formula": "sum(parts.cost)", "rows_read": "1 of 2 rows", "value": "10", "delta": "0",
        "holds": True,
    }  # fmt: skip
    world.lake.put("audit_explanations", "r1", frame_of("audit_explanations", [tried]))
    world.id = world.request()
    return world


def answer(world):
    verifier = world.verifier(LATER)
    return verifier.lake, request_document(shown(verifier, world.id, LATER), verifier, LATER)


def test_a_request_is_shown_with_the_page_of_its_mismatch_before_where_it_stands(mismatching):
    lake, document = answer(mismatching)
    lines = list(shown_lines(lake, document))
    page = lines.index(f"record     {digest('r1 check')}")
    text = "\n".join(lines[page:])
    for part in ("declared       10 USD", "computed       9 USD", "half a cent", "sum(parts.cost)", "logs/a.jsonl:1 /cost",
                 f"case-{digest('r1 check')}", "open, less than a day", "nobody yet", "not in the catalogue", "scope              10, meets the declared number"):  # fmt: skip
        assert part in text, part
    assert page < next(index for index, line in enumerate(lines) if line.startswith("state"))


def test_what_is_signed_says_nothing_of_explanations(mismatching):
    _, document = answer(mismatching)
    assert "meets the declared number" not in document["display"]
    assert "hypothesis" not in str(document["manifest"]["claims"])


def test_tables_that_are_not_those_of_the_request_are_not_shown(mismatching):
    lake, document = answer(mismatching)
    lake.put("audit_explanations", "r1", frame_of("audit_explanations", []))
    assert claim_page_lines(lake, document["manifest"]) == [
        "", "explained  the stored tables are not those of this request; make them again to see what was tried"
    ]  # fmt: skip


def test_a_request_whose_claims_all_match_has_no_page(asked):
    lake, document = answer(asked)
    assert claim_page_lines(lake, document["manifest"]) == []


def test_the_inbox_says_below_a_mismatch_what_was_tried(mismatching):
    verifier = mismatching.verifier(LATER)
    lines = list(listed_lines(verifier.lake, inbox_document(verifier, mismatching.history(), LATER)))
    claim = next(index for index, line in enumerate(lines) if line.startswith("  mismatch"))
    said = "open, less than a day, held by nobody yet"
    assert lines[claim + 1].startswith(f"    case-{digest('r1 check')[:16]}: {said}")
    assert lines[claim + 2] == "    meets the declared number: scope (10); 1 tried"
