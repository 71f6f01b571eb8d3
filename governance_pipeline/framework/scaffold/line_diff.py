"""How the files of a project differ from the template, line by line, for a person who looks.

What belongs here: the unified diff. What does not: whether they differ (`layout`).
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from governance_pipeline.framework.scaffold.file_bytes import file_bytes
from governance_pipeline.strict.files import FileRefused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from governance_pipeline.framework.scaffold.plan import Plan


def line_diffs(root: Path, plan: Plan) -> Iterator[str]:
    """Yield the lines of a unified diff from the template to the project, file by file; unreadable files are left out.

    Line ends are part of the lines, so a file that differs only in them is shown too.
    """
    for file in plan.files:
        try:
            data = file_bytes(root / file.path)
        except FileRefused:
            continue
        if data != file.data:
            before = file.data.decode("utf-8").splitlines(keepends=True)
            after = data.decode("utf-8", errors="backslashreplace").splitlines(keepends=True)
            names = (f"template/{file.path}", f"project/{file.path}")
            yield from (line.removesuffix("\n") for line in difflib.unified_diff(before, after, *names))
