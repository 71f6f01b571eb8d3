"""`govern confidence lessons …|trigger`: lessons without duplicates, and what a phrase would set off.

What belongs here: arguments and printing. What does not: rules; they are in `confidence`.
"""

from __future__ import annotations

from pathlib import Path

import click

from governance_pipeline.cli.confidence_options import LANG, NO_EMOJI, say
from governance_pipeline.cli.signing import AS_JSON
from governance_pipeline.strict.excerpt import escape_unprintable

_FILE = click.option(
    "--file", type=click.Path(dir_okay=False, path_type=Path), default=Path("LESSONS_LEARNED.md"), show_default=True,
    help="The lessons, in Markdown.",
)  # fmt: skip


@click.group(epilog="Example: govern confidence lessons add 'run the linter before the commit' --category process")
def lessons() -> None:
    """Keep lessons learned: each once, reinforced when it comes again, enforced from the third time on."""


@lessons.command(epilog="Example: govern confidence lessons add 'never trust a cached count' --category data")
@click.argument("text")
@click.option("--category", required=True, help="Section it belongs to.")
@_FILE
@LANG
@NO_EMOJI
@AS_JSON
def add(text: str, category: str, file: Path, lang: str, no_emoji: bool, as_json: bool) -> None:
    """Add TEXT, or reinforce the lesson that says the same; the search is never skipped."""
    from governance_pipeline.confidence.lessons import add_lesson, confirmation, lesson_document
    from governance_pipeline.confidence.wording import words

    lesson, is_new = add_lesson(file, text, category)
    line = confirmation(lesson, is_new, file.name, words(lang), has_icons=not no_emoji)
    document = {"schema": "govern/confidence-lesson/v1", "is_new": is_new, "lesson": lesson_document(lesson)}
    say(document, [escape_unprintable(line)], as_json=as_json)


@lessons.command(epilog="Example: govern confidence lessons search 'cached counts'")
@click.argument("text")
@_FILE
@AS_JSON
def search(text: str, file: Path, as_json: bool) -> None:
    """List lessons that say the same as TEXT, most alike first; synonyms and translations are not seen."""
    from governance_pipeline.confidence.lessons import lesson_document, search_lessons

    found = search_lessons(file, text)
    document = {
        "schema": "govern/confidence-lessons/v1",
        "lessons": [{**lesson_document(one.lesson), "likeness": round(one.likeness, 4)} for one in found],
    }
    lines = [f"{one.likeness:.2f} §{one.lesson.category}: {one.lesson.text} x{one.lesson.times}" for one in found]
    say(document, [escape_unprintable(line) for line in lines] or ["no lesson says that yet"], as_json=as_json)


@lessons.command("list", epilog="Example: govern confidence lessons list --json")
@_FILE
@AS_JSON
def list_lessons(file: Path, as_json: bool) -> None:
    """List all lessons with how often each came."""
    from governance_pipeline.confidence.lessons import lesson_document, read_lessons

    found = read_lessons(file)
    document = {
        "schema": "govern/confidence-lessons/v1",
        "lessons": [{**lesson_document(one), "likeness": None} for one in found],
    }
    lines = [f"§{one.category}: {one.text} x{one.times}" for one in found]
    say(document, [escape_unprintable(line) for line in lines] or ["no lessons yet"], as_json=as_json)


@click.command(epilog="Example: govern confidence trigger 'puntúa esto, por favor' --lang es")
@click.argument("text")
@LANG
@AS_JSON
def trigger(text: str, lang: str, as_json: bool) -> None:
    """Say which triggers TEXT fires, and why not; nothing is recorded."""
    from governance_pipeline.confidence.triggers import trigger_document, trigger_lines

    document = trigger_document(text, lang)
    say(document, trigger_lines(document), as_json=as_json)
