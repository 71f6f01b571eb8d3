"""The page of vectors says what is there: every row of the table, every vector, and only tests that exist."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def _load():
    if "vectors_page" not in sys.modules:
        spec = importlib.util.spec_from_file_location("vectors_page", FOLDER / "page.py")
        sys.modules["vectors_page"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["vectors_page"])
    return sys.modules["vectors_page"]


page = _load()


def test_the_page_is_the_one_that_is_made_from_the_vectors():
    assert page.PAGE.read_text("utf-8") == page.page(), "run python tests/vectors/page.py"


def test_every_row_of_the_attack_table_and_every_acceptance_test_is_there_once():
    assert [row["row"] for row in page.rows()] == [*map(str, range(1, 61)), *(f"A{n}" for n in range(1, 11))]


def test_every_row_has_evidence_or_says_why_it_has_none():
    without = [row["row"] for row in page.rows() if not page.of_row(row) and not row["tests"]]
    assert without == [row["row"] for row in page.rows() if row["not_here"]]


def test_every_named_vector_and_test_exists():
    for row in page.rows():
        assert set(row["vectors"]) <= page.vectors().keys(), row["row"]
        for test in row["tests"]:
            path, _, name = test.partition("::")
            assert name in page.tests_of(path), test


def test_every_vector_that_names_a_row_names_one_of_the_table():
    numbers = {name[3:5] for name in page.vectors() if name.startswith("row")}
    assert numbers <= {f"{number:02d}" for number in range(1, 61)}
