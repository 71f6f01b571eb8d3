"""`canonical-write-unapproved`: a round writes an asset of which there is one true version, and nobody approved it.

Canonical is what the round contract lists (`[scope] canonical`); without the list the detector is silent, and the
verdict says that it was left out. An approval is a signed decision about the digests before and after (spec/gate.md
§1); a file of the round grants nothing, however it calls itself, and no table of a round holds such a decision. So
every write of a listed asset is one without approval: its way out is new work, or the registry of the governed folder.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.rounds.globs import Globs
from governance_pipeline.rounds.paths import normal_form
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.detector import Detector, Hit, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.verdict.round_view import RoundView


def _detect(view: RoundView) -> Iterator[Hit]:
    canonical = view.promised("scope_canonical")
    if canonical is None:
        return
    match = Globs(json.loads(canonical)).match
    writes: dict[str, list[dict[str, Any]]] = {}
    for row in view.rows("core_file_changes"):
        path = normal_form(row["file_path"])
        if match(path):
            writes.setdefault(path, []).append(row)
    for path, rows in sorted(writes.items()):
        first = rows[0]
        yield Hit(
            (path,),
            f"{excerpt(path, 120)} is a canonical asset and was written without an approval of its digests",
            {"asset": excerpt(path), "writes": len(rows), "step_index": first["step_index"],
             "run_id": excerpt(first["run_id"], 120)},
            place_of(first),
        )  # fmt: skip


_LISTED: Final = [{"scope_canonical": '["data/master/**", "!data/master/README.md"]'}]

DETECTOR: Final = Detector(
    code="canonical-write-unapproved",
    rule="a file the contract lists as canonical was written, and no approval of its digests is known",
    reads=("core_file_changes",),
    detect=_detect,
    fires_on={"core_rounds": _LISTED, "core_file_changes": [{"file_path": "data/master/prices.csv"}]},
    silent_on={
        "core_rounds": _LISTED,
        "core_file_changes": [
            {"file_path": "data/draft/prices.csv"},
            {"change_index": 2, "file_path": "data/master/README.md"},
        ],
    },
)
