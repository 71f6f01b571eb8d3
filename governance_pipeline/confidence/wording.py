"""The words of the confidence display in English and Spanish (data: `wording.yaml`).

What belongs here: finding a word. What does not: layout (`display`).
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LANGUAGES = ("en", "es")


@cache
def words(language: str) -> Mapping[str, str]:
    """Return the words of a language.

    Raises:
        KeyError: no such language; `LANGUAGES` lists them.
    """
    import yaml

    text = resources.files("governance_pipeline.confidence").joinpath("wording.yaml").read_text("utf-8")
    found: Mapping[str, str] = yaml.safe_load(text)[language]
    return found
