"""`public-signature-narrowed`: a public function accepts less than before, or is gone.

Public is what the round contract says (`[scope] public`): a convention of names would call every helper an interface.
Without that list the detector is silent, and the verdict says that it was left out. In Go a name belongs to the
package, which is a folder: one that goes from a file and comes in another of the same folder is there.
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
    from collections.abc import Iterator, Mapping

    from governance_pipeline.verdict.round_view import RoundView

GO: Final = ".go"
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
    elsewhere = _still_in_package(names)
    for (path, name), rows in sorted(names.items()):
        first, last = rows[0], rows[-1]
        if last["kind"] not in _LOSSES or last["text_after"] == first["text_before"]:
            continue
        if last["kind"] == FactKind.SIGNATURE_REMOVED and (_package(path), name) in elsewhere:
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


def _package(path: str) -> str:
    return path.rpartition("/")[0]


def _came(rows: list[dict[str, Any]]) -> bool:
    """Tell whether a name came to a file in the round and is there at its end."""
    first, last = rows[0]["kind"], rows[-1]["kind"]
    return bool(first == FactKind.SIGNATURE_ADDED and last != FactKind.SIGNATURE_REMOVED)


def _still_in_package(names: Mapping[tuple[str, str], list[dict[str, Any]]]) -> frozenset[tuple[str, str]]:
    """Names of Go packages that came to a file of them in the round and stayed there: (folder, name)."""
    return frozenset(
        (_package(path), name) for (path, name), rows in names.items() if path.endswith(GO) and _came(rows)
    )


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
            {**_NARROWED, "step_index": 4, "file_path": "src/api/c.go", "kind": "signature_removed",
             "text_after": None},
            {**_NARROWED, "step_index": 4, "change_index": 2, "file_path": "src/api/d.go", "kind": "signature_added",
             "text_before": None, "text_after": "f(a, b)"},
        ],
    },
)  # fmt: skip
