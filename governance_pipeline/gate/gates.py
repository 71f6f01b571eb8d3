"""The gates there are: which assets each releases, and which tables a person's signature then covers.

A gate of rounds stands before assets of the pipeline. A gate of actions stands before one act on a governed folder or
on the corpus; what is signed for is a proposal (`proposals`), not tables, and the place of the round id is taken by
what the act is about: the name of an asset of the canonical registry, or of the action.

What belongs here: the literal list. What does not: how passage is decided.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from governance_pipeline.errors import UsageError


class Gate(NamedTuple):
    """One gate: its name, the gated assets it releases, and every table whose bytes it binds, in pipeline order."""

    name: str
    assets: tuple[str, ...]
    upstream: tuple[str, ...]


UPSTREAM: Final = (
    "raw_log_files",
    "raw_quarantine",
    "core_rounds",
    "core_criteria",
    "core_runs",
    "core_steps",
    "core_usage",
    "core_declared",
    "core_components",
    "core_file_changes",
    "core_change_facts",
    "core_changes",
    "core_evidence",
    "core_approvals",
    "core_attestations",
    "audit_cross_checks",
    "audit_escalations",
    "audit_explanations",
    "audit_integrity",
    "audit_independence",
    "features_step_surface",
    "features_round",
    "features_graph_surface",
    "features_amplification",
    "features_conformal",
    "verdict_findings",
    "verdict_rounds",
)
"""Every table the pipeline keeps of a round: what is published is made from some, and those are made from the others.
The baselines of a cohort are of no single round; each row that rests on one names it by digest. The list is
literal, because the gate knows nothing of the pipeline; a test holds the two to be the same."""

PUBLISH: Final = Gate("publish", ("published_round_report", "published_features"), UPSTREAM)
GATES: Final = {gate.name: gate for gate in (PUBLISH,)}
"""Name of a gate of rounds -> the gate."""

REGISTRY: Final = Gate("registry", ("canonical_registry",), ())
"""Before every write to an asset of the canonical registry (spec/framework.md §4)."""
AUTHORITY: Final = Gate("authority", ("critical_action",), ())
"""Before every other action of the critical list (spec/framework.md §5)."""
ACTION_GATES: Final = {gate.name: gate for gate in (REGISTRY, AUTHORITY)}
"""Name of a gate of actions -> the gate."""


def gate_of(name: str) -> Gate:
    """Give a gate by its name.

    Raises:
        UsageError: there is no such gate.
    """
    try:
        return {**GATES, **ACTION_GATES}[name]
    except KeyError:
        raise UsageError(f"there is no gate {name!r}; the gates are {', '.join((*GATES, *ACTION_GATES))}") from None


def is_gate(name: str) -> bool:
    """Tell whether there is a gate with this name."""
    return name in GATES or name in ACTION_GATES


def gate_of_asset(asset: str) -> Gate:
    """Give the gate that releases an asset.

    Raises:
        UsageError: no gate releases it.
    """
    for gate in GATES.values():
        if asset in gate.assets:
            return gate
    raise UsageError(
        f"no gate releases {asset!r}; gated assets are {', '.join(a for g in GATES.values() for a in g.assets)}"
    )
