"""Claims about the figures: drawn from the document alone, with every value a number can have, and no log text."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import matplotlib as mpl
import pytest

from governance_pipeline.report import figures
from governance_pipeline.report.texts import words

WORDS = words("en")
DRAWN = (figures.checks_by_format, figures.records_by_format, figures.declared_against_computed)


@pytest.mark.parametrize("draw", DRAWN, ids=lambda draw: draw.__name__)
def test_a_figure_is_one_well_formed_svg_without_any_text_of_a_log(document, draw):
    svg = draw(document, WORDS)
    assert ET.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    for foreign in ("alert(1)", "evil.example", "markup", "nnnn", "total_cost_usd", "everything", "<metadata"):
        assert foreign not in svg


@pytest.mark.parametrize("draw", DRAWN, ids=lambda draw: draw.__name__)
def test_nothing_to_draw_draws_nothing(draw):
    assert draw({"files": [], "cross_checks": []}, WORDS) == ""


def test_any_number_that_can_be_declared_can_be_drawn(document):
    record = next(r for r in document["cross_checks"] if r["status"] == "mismatch")
    values = ("0", "-1", "9" * 38, "-" + "9" * 38, "0." + "0" * 29 + "1", "1" + "0" * 308, "1" + "0" * 400)
    records = [record | {"declared": value} for value in values]
    drawn = figures.declared_against_computed({"cross_checks": records}, WORDS)
    assert f"mismatch ({len(values)})" in drawn, "what is beyond the axes is counted all the same"


def test_drawing_leaves_the_settings_of_the_process_alone(document):
    with mpl.rc_context({"text.usetex": True, "font.size": 33, "svg.fonttype": "path"}):
        before = dict(mpl.rcParams)
        svg = figures.records_by_format(document, WORDS)
        assert dict(mpl.rcParams) == before
    assert svg == figures.records_by_format(document, WORDS)
