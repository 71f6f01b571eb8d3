"""`public-signature-narrowed`: a public function accepts less than before, or is gone.

Public is what the round contract says (`[scope] public`): a convention of names would call every helper an interface.
Without that list the detector is silent, and the verdict says that it was left out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.rounds.globs import Globs
from governance_pipeline.rounds.paths import normal_form
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.change_rows import TABLES, in_order
from governance_pipeline.verdict.detector import Detector, Hit, place_of
from governance_pipeline.verdict.shell_touches import is_touched_by_shell
from governance_pipeline.vocabulary import FactKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.verdict.round_view import RoundView

_LOSSES: Final = (FactKind.SIGNATURE_REMOVED, FactKind.SIGNATURE_NARROWED)
_KINDS: Final = frozenset({*_LOSSES, FactKind.SIGNATURE_ADDED, FactKind.SIGNATURE_CHANGED})


def _detect(view: RoundView) -> Iterator[Hit]:
    public = view.promised("scope_public")
    if public is None:
        return
    match = Globs(json.loads(public)).match
    names: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in in_order(view):
        if row["kind"] in _KINDS and match(row["file_path"]):
            names.setdefault((normal_form(row["file_path"]), row["subject"]), []).append(row)
    for (path, name), rows in sorted(names.items()):
        first, last = rows[0], rows[-1]
        if last["kind"] not in _LOSSES or last["text_after"] == first["text_before"]:
            continue
        if not is_touched_by_shell(view, last):
            before = excerpt(first["text_before"] or "", 200)
            after = None if last["text_after"] is None else excerpt(last["text_after"], 200)
            yield Hit(
                (path, name),
                f"{excerpt(path, 120)}: {before} {'is gone' if after is None else f'accepts less: {after}'}",
                {"file": excerpt(path), "name": excerpt(name, 120), "before": before, "after": after,
                 "line": last["changed_line"]},
                place_of(last),
            )  # fmt: skip


_PUBLIC: Final = [{"scope_public": '["src/api/**"]'}]
_NARROWED: Final = {
    "file_path": "src/api/a.py", "subject": "f", "kind": "signature_narrowed",
    "text_before": "f(a, b=…)", "text_after": "f(a)",
}  # fmt: skip

DETECTOR: Final = Detector(
    code="public-signature-narrowed",
    rule="a public function, method or class of a public file is gone or accepts fewer calls than before the round",
    reads=TABLES,
    detect=_detect,
    fires_on={"core_rounds": _PUBLIC, "core_change_facts": [_NARROWED]},
    silent_on={
        "core_rounds": _PUBLIC,
        "core_change_facts": [
            _NARROWED,
            {**_NARROWED, "step_index": 2, "kind": "signature_changed", "text_before": "f(a)",
             "text_after": "f(a, b=…)"},
            {**_NARROWED, "step_index": 3, "file_path": "src/inner/b.py"},
        ],
    },
)  # fmt: skip
