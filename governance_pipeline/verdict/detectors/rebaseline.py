"""`rebaseline-due`: the measure or an assumption changed, and the baseline did not.

Rounds of a cohort are compared under one baseline version. Where a round divides its files into modules otherwise than
the round it continues, or declares public boundaries where that had none, its M, P, H and S are other quantities under
the same name. The declaration of a re-baseline is a new `baseline_version`; without it the comparison is stale.
Further triggers are those of the governed folder (spec/framework.md §7): rows of `audit_rebaseline` that are due. One
seen in a round concerns that round, one of the whole project every round judged under its baseline; once somebody has
declared a re-baseline none is due any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.detector import Detector, Hit, contract_place
from governance_pipeline.verdict.signals import GapReason
from governance_pipeline.vocabulary import ContractState

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.verdict.round_view import RoundView

_DUE: Final = "due"
_SAME: Final = ("project", "cohort", "baseline_version")


def _detect(view: RoundView) -> Iterator[Hit]:
    yield from _otherwise_measured(view)
    for row in view.folder_rows("audit_rebaseline"):
        if row["state"] == _DUE and _concerns(view, row):
            about = {name: row[name] and excerpt(row[name], 160) for name in ("trigger", "subject", "pointer")}
            version = row["baseline_version"] and excerpt(row["baseline_version"], 80)
            yield Hit(
                ("folder", row["trigger"], row["subject"], row["pointer"]),
                f"{about['trigger']}: {about['subject']} ({about['pointer']}){_way_out(row)}",
                {**about, "baseline_version": version},
                contract_place(view),
                reason=GapReason.STALE,
            )


def _way_out(row: Mapping[str, Any]) -> str:
    if row["trigger"] == "old_baseline":
        return f", and version {excerpt(row['baseline_version'] or '', 80)} is in force: the round must name that one"
    return ", and nobody has declared a re-baseline"


def _concerns(view: RoundView, row: Mapping[str, Any]) -> bool:
    """Tell whether a trigger of the governed folder concerns a round; one without a baseline concerns none."""
    if row["round_id"] is not None:
        return bool(row["round_id"] == view.round_id)
    return row["baseline_version"] is not None and row["baseline_version"] == view.promised("baseline_version")


def _otherwise_measured(view: RoundView) -> Iterator[Hit]:
    own, parent = view.row, view.parent_row
    if not view.has_contract or parent is None or parent["contract_state"] != ContractState.VALID:
        return
    if own["baseline_version"] is None or any(own[name] != parent[name] for name in _SAME):
        return
    changed = [name for name in ("module_rule", "modules") if own[name] != parent[name]]
    if (own["scope_public"] is None) != (parent["scope_public"] is None):
        changed.append("public")
    if changed:
        version = excerpt(own["baseline_version"], 80)
        yield Hit(
            tuple(changed),
            f"{' and '.join(changed)} differ from those of the parent round under the same baseline {version}: "
            "the rounds are not measured alike",
            {"changed": changed, "baseline_version": version, "parent_round_id": parent["round_id"]},
            contract_place(view),
            reason=GapReason.STALE,
        )


_PARENT: Final = {
    "round_id": "control-0", "project": "p", "cohort": "c", "baseline_version": "1", "module_rule": "dir:1",
}  # fmt: skip
_CHILD: Final = {**_PARENT, "round_id": "control-1", "parent_round_id": "control-0", "module_rule": "dir:2"}

DETECTOR: Final = Detector(
    code="rebaseline-due",
    rule="modules or public boundaries are declared otherwise than in the parent round, or an assumption of the "
    "governed folder changed, under one baseline version",
    reads=(),
    detect=_detect,
    fires_on={"core_rounds": [_PARENT, _CHILD]},
    silent_on={"core_rounds": [_PARENT, {**_CHILD, "baseline_version": "2"}]},
)
