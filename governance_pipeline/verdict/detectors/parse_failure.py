"""`parse-failure`: a file is left in a state in which it does not parse.

Only the last state of a file counts, and only of a file whose whole content is known: after an edit that shows a part,
or a shell command that may have written it, nobody can tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.rounds.paths import normal_form
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.change_rows import TABLES, in_order
from governance_pipeline.verdict.detector import Detector, Hit, place_of
from governance_pipeline.verdict.shell_touches import is_touched_by_shell
from governance_pipeline.vocabulary import ChangeAspect, FactKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.verdict.round_view import RoundView


def _detect(view: RoundView) -> Iterator[Hit]:
    last: dict[str, dict[str, Any]] = {}
    for row in in_order(view):
        is_open = row["kind"] == FactKind.UNJUDGED and row["subject"] == ChangeAspect.PARSING
        if is_open or row["kind"] in (FactKind.PARSED, FactKind.PARSE_FAILED):
            last[normal_form(row["file_path"])] = row
    for path, row in sorted(last.items()):
        if row["kind"] == FactKind.PARSE_FAILED and not is_touched_by_shell(view, row):
            error = excerpt(row["text_after"] or "", 200)
            yield Hit(
                (path,),
                f"{excerpt(path, 120)} does not parse: {error}",
                {"file": excerpt(path), "error": error, "line": row["changed_line"]},
                place_of(row),
            )


_BROKEN: Final = {"kind": "parse_failed", "subject": "file", "text_after": "line 1: invalid syntax"}

DETECTOR: Final = Detector(
    code="parse-failure",
    rule="the last known content of a changed file does not parse, and the one before the round did or was none",
    reads=TABLES,
    detect=_detect,
    fires_on={"core_change_facts": [{"kind": "parsed", "subject": "file"}, {**_BROKEN, "step_index": 2}]},
    silent_on={
        "core_change_facts": [
            _BROKEN,
            {"step_index": 2, "kind": "parsed", "subject": "file"},
            {**_BROKEN, "step_index": 3, "file_path": "src/b.py"},
            {"step_index": 4, "file_path": "src/b.py", "kind": "unjudged", "subject": "parsing",
             "text_after": "only_part_shown"},
        ]
    },
)  # fmt: skip
