"""Lists of gitignore-style globs: whether a file is among those a contract names.

What belongs here: the decision among the globs of one list. What does not: how one glob reads (`rounds.glob_regex`).
Source: spec/ingest.md §2. The last glob of a list that matches decides, and `!` takes out again, below an excluded
folder too, which git itself does not do.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from governance_pipeline.errors import UsageError
from governance_pipeline.rounds.glob_regex import spelling_fault, translate
from governance_pipeline.rounds.paths import ROOT, is_outside, normal_form
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable


def glob_fault(glob: str) -> str | None:
    """What is wrong with a glob, as a sentence that says what to do; None when it is sound.

    Bad are: nothing but `!` or `/`, a blank at either end, a leading `#`, `//`, an unclosed class, a lone backslash
    at the end.
    """
    fault = spelling_fault(glob)
    return None if fault is None else f"'{excerpt(glob, 80)}' is no glob: {fault}"


class Globs:
    """A list of globs, asked about one path at a time.

    >>> Globs(["src/*", "!src/gen/**"]).match("src/a/b.py")
    True

    Attributes:
        patterns: the globs as written.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        """Accept the list or refuse it whole.

        Raises:
            UsageError: names every bad glob of the list.
        """
        self.patterns = tuple(patterns)
        faults = [fault for fault in map(glob_fault, self.patterns) if fault is not None]
        if faults:
            raise UsageError("; ".join(faults))

    def match(self, path: str) -> bool:
        """Tell whether the list covers the file at `path`, in any spelling; case matters.

        An absolute path, one that climbs out of the repository, and the repository's own folder are covered by none.
        """
        normal = normal_form(path)
        if normal == ROOT or is_outside(normal):
            return False
        for regex, covers in self._from_last:
            if regex.match(normal):
                return covers
        return False

    @cached_property
    def _from_last(self) -> list[tuple[re.Pattern[str], bool]]:
        # Compiled at the first question: a contract may hold thousands of globs that nobody asks about.
        return [(re.compile(translate(p.removeprefix("!"))), p[0] != "!") for p in reversed(self.patterns)]
