"""`govern features register` and `sensitivity`: weights declared before evaluation, and what rests on them.

What belongs here: arguments and printing. What does not: rules; they are in `trajectory`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.signing import AS_JSON, CONFIG, answer, clock
from governance_pipeline.cli.verdict_inputs import LANDING, bytes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from governance_pipeline.ledger.ledger import Ledger

MOST_LISTED = 30
WEIGHTS = click.argument("file", metavar="WEIGHTS", type=click.Path(path_type=Path))


@click.command(
    epilog="\b\nExample: govern features register weights.json\nExit: 0, 2 refused, 4 the id was registered before"
)
@WEIGHTS
@CONFIG
@AS_JSON
def register(file: Path, config_path: Path | None, as_json: bool) -> None:
    """Declare the evidence weights in WEIGHTS (govern/evidence-weights/v1).

    Their digest and the time go into the ledger. Only rounds that begin later can be evaluated with them.
    """
    from governance_pipeline.ledger.weights import weights_event
    from governance_pipeline.trajectory.evidence_weights import read_weights
    from governance_pipeline.trust.instants import instant_text

    weights = read_weights(bytes_of(file))
    entry = weights_event(weights.weights_id, weights.sha256, weights.document, clock())
    event = _ledger(config_path).append_all([entry])[0]
    document = {
        "schema": "govern/weights-registered/v1",
        "weights_id": weights.weights_id,
        "sha256": weights.sha256,
        "registered_at": instant_text(event.ts),
        "ledger_seq": event.seq,
    }
    line = f"{weights.weights_id} registered as event {event.seq}, sha256 {weights.sha256}"
    answer(document, [line], as_json=as_json)


@click.command(epilog="Example: govern features sensitivity weights.json --all --landing data/sample/rounds")
@WEIGHTS
@click.argument("folders", metavar="[ROUND_DIR]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--all", "all_rounds", is_flag=True, help="All rounds of the landing folder instead.")
@click.option("--samples", type=click.IntRange(1, 100_000), default=1000, show_default=True, help="Draws of the sweep.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the sweep.")
@LANDING
@CONFIG
@AS_JSON
def sensitivity(
    file: Path, folders: tuple[Path, ...], all_rounds: bool, samples: int, seed: int, landing: Path,
    config_path: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Rank rounds by weighted evidence, and show how much of it rests on the weights in WEIGHTS.

    Each weight is made 20 % smaller and larger, and a seeded sweep tries all mixtures. Refused unless the weights were
    registered before the first of the rounds began.
    """
    from governance_pipeline.ledger.weights import registered_weights
    from governance_pipeline.trajectory import sensitivity as swept
    from governance_pipeline.trajectory.evidence_weights import read_weights, refuse_younger
    from governance_pipeline.trust.instants import instant_text

    if bool(folders) == all_rounds:
        raise click.UsageError("give either round folders or --all")
    weights = read_weights(bytes_of(file))
    registered = registered_weights(_ledger(config_path), weights.weights_id)
    tables = _tables(list(folders) or _landed(landing), swept.SENSITIVITY_TABLES)
    refuse_younger(weights, registered, tables["core_rounds"])
    document = {
        "schema": swept.SCHEMA,
        "weights_id": weights.weights_id,
        "sha256": weights.sha256,
        "registered_at": "" if registered is None else instant_text(registered.registered_at),
        **swept.sensitivity(swept.weigh(tables, weights), samples, seed),
    }
    answer(document, _lines(document), as_json=as_json)


def _ledger(config_path: Path | None) -> Ledger:
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.config import load_config

    return Ledger(load_config(config_path).ledger)


def _landed(landing: Path) -> list[Path]:
    from governance_pipeline.rounds.landing import landing_rounds

    found = landing_rounds(landing).rounds
    if not found:
        raise click.UsageError(f"{str(landing)!r} holds no round; import some with `govern rounds import`")
    return [landing / round_id for round_id in found]


def _tables(folders: Sequence[Path], wanted: Sequence[str]) -> Mapping[str, pd.DataFrame]:
    from governance_pipeline.ingest.round import read_round
    from governance_pipeline.pipeline import joined
    from governance_pipeline.storage.content import ContentStore
    from governance_pipeline.vocabulary import is_round_id

    for folder in folders:
        if folder.is_symlink() or not folder.is_dir() or not is_round_id(folder.resolve().name):
            raise click.UsageError(f"{str(folder)!r} is no round folder; its name is the id of its round")
    with tempfile.TemporaryDirectory(prefix="govern-weights-") as scratch:
        store = ContentStore(Path(scratch))
        read = [read_round(folder, folder.resolve().name, store) for folder in folders]
        return {table: joined(table, [one.frame(table) for one in read]) for table in wanted}


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    from governance_pipeline.trajectory.sensitivity import ranking

    rounds, sweep = ranking(document), document["dirichlet"]
    for row in rounds[:MOST_LISTED]:
        yield (
            f"{row['rank']:>4}  {row['round_id']}  E {row['E']:.3f}, {row['E_min']:.3f} to {row['E_max']:.3f}; "
            f"another rank in {row['rank_changes_share']:.0%} of the draws"
        )
    if len(rounds) > MOST_LISTED:
        yield f"and {len(rounds) - MOST_LISTED} more; --json lists all"
    for shift in document["shifts"]:
        yield f"{shift['criterion']} x {shift['factor']}: {shift['rounds_changing_rank']} rounds change rank"
    yield f"{sweep['rounds_changing_rank']} of {len(rounds)} rounds change rank in {sweep['samples']} draws"
    for row in document["unknown"]:
        yield f"unknown: {row['round_id']}: {row['reason']}"
