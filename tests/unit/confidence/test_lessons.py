"""Lessons: found again when reworded, reinforced and not repeated, and a person's file is kept as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.confidence.lessons import ENFORCE_FROM, add_lesson, read_lessons, search_lessons
from governance_pipeline.errors import UnreadableError, UsageError

REWORDED = [
    ("Run the linter before every commit", "before committing, run the linter"),
    ("Never trust a cached row count", "a cached count of rows is never to be trusted"),
    ("Check the price table for unknown models", "unknown models: check the price tables"),
    ("Verifica el hash antes de publicar", "antes de publicar hay que verificar el hash"),
    ("Los subagentes necesitan contexto completo", "contexto completo para los subagentes"),
]
OTHERS = [
    ("Run the linter before every commit", "run the migration after the release"),
    ("Never trust a cached row count", "name the column after its unit"),
    ("Verifica el hash antes de publicar", "no borres la rama antes de revisar"),
]


@pytest.mark.parametrize(("first", "again"), REWORDED)
def test_a_lesson_said_in_other_words_is_reinforced_and_not_repeated(tmp_path, first, again):
    file = tmp_path / "LESSONS.md"
    assert add_lesson(file, first, "process")[1]
    lesson, is_new = add_lesson(file, again, "other")
    assert (is_new, lesson.text, lesson.category, lesson.times) == (False, first, "process", 2)
    assert len(read_lessons(file)) == 1


@pytest.mark.parametrize(("first", "other"), OTHERS)
def test_another_lesson_is_another_line(tmp_path, first, other):
    file = tmp_path / "LESSONS.md"
    add_lesson(file, first, "process")
    assert add_lesson(file, other, "process")[1]
    assert [one.text for one in read_lessons(file)] == [first, other]


def test_the_third_time_asks_for_enforcement_in_the_file_too(tmp_path):
    file = tmp_path / "LESSONS.md"
    times = [add_lesson(file, "pin every dependency", "build")[0].asks_for_enforcement for _ in range(4)]
    assert times == [False, False, True, True]
    assert ENFORCE_FROM == 3
    assert "- pin every dependency (\u00d74, MECHANICAL_ENFORCEMENT)" in file.read_text("utf-8")


def test_what_a_person_wrote_stays_where_it_is(tmp_path):
    file = tmp_path / "LESSONS.md"
    text = "# Ours\n\nintro - not a lesson\n\n## build\n\n- pin every dependency\n  more about it\n\n## data\n\n- count rows twice\n\nend\n"
    file.write_text(text, "utf-8")
    add_lesson(file, "use the lock file", "build")
    add_lesson(file, "close every handle", "new section")
    assert file.read_text("utf-8") == text.replace("about it\n", "about it\n- use the lock file\n") + (
        "\n## new section\n\n- close every handle\n"
    )


@pytest.mark.parametrize(("text", "category"), [("", "x"), ("a\nb", "x"), ("a", " "), ("a", "b\nc")])
def test_a_lesson_is_one_line_with_a_category(tmp_path, text, category):
    with pytest.raises(UsageError, match="one line"):
        add_lesson(tmp_path / "LESSONS.md", text, category)
    assert not (tmp_path / "LESSONS.md").exists()


def test_a_file_that_is_no_text_is_refused_and_left_alone(tmp_path):
    file = tmp_path / "LESSONS.md"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UnreadableError, match="no UTF-8"):
        add_lesson(file, "pin it", "build")
    assert file.read_bytes() == b"\xff\xfe"


@given(st.text(min_size=1, max_size=80).filter(lambda text: text.strip() and len(text.splitlines()) == 1))
def test_any_line_is_found_again_by_its_own_words(tmp_path_factory, text):
    file = tmp_path_factory.mktemp("lessons") / "LESSONS.md"
    add_lesson(file, text, "any")
    lessons = read_lessons(file)
    assert len(lessons) == 1
    found = search_lessons(file, text)
    assert found == [] or found[0].lesson == lessons[0]
