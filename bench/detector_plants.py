"""What is planted: one edit of a real file, the code that has to be found, or none for a change that breaks nothing.

What belongs here: the shapes. What does not: the edits of tests (test_faults), sources and manifests, and what the
detectors make of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random


class Source(NamedTuple):
    """A file of a commit: its path, its text before the commit and after it."""

    path: str
    before: str
    after: str


Files = dict[str, str | None]
"""Path -> text it is left with; None for a file that is gone."""


class Plant(NamedTuple):
    """One kind of edit.

    Attributes:
        kind: name of the kind, unique.
        code: what has to be found; None: nothing may be.
        language: of the files it is made in.
        make: the files it leaves, None where the source has no place for it.
        is_renaming: the first file left has taken the place of the source.
        why: of a kind no rule is made for, why it is measured all the same.
    """

    kind: str
    code: str | None
    language: str
    make: Callable[[Source, Random], Files | None]
    is_renaming: bool = False
    why: str = ""
