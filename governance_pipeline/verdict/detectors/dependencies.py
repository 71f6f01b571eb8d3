"""`dependency-added` and `dependency-unpinned`: what the round makes its project rely on.

A package that moves from one manifest or group to another is not added. Lock files follow from manifests and are not
read.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.rounds.paths import normal_form
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.change_rows import TABLES, facts_of, in_order
from governance_pipeline.verdict.detector import Detector, Hit, place_of
from governance_pipeline.verdict.shell_touches import is_touched_by_shell
from governance_pipeline.vocabulary import FactKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.verdict.round_view import RoundView

_KINDS: Final = frozenset(
    {
        FactKind.DEPENDENCY_ADDED,
        FactKind.DEPENDENCY_REMOVED,
        FactKind.DEPENDENCY_UNPINNED,
        FactKind.DEPENDENCY_CHANGED,
    }
)


def _added(view: RoundView) -> Iterator[Hit]:
    came = facts_of(view, FactKind.DEPENDENCY_ADDED)
    went = Counter(row["subject"] for row in facts_of(view, FactKind.DEPENDENCY_REMOVED))
    counts = Counter(row["subject"] for row in came)
    first: dict[str, dict[str, Any]] = {}
    for row in came:
        first.setdefault(row["subject"], row)
    for name, row in sorted(first.items()):
        if counts[name] > went[name] and not is_touched_by_shell(view, row):
            package, version = excerpt(name, 120), excerpt(row["text_after"] or "", 120)
            yield Hit(
                (name,),
                f"{package} ({version}) is a new dependency in {excerpt(row['file_path'], 120)}",
                {"package": package, "version": version, "file": excerpt(row["file_path"])},
                place_of(row),
            )


def _unpinned(view: RoundView) -> Iterator[Hit]:
    last: dict[tuple[str, str], dict[str, Any]] = {}
    for row in in_order(view):
        if row["kind"] in _KINDS:
            last[normal_form(row["file_path"]), row["subject"]] = row
    for (path, name), row in sorted(last.items()):
        if row["kind"] == FactKind.DEPENDENCY_UNPINNED and not is_touched_by_shell(view, row):
            before, after = excerpt(row["text_before"] or "", 120), excerpt(row["text_after"] or "", 120)
            package = excerpt(name, 120)
            yield Hit(
                (path, name),
                f"{package} in {excerpt(path, 120)} was pinned to {before} and is no longer: {after}",
                {"package": package, "before": before, "after": after, "file": excerpt(path)},
                place_of(row),
            )


_PACKAGE: Final = {"file_path": "requirements.txt", "subject": "python:example"}
_PINNED: Final = {**_PACKAGE, "text_before": "==1.0", "text_after": ">=1.0"}

ADDED: Final = Detector(
    code="dependency-added",
    rule="a manifest declares a package after the round that no manifest lost in it",
    reads=TABLES,
    detect=_added,
    fires_on={"core_change_facts": [{**_PACKAGE, "kind": "dependency_added", "text_after": "==1.0"}]},
    silent_on={
        "core_change_facts": [
            {**_PACKAGE, "kind": "dependency_removed", "text_before": "==1.0"},
            {**_PACKAGE, "file_path": "pyproject.toml", "change_index": 2, "kind": "dependency_added",
             "text_after": "==1.0"},
            {**_PACKAGE, "subject": "python:other", "change_index": 3, "kind": "dependency_changed"},
        ]
    },
)  # fmt: skip
UNPINNED: Final = Detector(
    code="dependency-unpinned",
    rule="a dependency that could be one version only may be several after the round",
    reads=TABLES,
    detect=_unpinned,
    fires_on={"core_change_facts": [{**_PINNED, "kind": "dependency_unpinned"}]},
    silent_on={
        "core_change_facts": [
            {**_PINNED, "kind": "dependency_unpinned"},
            {**_PINNED, "step_index": 2, "kind": "dependency_changed", "text_after": "==1.1"},
            {**_PACKAGE, "subject": "python:other", "change_index": 3, "kind": "dependency_changed",
             "text_before": "==1.0", "text_after": "==2.0"},
        ]
    },
)  # fmt: skip
