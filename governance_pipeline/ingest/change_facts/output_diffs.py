"""Facts of the diffs among the outputs of a round.

What belongs here: an output file that is a git diff, read like a diff in a log. What does not: which files are outputs
(round). A diff says what changed, not in which step; the place is the line of the diff where its file begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.edit import Contents
from governance_pipeline.ingest.change_facts.rows import fact_columns
from governance_pipeline.ingest.formats.edits import patch_files
from governance_pipeline.strict.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

BEGINS: Final = b"diff --git "
LARGEST_DIFF: Final = 2**23
"""Bytes of the largest output that is read as a diff: about 200,000 changed lines."""


def diff_rows(copy: Path) -> Iterator[dict[str, Any]]:
    """Give the columns of the facts of an output that is a git diff; nothing of any other file.

    Raises:
        UnreadableError: the stored copy cannot be opened.
    """
    with open_regular(copy) as stream:
        data = stream.read(LARGEST_DIFF + 1)
    if not data.startswith(BEGINS) or len(data) > LARGEST_DIFF:
        return
    patch = data.decode("utf-8", "backslashreplace")
    heads = [number for number, line in enumerate(patch.split("\n"), 1) if line.startswith(BEGINS.decode())]
    contents = Contents()
    for index, file in enumerate(patch_files(patch), 1):
        line = heads[index - 1] if index <= len(heads) else None
        for number, fact in enumerate(contents.facts(file.path, file.edit), 1):
            yield {
                "origin": "output",
                "run_id": "",
                "change_index": index,
                "fact_index": number,
                "file_path": file.path,
                "line": line,
                "pointer": "",
                **fact_columns(fact),
            }
