"""What an agent asks itself before it answers, and what follows a loss; the questions are data (`patterns.yaml`).

Source: spec/confidence.md §3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.confidence.patterns import pattern_texts
from governance_pipeline.confidence.wording import words

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = "govern/confidence-check/v1"


def checklist_document(language: str) -> dict[str, Any]:
    """Return the questions with the pattern each guards against, in a language of `wording.LANGUAGES`."""
    say = words(language)
    return {
        "schema": SCHEMA,
        "language": language,
        "questions": [
            {"pattern_code": text.pattern.code, "question": text.question[language]}
            for text in pattern_texts()
            if text.question
        ],
        "after_loss": say["after_loss"],
        "gains": say["gains"],
    }


def checklist_lines(document: Mapping[str, Any]) -> list[str]:
    """Return the list for a person."""
    asked = [f"{one['question']} → {one['pattern_code']}" for one in document["questions"]]
    return [*asked, document["after_loss"], document["gains"]]
