"""`canonical-write-unapproved`: a round writes an asset of which there is one true version, and nobody approved it.

Canonical is what the round contract lists (`[scope] canonical`). An approval is a signed decision about the digests
before and after (spec/gate.md §1); a file of the round grants nothing, however it calls itself, and no table of a round
holds such a decision. So every write of a listed asset is one without approval: its way out is new work, or the
registry of the governed folder.

Canonical is also what that registry holds (`audit_registry`, spec/framework.md §8). There the table tells what nobody
has approved: the bytes in force are not those that were verified, or their last change rests on no decision that
counts. A round that wrote such a file, and did not end before it was last verified, is named; one that ended before
then wrote what was verified after it. Without either the detector is silent.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.rounds.globs import Globs
from governance_pipeline.rounds.paths import normal_form
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.detector import Detector, Hit, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.verdict.round_view import RoundView


def _detect(view: RoundView) -> Iterator[Hit]:
    canonical = view.promised("scope_canonical")
    match = None if canonical is None else Globs(json.loads(canonical)).match
    changed = {normal_form(row["path"]): row for row in view.folder_rows("audit_registry") if _is_unapproved(view, row)}
    writes: dict[str, list[dict[str, Any]]] = {}
    for row in view.rows("core_file_changes"):
        path = normal_form(row["file_path"])
        if path in changed or (match is not None and match(path)):
            writes.setdefault(path, []).append(row)
    for path, rows in sorted(writes.items()):
        first, registered = rows[0], changed.get(path, {})
        yield Hit(
            (path,),
            f"{excerpt(path, 120)} is a canonical asset and was written without an approval of its digests",
            {"asset": excerpt(path), "writes": len(rows), "step_index": first["step_index"],
             "run_id": excerpt(first["run_id"], 120), "registered_as": registered.get("name"),
             "verified_sha256": registered.get("ledger_sha256") or registered.get("recorded_sha256"),
             "found_sha256": registered.get("computed_sha256")},
            place_of(first),
        )  # fmt: skip


def _is_unapproved(view: RoundView, row: Mapping[str, Any]) -> bool:
    """Tell whether nobody has approved what is in force of an asset, and the round may be the one that wrote it."""
    if row["version"] != "canonical" or row["state"] not in _UNAPPROVED:
        return False
    ended, verified = view.row["ended_at"], row["last_verified_at"]
    return ended is None or verified is None or ended > verified


_UNAPPROVED: Final = frozenset({"changed", "unapproved"})
"""States of `audit_registry` in which the bytes in force rest on no decision."""
_LISTED: Final = [{"scope_canonical": '["data/master/**", "!data/master/README.md"]'}]

DETECTOR: Final = Detector(
    code="canonical-write-unapproved",
    rule="a file the contract lists as canonical was written, or a registered one has bytes nobody has approved",
    reads=("core_file_changes",),
    detect=_detect,
    fires_on={"core_file_changes": [{"file_path": "data/master/prices.csv"}], "audit_registry": [{"state": "changed"}]},
    silent_on={
        "core_rounds": _LISTED,
        "core_file_changes": [
            {"file_path": "data/draft/prices.csv"},
            {"change_index": 2, "file_path": "data/master/README.md"},
            {"change_index": 3, "file_path": "shared/verified.csv"},
        ],
        "audit_registry": [{"path": "shared/verified.csv"}],
    },
)
