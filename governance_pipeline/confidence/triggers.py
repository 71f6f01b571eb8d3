"""Which triggers a phrase fires, and what holds one back; it is looked up, nothing is recorded.

What belongs here: matching text with the table in `triggers.yaml`. What does not: scoring. A phrase is found word by
word, whatever its case, accents and punctuation; what a text means beyond its words stays with whoever reads it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = "govern/confidence-trigger/v1"
TEXT_CHARACTERS = 10_000
"""Most of a text that is looked at: a phrase stands in a message, not in a file."""

_NOT_A_WORD = re.compile(r"[^\w]+")


def trigger_document(text: str, language: str) -> dict[str, Any]:
    """Return what a text fires in either language; `language` is that of the explanations.

    A trigger whose guard holds it back is listed with `fires` false and the reason.
    """
    said = f" {plain_words(text[:TEXT_CHARACTERS])} "
    table = _table()
    fired = [_trigger(entry, said, language) for entry in table["triggers"]]
    signals = [
        {"name": entry["name"], "phrase": phrase, "does": entry["does"][language]}
        for entry in table["signals"]
        if (phrase := _phrase(entry["phrases"], said)) is not None
    ]
    return {"schema": SCHEMA, "triggers": [one for one in fired if one is not None], "signals": signals}


def trigger_lines(document: Mapping[str, Any]) -> list[str]:
    """Return one line per trigger and signal; one line where there is none."""
    lines = []
    for one in document["triggers"]:
        held = "" if one["fires"] else f" | not fired: {one['why_not']}"
        level = f" (level {one['level']})" if one["level"] else ""
        guard = f" | guard: {one['guard']}" if one["guard"] and one["fires"] else ""
        lines.append(f"{one['name']}{level}: {one['phrase']!r} → {one['does']}{guard}{held}")
    lines += [f"signal {one['name']}: {one['phrase']!r} → {one['does']}" for one in document["signals"]]
    return lines or ["nothing is fired"]


def plain_words(text: str) -> str:
    """Return the words of a text in lower case, without accents and punctuation, one blank between them."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(character for character in decomposed if not unicodedata.combining(character))
    return _NOT_A_WORD.sub(" ", letters).strip()


def _trigger(entry: dict[str, Any], said: str, language: str) -> dict[str, Any] | None:
    phrase = _phrase(entry["phrases"], said)
    if phrase is None:
        return None
    needs, guard = entry.get("needs"), entry.get("guard")
    fires = needs is None or _phrase(needs, said) is not None
    return {
        "name": entry["name"],
        "level": entry["level"],
        "scores": entry["scores"],
        "phrase": phrase,
        "fires": fires,
        "does": entry["does"][language],
        "guard": guard[language] if guard else None,
        "why_not": None if fires or guard is None else guard[language],
    }


def _phrase(phrases: Mapping[str, list[str]], said: str) -> str | None:
    """Return the first phrase of any language that stands in the text as whole words."""
    every = (phrase for of_language in phrases.values() for phrase in of_language)
    return next((phrase for phrase in every if f" {plain_words(phrase)} " in said), None)


@cache
def _table() -> dict[str, Any]:
    import yaml

    text = resources.files("governance_pipeline.confidence").joinpath("triggers.yaml").read_text("utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found
