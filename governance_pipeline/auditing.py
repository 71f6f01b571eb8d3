"""The whole pipeline over planned rounds, in a throw-away folder or in a store: the work of `govern audit`.

What belongs here: what becomes of files that are not imported and of rounds that cannot be analyzed, so that every
file of the plan is in the answer. What does not: how tables are made (pipeline) and kept (workspace), and the page.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.contracts.registry import is_by_round
from governance_pipeline.crosscheck.builtin_proof import catalogue_proofs
from governance_pipeline.crosscheck.catalogue import catalogue_sha256
from governance_pipeline.crosscheck.mutation import MutationProof
from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.framework.reprocessing import account_keeper
from governance_pipeline.ingest.importing import import_round
from governance_pipeline.ingest.layout import CONTRACT_FILE
from governance_pipeline.ingest.round import RAW_TABLES, read_files
from governance_pipeline.pipeline import JUDGED_TABLES, MEASURED_TABLES, PIPELINE, TABLES, Trust, joined, run_in_memory
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.storage.scratch import ScratchStore
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trajectory.change_proof import change_proofs
from governance_pipeline.verdict.baseline import ancestors
from governance_pipeline.workspace import KEPT_ROUNDS, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from governance_pipeline.ingest.importing import Imported
    from governance_pipeline.ingest.layout import FoundFile
    from governance_pipeline.ingest.planning import PlannedFile, PlannedRound
    from governance_pipeline.ingest.round_tables import RoundTables

    GiveUp = Callable[[str, Exception], RoundTables]

_LOGGER = logging.getLogger(__name__)

NOT_ANALYZED: Final = "not_analyzed"
"""Reason of a file whose round could not be made into tables at all."""

_OF_ALL_ROUNDS: Final = ("features_cohort_baseline", "features_conformal")
"""Tables made of all earlier rounds of the lake (design §5), which a file that is not in it cannot change."""


def audit_plan(
    plan: Sequence[PlannedRound],
    root: Path,
    *,
    keep: bool,
    on_round: Callable[[], object],
    on_failure: Callable[[str, Exception], object] = lambda _, __: None,
) -> dict[str, pd.DataFrame]:
    """Run the whole pipeline over planned rounds: the work of `govern audit`.

    A round whose tables cannot be made ends no other: its files are listed as unread, with the reason not_analyzed.

    Args:
        plan: what `ingest.planning.plan_import` made of the paths.
        root: folder for copies of the sources; with `keep` also for rounds (landing/) and tables (lake/).
        keep: store rounds and tables, so that a later run can go on from them.
        on_round: called after each round.
        on_failure: called with the id of each round that could not be analyzed, and why.

    Returns:
        table -> frame over all rounds.

    Raises:
        StorageError: a copy cannot be kept.
    """
    planned_of = {planned.round_id: planned for planned in plan}
    store = ContentStore(root / "lake") if keep else ScratchStore(root)

    def give_up(round_id: str, error: Exception) -> RoundTables:
        on_failure(round_id, error)
        return read_files([_left(file) for file in planned_of[round_id].files], round_id, store)

    return (_audit_stored if keep else _audit)(plan, root, on_round, give_up)


def _left(file: PlannedFile) -> FoundFile:
    """Give a file as one that is not read; the round contract is read all the same."""
    found = file.found()
    return found if file.path == CONTRACT_FILE else found._replace(reason=file.reason or NOT_ANALYZED)


def _audit(
    plan: Sequence[PlannedRound], root: Path, on_round: Callable[[], object], give_up: GiveUp
) -> dict[str, pd.DataFrame]:
    store = ScratchStore(root)
    read = []
    trust = Trust(landing=_folders(plan))
    for planned in plan:
        try:
            read.append(read_files([file.found() for file in planned.files], planned.round_id, store))
        except (StorageError, UsageError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever broke, the other rounds go on
            read.append(give_up(planned.round_id, error))
        on_round()
    return run_isolated(read, lambda tables, error: give_up(tables.round_id, error), trust)


def _folders(plan: Sequence[PlannedRound]) -> dict[str, Path]:
    """Give the folder of each round that has a contract, where the repository it names is looked for."""
    contracts = ((planned.round_id, file) for planned in plan for file in planned.files if file.path == CONTRACT_FILE)
    return {round_id: file.source.parent for round_id, file in contracts}


def run_isolated(
    rounds: Sequence[RoundTables],
    give_up: Callable[[RoundTables, Exception], RoundTables],
    trust: Trust | None = None,
) -> dict[str, pd.DataFrame]:
    """Make every table of rounds that were read; a round whose tables cannot be made ends itself only.

    `give_up` says what stands in its place. The rounds that fail are found by halving, so an audit without one costs
    nothing more. Rounds that fail together and not apart fail as `run_in_memory` does.
    """
    try:
        return run_in_memory(rounds, trust)
    except (StorageError, UsageError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever broke, the other rounds go on; they are asked one by one
        broken = _failing(rounds, error, trust)
    left = [give_up(each, broken[each.round_id]) if each.round_id in broken else each for each in rounds]
    return run_in_memory(left, trust)


def _failing(rounds: Sequence[RoundTables], error: Exception, trust: Trust | None) -> dict[str, Exception]:
    """Return the rounds whose tables cannot be made, each by itself, and why; `error` is that of all together."""
    if len(rounds) <= 1:
        return {tables.round_id: error for tables in rounds}
    found: dict[str, Exception] = {}
    middle = len(rounds) // 2
    for half in (rounds[:middle], rounds[middle:]):
        try:
            run_in_memory(half, trust)
        except Exception as fault:  # noqa: BLE001 - as above
            found |= _failing(half, fault, trust)
    return found


def _audit_stored(
    plan: Sequence[PlannedRound], root: Path, on_round: Callable[[], object], give_up: GiveUp
) -> dict[str, pd.DataFrame]:
    workspace = Workspace(root / "landing", root / "lake", keeper=account_keeper(_LOGGER.warning))
    for planned in plan:
        _refuse_conflicts(import_round(planned, workspace.landing))
    ids = [planned.round_id for planned in plan if any(file.reason is None for file in planned.files)]
    broken = dict(_make_chunks(workspace, MEASURED_TABLES, ids, on_round))
    workspace.refresh_cohorts()
    broken |= _make_chunks(workspace, JUDGED_TABLES, [round_id for round_id in ids if round_id not in broken])
    stored = [round_id for round_id in ids if round_id not in broken]
    kept = {
        table: [workspace.lake.get(table, of) for of in (stored if is_by_round(table) else [None])] for table in TABLES
    }
    given_up = {round_id: give_up(round_id, error) for round_id, error in broken.items()}
    return _with_left_out(plan, stored, kept, workspace, given_up)


def _make_chunks(
    workspace: Workspace, tables: Sequence[str], round_ids: Sequence[str], on_round: Callable[[], object] = lambda: None
) -> dict[str, Exception]:
    """Make some tables of rounds, chunk by chunk; returns the rounds of which it cannot be done, and why."""
    broken: dict[str, Exception] = {}
    for start in range(0, len(round_ids), KEPT_ROUNDS):
        chunk = round_ids[start : start + KEPT_ROUNDS]
        broken |= _make_each(workspace, tables, chunk)
        for _ in chunk:
            on_round()
    return broken


def _make_each(workspace: Workspace, tables: Sequence[str], round_ids: Sequence[str]) -> dict[str, Exception]:
    """Make some tables of some rounds; returns those of which it cannot be done, and why."""
    try:
        workspace.make(tables, round_ids)
    except (StorageError, UsageError):
        raise
    except Exception as error:  # noqa: BLE001 - as above
        if len(round_ids) == 1:
            return {round_ids[0]: error}
        return {name: why for round_id in round_ids for name, why in _make_each(workspace, tables, [round_id]).items()}
    return {}


def _with_left_out(
    plan: Sequence[PlannedRound], stored: Collection[str], kept: Mapping[str, list[pd.DataFrame]], workspace: Workspace,
    broken: Mapping[str, RoundTables],
) -> dict[str, pd.DataFrame]:  # fmt: skip
    """Add the files that are not copied into the landing area (links, copies, …): each is accounted for all the same.

    A round that has no other file has no folder there, so all of its tables are made here, as are those of `broken`.
    What is said of the others is made again with those files in it: a verdict must not pass over them.
    """
    left_out = [
        read_files(
            [file.found() for file in planned.files if file.reason is not None], planned.round_id, workspace.store
        )
        for planned in plan
        if planned.round_id not in broken and any(file.reason is not None for file in planned.files)
    ]
    alone = run_in_memory(
        [*(tables for tables in left_out if tables.round_id not in stored), *broken.values()], workspace.trust
    )
    beside = [tables for tables in left_out if tables.round_id in stored]
    frames = {}
    for table, frame in kept.items():
        raw = [tables.frame(table) for tables in beside] if table in RAW_TABLES else []
        order = ["round_id", "path"] if table in RAW_TABLES else ["round_id"]
        both = joined(table, [*frame, alone[table], *raw] if is_by_round(table) else frame)
        frames[table] = both.sort_values(order, kind="stable", ignore_index=True) if is_by_round(table) else both
    if beside:
        _make_again(frames, [tables.round_id for tables in beside], workspace.trust)
    return frames


def _make_again(frames: dict[str, pd.DataFrame], round_ids: Sequence[str], trust: Trust) -> None:
    """Make again, for some rounds and those that continue them, every table that follows from the raw ones."""
    changed, rounds = set(RAW_TABLES), frames["core_rounds"]
    named = zip(rounds["round_id"], rounds["parent_round_id"], strict=True)
    parents = {name: parent if isinstance(parent, str) else None for name, parent in named}
    wanted = {name for name in parents if not {name, *ancestors([name], parents.get)}.isdisjoint(round_ids)}
    for step in PIPELINE:
        if step.make is None or step.table in _OF_ALL_ROUNDS or changed.isdisjoint(step.inputs):
            continue
        made = step.make({name: frames[name] for name in step.inputs}, trust)
        changed.add(step.table)
        kept, new = frames[step.table], made[made["round_id"].isin(wanted)]
        both = joined(step.table, [kept[~kept["round_id"].isin(wanted)], new])
        frames[step.table] = both.sort_values("round_id", kind="stable", ignore_index=True)


def _refuse_conflicts(imported: Imported) -> None:
    """A source that changed since it was stored is never overwritten, and never audited in its old version unseen."""
    if imported.conflicts:
        said = "; ".join(f"{excerpt(path)}: {message}" for path, message in imported.conflicts)
        raise UsageError(f"round {imported.round_id} is stored with other bytes: {said}; use another --store")


def built_in_proofs(only: Collection[str] | None = None) -> list[MutationProof]:
    """Prove by mutation the checks an audit makes: those of the catalogue, and those of change events.

    Args:
        only: ids of the checks; None proves every one.

    Raises:
        UsageError: a check of the catalogue reads what is declared; names it.
    """
    changes = [MutationProof(*proof) for proof in change_proofs() if only is None or proof.check_id in only]
    return [*catalogue_proofs(only), *changes]


def stated_proof(check_ids: Collection[str]) -> dict[str, Any]:
    """Prove the checks an audit made and say what came of it: member `proof` of `govern/audit/v1`.

    Only checks that made a record are proved, each on generated rows, so the time has a bound however large the logs.
    """
    proofs = built_in_proofs(set(check_ids))
    return {
        "catalogue_sha256": catalogue_sha256(),
        "checks": len(proofs),
        "cannot_fail": [proof.check_id for proof in proofs if not proof.can_fail],
    }
