"""A verdict as one HTML page: no script, no request.

What belongs here: the page, from the document only. What does not: deciding. Text of a round goes through Jinja's
autoescape after control and bidi characters were made visible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.report.html import rendered
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHOWN_CHARACTERS: Final = 400
_WORDS: Final = {None: "unknown", True: "yes", False: "no"}


def verdict_html(document: Mapping[str, Any]) -> str:
    """Give a `govern/verdict/v1` document as one self-contained HTML page."""
    return rendered("verdict.html", _shown, document=document)


def _shown(value: object) -> str:
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    return excerpt(str(value), _SHOWN_CHARACTERS)
