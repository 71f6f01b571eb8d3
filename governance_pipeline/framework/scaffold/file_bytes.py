"""The bytes of one file of a project or of a user's template, never through a link.

What belongs here: reading with a bound. What does not: what the bytes mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.strict.files import open_regular
from governance_pipeline.strict.limits import LIMITS

if TYPE_CHECKING:
    from pathlib import Path


def file_bytes(path: Path) -> bytes:
    """Read a file whole; of one larger than a document (`LIMITS.document_bytes`) one byte more than that.

    Raises:
        FileRefused: it is missing, a link, no regular file, or cannot be read.
    """
    with open_regular(path) as stream:
        return stream.read(LIMITS.document_bytes + 1)
