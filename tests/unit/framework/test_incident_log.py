"""The table of incidents is read as it was written, whatever was written, and the rest of the file is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.errors import FaultyFileError
from governance_pipeline.framework.incident_log import IncidentRow, heading, read_rows, row_text, shown, with_rows

SEED = "| Fecha | Incidente | Causa Raíz | Resolución/Lección |\n|---|---|---|---|\n"
ROW = IncidentRow("2026-11-30", "two reports of done were false", "the worker graded itself", "a validator confirms")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Incidents\n",
        "| Date | Incident |\n|---|---|\n",
        heading("en").splitlines()[0] + "\n| no rule | b | c | d |\n",
    ],
)
def test_a_file_without_the_table_is_refused(text):
    with pytest.raises(FaultyFileError, match="no_table"):
        read_rows(text, "log.md")


def test_a_row_that_lost_a_cell_is_named_with_its_line():
    with pytest.raises(FaultyFileError, match="line 3: wrong_cells"):
        read_rows(heading("en") + "| 2026-11-30 | a | b |\n", "log.md")


@pytest.mark.parametrize("table", [SEED, heading("en"), heading("es"), heading("en").rstrip("\n")])
def test_rows_come_below_the_last_one_in_either_language(table):
    once = with_rows(table, [ROW], "log.md")
    twice = with_rows(once, [ROW._replace(date="2026-12-01")], "log.md")
    assert [logged.row.date for logged in read_rows(twice, "log.md")] == ["2026-11-30", "2026-12-01"]
    assert [logged.line for logged in read_rows(twice, "log.md")] == [3, 4]


def test_everything_beside_the_table_stays_as_it_was():
    text = "# Ours\r\n\nkeep | me\n\n" + heading("en") + row_text(ROW) + "\n\nafterword"
    added = with_rows(text, [ROW], "log.md")
    assert added.replace(row_text(ROW) + "\n", "", 1) == text


@given(st.tuples(*[st.text(max_size=40)] * 4))
def test_no_text_breaks_out_of_its_cell(cells):
    row = IncidentRow(*cells)
    text = with_rows(heading("en") + "\nafterword\n", [row, ROW], "log.md")
    assert [logged.row for logged in read_rows(text, "log.md")] == [shown(row), ROW]
