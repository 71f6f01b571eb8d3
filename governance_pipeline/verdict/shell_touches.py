"""Whether a shell command of the same run may have made or undone what an edit did to a file.

What belongs here: the question. What does not: which commands change files at all (ingest). A log shows what an edit
tool did and not what `git checkout` or `sed -i` did to the same file: where one of them may have, an edit is no proof
of how the round ends, and a detector says nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from governance_pipeline.verdict.round_view import RoundView

_RESTORES: Final = re.compile(
    r"\bgit\s+(?:-C\s+\S+\s+)?(?:checkout(?!\s+-b)|restore|stash|reset|revert|clean|apply|am|rebase|merge|pull|switch)\b"
)
"""Commands of git that put other contents into the work tree."""

_WRITES: Final = (
    r">{{1,2}}\s*[\"']?\S*{name}"
    r"|\b(?:tee|cp|mv|rm|touch|patch|ln|truncate|unlink|install|sed\s[^|;\n]*-\w*i\w*|perl\s[^|;\n]*-\w*i\w*)\b[^|;&\n]*{name}"
    r"|(?:open\(|write_text)[^\n]*{name}|{name}[^\n]*(?:open\(|write_text|[\"'][wa]b?[\"'])"
)
"""Programs that write the file they are given the name of, and the ways of Python to do so."""


def is_touched_by_shell(view: RoundView, row: dict[str, Any]) -> bool:
    """Tell whether another command of the run may have written the file a fact is about.

    Commits and outputs have no commands beside them.
    """
    name = row["file_path"].rpartition("/")[2]
    writes = re.compile(_WRITES.format(name=re.escape(name)))
    return any(
        _RESTORES.search(command) is not None or (name in command and writes.search(command) is not None)
        for command in view.once(_commands).get(row["run_id"], ())
    )


def _commands(view: RoundView) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for run_id, command in zip(view.values("core_steps", "run_id"), view.values("core_steps", "command"), strict=True):
        if command is not None:
            found.setdefault(run_id, []).append(command)
    return found
