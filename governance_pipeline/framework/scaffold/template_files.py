"""The shipped template files, by language.

What belongs here: which languages there are, and the bytes of one template. What does not: which file a template
becomes (`manifest`) and a user's own wording (`user_template`).
"""

from __future__ import annotations

from importlib import resources
from typing import Final

LANGUAGES: Final = ("en", "es")
DEFAULT_LANGUAGE: Final = "en"

_SHARED: Final = "shared"


def template_bytes(language: str | None, name: str) -> bytes:
    """Read one shipped template; `language` is None for one that is the same in every language."""
    root = resources.files("governance_pipeline.framework") / "templates"
    return (root / (language or _SHARED) / name).read_bytes()
