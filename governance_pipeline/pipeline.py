"""The one way to run the steps: table -> the domain function that makes it and the tables it reads.

`govern audit` walks this list in-process, the Dagster assets wrap it; a test holds it, the contract registry and
the asset keys to be the same set. Every function works on any number of rounds at once and groups by `round_id`, so
that no table depends on how a backfill was cut into chunks. The tables of cohorts are made of all rounds there are, so
they come after the round-wise ones of all rounds, and what reads them comes after them.

What belongs here: the list, and the walk over it in memory. What does not: any rule about data, and where tables are
kept (workspace).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from governance_pipeline.contracts.registry import empty_frame, validate
from governance_pipeline.crosscheck.builtin import cross_checks
from governance_pipeline.crosscheck.escalations import escalations
from governance_pipeline.crosscheck.explanations import EXPLANATION_TABLES, explanations
from governance_pipeline.crosscheck.integrity import integrity
from governance_pipeline.errors import StorageError
from governance_pipeline.ingest.round import CORE_TABLES, RAW_TABLES, table_of
from governance_pipeline.settings import SETTINGS
from governance_pipeline.trajectory.amplification_rows import AMPLIFICATION_TABLES, amplification
from governance_pipeline.trajectory.base_lines import open_base
from governance_pipeline.trajectory.change_explanations import CHANGE_EXPLANATION_TABLES, change_explanations
from governance_pipeline.trajectory.cohort_tables import COHORT_TABLES, cohort_baselines, conformal
from governance_pipeline.trajectory.cross_checks import CROSS_CHECK_TABLES, surface_cross_checks
from governance_pipeline.trajectory.formulas import metadata as formulas_metadata
from governance_pipeline.trajectory.graph_formulas import metadata_of as graph_metadata_of
from governance_pipeline.trajectory.graph_surface import GRAPH_TABLES, graph_surface
from governance_pipeline.trajectory.repositories import Repositories
from governance_pipeline.trajectory.round_features import ROUND_TABLES, round_features
from governance_pipeline.trajectory.step_surface import STEP_TABLES, step_surface
from governance_pipeline.trust.independence import independence
from governance_pipeline.verdict.calibrations import records_in_force
from governance_pipeline.verdict.dismissals import PARTY_TABLES, Dismissals
from governance_pipeline.verdict.findings import findings
from governance_pipeline.verdict.policy_document import shipped_policy
from governance_pipeline.verdict.round_view import INPUTS as VERDICT_INPUTS
from governance_pipeline.verdict.round_view import NO_FOLDER
from governance_pipeline.verdict.verdicts import verdicts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from governance_pipeline.ingest.round import RoundTables
    from governance_pipeline.ledger.calibrations import CalibrationHistory
    from governance_pipeline.ledger.dismissals import DismissalHistory
    from governance_pipeline.rounds.landing import RoundFolders
    from governance_pipeline.trust.root import TrustRoot
    from governance_pipeline.verdict.dismissal_policy import DismissalPolicy

    Tables = Mapping[str, pd.DataFrame]
    Make = Callable[[Tables, "Trust"], pd.DataFrame]

NO_ROOT_INSTANT = datetime(1970, 1, 1, tzinfo=UTC)
"""Instant at which keys are judged when there is no trust root: no key is known, so it decides nothing."""


class Trust(NamedTuple):
    """Whom the tables may believe: the trust root (None: no signature can be decided) and when keys are judged.

    `envelope_of` gives the exact bytes of an attestation by file digest and line; `landing` is the folder of the
    rounds' folders, or each round's own, from which the repositories they name are found (None: only those with an
    absolute path); `repositories` keeps what was read of these, so that tables and rounds share it.
    `dismissals` and `calibrations` are what the ledger has; each is judged where it is used. `folder` gives the tables
    of the governed folder as they stand (None: there is none); `dismissal_policy` is the one in force (None: the
    shipped one).
    """

    root: TrustRoot | None = None
    now: datetime = NO_ROOT_INSTANT
    envelope_of: Callable[[str, int | None], bytes | None] | None = None
    landing: RoundFolders | None = None
    repositories: Repositories | None = None
    dismissals: DismissalHistory | None = None
    calibrations: CalibrationHistory | None = None
    folder: Callable[[], Mapping[str, pd.DataFrame]] | None = None
    dismissal_policy: DismissalPolicy | None = None


class Step(NamedTuple):
    """One table of the pipeline.

    Attributes:
        table: its name: contract, asset and Parquet table alike.
        inputs: the tables it reads.
        make: the function that makes it; None for tables that come from the round folder itself (raw and core).
        reads_parents: it also reads the rounds a round continues, and theirs.
        reads_all_rounds: it is made of all rounds at hand at once, and again whenever one comes or changes.
        metadata: what its Parquet file says of how it was made.
    """

    table: str
    inputs: tuple[str, ...]
    make: Make | None
    reads_parents: bool = False
    reads_all_rounds: bool = False
    metadata: Callable[[], Mapping[str, str]] = dict


def _all_cross_checks(tables: Tables, _: Trust) -> pd.DataFrame:
    built_in = cross_checks(tables["core_declared"], tables["core_components"], tables["raw_quarantine"])
    both = joined("audit_cross_checks", [built_in, surface_cross_checks(tables)])
    return both.sort_values("round_id", kind="stable", ignore_index=True)


def _all_explanations(tables: Tables, _: Trust) -> pd.DataFrame:
    both = joined("audit_explanations", [explanations(tables), change_explanations(tables)])
    return both.sort_values("round_id", kind="stable", ignore_index=True)


def _independence(tables: Tables, trust: Trust) -> pd.DataFrame:
    return independence(
        tables["core_attestations"],
        tables["core_runs"],
        tables["core_steps"],
        trust.root,
        trust.now,
        core_changes=tables["core_changes"],
        core_file_changes=tables["core_file_changes"],
        core_declared=tables["core_declared"],
        core_evidence=tables["core_evidence"],
        envelope_of=trust.envelope_of,
    )


def _findings(tables: Tables, trust: Trust) -> pd.DataFrame:
    calibrations = records_in_force(trust.calibrations, trust.root, trust.now)
    dismissals = Dismissals(trust.root, trust.now, trust.dismissals, trust.dismissal_policy)
    folder = trust.folder() if trust.folder is not None else NO_FOLDER
    return findings(tables, shipped_policy(), dismissals, calibrations, folder)


PIPELINE: tuple[Step, ...] = (
    *(Step(table, (), None) for table in RAW_TABLES),
    *(Step(table, RAW_TABLES, None) for table in CORE_TABLES),
    Step(
        "audit_cross_checks",
        tuple(dict.fromkeys(("core_declared", "core_components", "raw_quarantine", *CROSS_CHECK_TABLES))),
        _all_cross_checks,
    ),
    Step("audit_escalations", ("audit_cross_checks",), lambda t, _: escalations(t["audit_cross_checks"])),
    Step(
        "audit_explanations",
        tuple(dict.fromkeys((*EXPLANATION_TABLES, *CHANGE_EXPLANATION_TABLES))),
        _all_explanations,
    ),
    Step("audit_integrity", ("core_steps",), lambda t, _: integrity(t["core_steps"])),
    Step(
        "audit_independence",
        (
            "core_attestations", "core_runs", "core_steps", "core_changes", "core_file_changes", "core_declared",
            "core_evidence",
        ),
        _independence,
    ),
    Step("features_step_surface", STEP_TABLES, lambda t, _: step_surface(t), metadata=formulas_metadata),
    Step(
        "features_round",
        ROUND_TABLES,
        lambda t, trust: round_features(t, open_base(trust.landing)),
        metadata=formulas_metadata,
    ),
    Step(
        "features_graph_surface",
        GRAPH_TABLES,
        lambda t, trust: graph_surface(t, trust.repositories or Repositories(trust.landing)),
        metadata=lambda: graph_metadata_of("features_graph_surface"),
    ),
    Step(
        "features_amplification",
        AMPLIFICATION_TABLES,
        lambda t, trust: amplification(t, trust.repositories or Repositories(trust.landing)),
        metadata=lambda: graph_metadata_of("features_amplification"),
    ),
    Step(
        "features_cohort_baseline",
        COHORT_TABLES,
        lambda t, _: cohort_baselines(t),
        reads_all_rounds=True,
        metadata=formulas_metadata,
    ),
    Step(
        "features_conformal",
        COHORT_TABLES,
        lambda t, _: conformal(t),
        reads_all_rounds=True,
        metadata=formulas_metadata,
    ),
    Step("verdict_findings", tuple(dict.fromkeys((*VERDICT_INPUTS, *PARTY_TABLES))), _findings, reads_parents=True),
    Step(
        "verdict_rounds",
        (*VERDICT_INPUTS, "verdict_findings"),
        lambda t, _: verdicts(t, t["verdict_findings"], shipped_policy()),
        reads_parents=True,
    ),
)  # fmt: skip
STEPS: dict[str, Step] = {step.table: step for step in PIPELINE}
TABLES: tuple[str, ...] = tuple(STEPS)

COHORT_WIDE: tuple[str, ...] = tuple(step.table for step in PIPELINE if step.reads_all_rounds)
"""Tables made of all rounds at once."""
MEASURED_TABLES: tuple[str, ...] = TABLES[: TABLES.index(COHORT_WIDE[0])]
"""Tables made of each round by itself; the cohort tables wait for those of all rounds."""
JUDGED_TABLES: tuple[str, ...] = TABLES[TABLES.index(COHORT_WIDE[-1]) + 1 :]
"""Tables that read the cohort tables."""


def run_in_memory(rounds: Sequence[RoundTables], trust: Trust | None = None) -> dict[str, pd.DataFrame]:
    """Make every table of rounds that were read, without a lake.

    Returns:
        table -> frame over all rounds, in pipeline order.

    Raises:
        ContractBreach: a table breaks its contract.
    """
    frames: dict[str, pd.DataFrame] = {}
    trust = trust or Trust()
    trust = trust._replace(repositories=trust.repositories or Repositories(trust.landing))
    for step in PIPELINE:
        if step.make is None:
            frame = table_of(step.table, rounds)
        else:
            frame = step.make({name: frames[name] for name in step.inputs}, trust)
        frames[step.table] = validate(step.table, frame, large_rows=SETTINGS.large_table_rows)
    return frames


def joined(table: str, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate frames of one table; none gives the empty table."""
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else empty_frame(table)


def split(frame: pd.DataFrame, round_ids: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Cut a frame into one per round; a round without rows gets the empty table.

    Raises:
        StorageError: rows belong to none of these rounds; dropping them would lose them without a word.
    """
    groups = {str(key): part.reset_index(drop=True) for key, part in frame.groupby("round_id", sort=False)}
    strangers = sorted(groups.keys() - set(round_ids))
    if strangers:
        raise StorageError(f"rows of rounds that were not asked for: {', '.join(strangers[:5])}")
    empty = frame.iloc[0:0]
    return {round_id: groups.get(round_id, empty) for round_id in round_ids}
