"""Whether two names say the same thing in other words.

What belongs here: words of a name in snake case, camel case or prose, and their comparison. What does not: what the
names are of. Words that say nothing by themselves are left out, so that two long names are not alike for their grammar.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

ALIKE_SHARE: Final = 0.5
"""Share of words two names must have in common: that at which git calls two files one renamed file."""

LEAST_COMMON: Final = 2
"""Words in common from which one name may be an extension of the other; a single word is chance."""

_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_GRAMMAR: Final = frozenset(
    """a an and are as at be by does for from has have if in is it its not no of on one or should test tests that the
    their them then there they this to was when which while with without""".split()  # noqa: SIM905 - a list of words
)


def alike(name: str, other: str) -> bool:
    """Tell whether two names share at least half of their words, or one at least half of the other's, two or more."""
    own, theirs = _words(name), _words(other)
    common = len(own & theirs)
    if not common:
        return False
    if common / len(own | theirs) >= ALIKE_SHARE:
        return True
    return common >= LEAST_COMMON and common / min(len(own), len(theirs)) >= ALIKE_SHARE


@lru_cache(maxsize=4096)
def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(name)) - _GRAMMAR
