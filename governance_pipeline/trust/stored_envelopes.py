"""The exact bytes of attestations, out of the content store.

What belongs here: finding a line of a kept source file by digest and number. What does not: what it says. The table
keeps the payload of an envelope, not its signatures, so signatures are checked on the very line that was ingested, in
the copy that is named by its digest and hashed again before it is read.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from governance_pipeline.errors import StorageError
from governance_pipeline.strict.records import Accepted, read_json_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from governance_pipeline.storage.content import ContentStore

KEPT_FILES = 64
"""Files whose lines are held at once; rows come file by file."""


def envelopes_in(store: ContentStore) -> Callable[[str, int | None], bytes | None]:
    """Give the function that finds the bytes of a line by the digest of its file and its number.

    It gives None for a file the store does not hold or holds damaged, and for a line that is not there: the signature
    is then undecided, never assumed.
    """

    @lru_cache(maxsize=KEPT_FILES)
    def lines(sha256: str) -> dict[int | None, bytes]:
        try:
            path = store.verify(sha256)
        except StorageError:
            return {}
        return {record.line: record.raw for record in read_json_lines(path) if isinstance(record, Accepted)}

    return lambda sha256, line: lines(sha256).get(line)
