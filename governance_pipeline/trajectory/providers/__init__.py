"""The languages whose files become part of a repository's graph, one list.

What belongs here: the list and the look-up by file name. What does not: anything about one language. A file of a
language that is not listed is a node without edges, and is counted as one nobody read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.trajectory.providers.go import LANGUAGE as GO
from governance_pipeline.trajectory.providers.java import LANGUAGE as JAVA
from governance_pipeline.trajectory.providers.javascript import JAVASCRIPT, TSX, TYPESCRIPT
from governance_pipeline.trajectory.providers.python import LANGUAGE as PYTHON
from governance_pipeline.trajectory.providers.rust import LANGUAGE as RUST

if TYPE_CHECKING:
    from governance_pipeline.trajectory.providers.language import Language

LANGUAGES: Final[tuple[Language, ...]] = (PYTHON, JAVASCRIPT, TYPESCRIPT, TSX, GO, JAVA, RUST)
"""Every language with a provider."""

_BY_SUFFIX: Final = {suffix: language for language in LANGUAGES for suffix in language.suffixes}

_CONFIGURATION: Final = frozenset(name for language in LANGUAGES for name in language.configuration)


def language_of(path: str) -> Language | None:
    """Give the language of a file by the end of its name; None when there is no provider for it."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return _BY_SUFFIX.get(name[dot:]) if dot > 0 else None


def is_configuration(path: str) -> bool:
    """Tell whether some provider reads this file to know what imports mean (go.mod, tsconfig.json, …)."""
    return path.rpartition("/")[2] in _CONFIGURATION
