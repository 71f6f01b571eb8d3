"""A sign of life for work whose length is not known beforehand: a spinner, on a terminal only.

What belongs here: that one sign. What does not: bars of work that can be counted; commands draw those themselves.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def waiting(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Show on stderr that `what` goes on while the block runs; nothing with `quiet`, in a pipe or in a file."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield
