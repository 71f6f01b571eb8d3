"""The whole thread on the sample: `python -m assets_defs.demo` audits, refuses, has one round approved, publishes it.

Everything it makes lies below `data/out` and is made anew each time. Its trust root is a throw-away one: the key of
the person lies beside it without a passphrase, and it believes the published keys of the sample's validators. Every
decision made with it says so, and no other verifier takes it.

What belongs here: the order of the story and its words. What does not: anything a real round would need.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import click
import dagster as dg
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from assets_defs.asking import approve_words
from assets_defs.backfill import failure_reason, parallel_backfill, persistent_instance, register, report
from assets_defs.deciding import standings
from assets_defs.decision_sensor import decisions
from assets_defs.definitions import build_defs
from assets_defs.jobs import publish_job
from assets_defs.partitions import chunks
from assets_defs.resources import LAKE_VARIABLE, LANDING_VARIABLE, PROJECT_ROOT, Gatekeeper, open_workspace
from assets_defs.tables import GATED
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.gates import PUBLISH
from governance_pipeline.ledger.root_keeping import KEY_FILE, add_principal, make_root
from governance_pipeline.rounds.landing import landing_rounds
from governance_pipeline.storage.lake import Lake
from governance_pipeline.storage.warehouse import rebuild
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.trust.keys import generate_key, load_signer
from governance_pipeline.trust.principals import Key, Kind, Principal, Role
from governance_pipeline.workspace import Workspace

SAMPLE = PROJECT_ROOT / "data" / "sample"
OUT = PROJECT_ROOT / "data" / "out"
PERSON = "demo-human"
ROUND = "parser-0002"
"""The round that is approved: in final mode, clean, with an independent validator."""

PROCESSES = 2
SHOWN_FINDINGS = 8


class Stage(NamedTuple):
    """Where the story plays."""

    workspace: Workspace
    keeper: Gatekeeper
    instance: dg.DagsterInstance
    key: Path


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=OUT, help="Folder for all it makes.")
def main(out: Path) -> None:
    r"""Audit the sample through Dagster, then let one round through the gate.

    \b
    Example:
      python -m assets_defs.demo
    """
    out = out.absolute()
    os.environ |= {LANDING_VARIABLE: str(SAMPLE / "rounds"), LAKE_VARIABLE: str(out / "lake")}
    key = make_trust(out)
    keeper = Gatekeeper(out / "trust" / "gate.toml")
    with persistent_instance() as instance:
        stage = Stage(open_workspace(keeper, click.echo), keeper, instance, key)
        failed = audit(stage)
        if not failed:
            show_findings(stage.workspace.lake)
            failed = [] if pass_the_gate(stage) else [ROUND]
    click.echo(f"\ntables   {_near(rebuild(stage.workspace.lake))}")
    sys.exit(1 if failed else 0)


def make_trust(out: Path) -> Path:
    """Make a new throw-away trust root with one person, and the validators of the sample; give the person's key.

    What an earlier demo left is removed, its tables too: they name decisions of a ledger that goes with its root.
    """
    folder = out / "trust"
    if folder.exists():
        shutil.rmtree(folder)
        shutil.rmtree(out / "lake", ignore_errors=True)
    now = datetime.now(UTC)
    kept = make_root(folder, folder / "gate.toml", "demo-root", now, days=30, passphrase=None)
    owner = load_signer(folder / KEY_FILE, None)
    public_key = generate_key(folder / f"{PERSON}.pem", None)
    person = Principal(PERSON, Kind.HUMAN, PERSON, frozenset({Role.APPROVER}), (Key(public_key),))
    for principal in (person, *sample_validators()):
        kept = add_principal(kept.config, principal, owner, now)
    click.echo(f"gate     throw-away trust root in {_near(folder)}; every decision made with it says so")
    return folder / f"{PERSON}.pem"


def sample_validators() -> Iterator[Principal]:
    """Give the agents that signed something in the sample, with their keys, which are published on purpose."""
    for agent_id in [key["agent_id"] for key in parse_json((SAMPLE / "expected.json").read_bytes())["attesting_keys"]]:
        secret = hashlib.sha256(f"governance-pipeline sample key of {agent_id}".encode()).digest()
        public_key = Ed25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()
        yield Principal(agent_id, Kind.AGENT, agent_id, frozenset({Role.VALIDATOR}), (Key(public_key),))


def audit(stage: Stage) -> Sequence[str]:
    """Audit every round of the sample and ask a person about each; give the rounds that failed."""
    wanted = landing_rounds(stage.workspace.landing, ()).rounds
    registered = register(stage.instance, wanted)
    plan = chunks(set(wanted), registered, -(-len(wanted) // PROCESSES))
    return report(parallel_backfill(plan, PROCESSES, stage.keeper.named))


def show_findings(lake: Lake) -> None:
    """Print how the rounds were judged, and the worst findings."""
    rounds = lake.rounds("verdict_rounds")
    status = Counter(lake.get("verdict_rounds", key)["status"].iloc[0] for key in rounds)
    click.echo(f"\nverdicts {', '.join(f'{status[word]} {word}' for word in ('block', 'warn', 'unknown', 'pass'))}")
    found = [row for key in rounds for row in lake.get("verdict_findings", key).to_dict("records")]
    worst = [row for word in ("block", "warn") for row in found if row["decision"] == word]
    for row in worst[:SHOWN_FINDINGS]:
        click.echo(f"  {row['decision']:<6} {row['round_id']:<13} {row['code']}: {row['message']}")
    if len(worst) > SHOWN_FINDINGS:
        click.echo(f"  and {len(worst) - SHOWN_FINDINGS} more; `govern verdict show ROUND` says each with its place")


def pass_the_gate(stage: Stage) -> bool:
    """Show the refusal of one round, its approval, its publication, and why no other round is published."""
    click.echo(f"\n$ dagster job execute -j {publish_job.name}   # round {ROUND}, which nobody has approved")
    click.echo(f"refused  {_publish(stage, ROUND)}")
    command = _approval(stage)
    click.echo(f"\n$ {shlex.join(command)}")
    words = [sys.executable, "-m", "governance_pipeline.cli", *command[1:]]
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    click.echo((done.stdout.splitlines() or [done.stderr.strip()])[-1])
    with dg.build_sensor_context(stage.instance, resources=_resources(stage)) as context:
        tick = decisions(context)
    asked_for = (
        [request.partition_key for request in tick.run_requests or []] if isinstance(tick, dg.SensorResult) else []
    )
    click.echo(f"\nsensor   decisions launches {', '.join(map(str, asked_for)) or 'nothing'}")
    refusals = [reason for round_id in asked_for if (reason := _publish(stage, str(round_id)))]
    for reason in refusals:
        click.echo(f"refused  {reason}", err=True)
    return _show_published(stage) == {ROUND} and not refusals


def _approval(stage: Stage) -> list[str]:
    request = read_history(stage.keeper.verifier(stage.workspace.lake).ledger).in_force(PUBLISH.name, ROUND)
    if request is None:
        raise click.ClickException(f"nobody was asked about round {ROUND}; the audit of it says why")
    words = approve_words(request.request_id, stage.keeper, stage.workspace.lake, str(_near(stage.key)))
    return [*words, "--reason", "read it, the numbers hold", "--digest", request.subject_sha256[:8]]


def _publish(stage: Stage, round_id: str) -> str:
    """Run publication of a round; give the reason it was refused, nothing when it went through."""
    job = build_defs(resources=_resources(stage)).resolve_job_def(publish_job.name)
    config = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    result = job.execute_in_process(
        instance=stage.instance, run_config=config, partition_key=round_id, raise_on_error=False
    )
    return "" if result.success else failure_reason(result)


def _show_published(stage: Stage) -> set[str]:
    lake = stage.workspace.lake
    rounds = lake.rounds("verdict_rounds")
    published = {key for key in rounds if all(lake.has(asset, key) for asset in GATED)}
    for key in sorted(published):
        row = lake.get("published_round_report", key).iloc[0]
        click.echo(f"published {key}: {_near(lake.root / row['html_path'])}, approved by {row['approved_by']}")
    reasons: dict[str, list[str]] = defaultdict(list)
    for key, standing in standings(lake, stage.keeper, [key for key in rounds if key not in published]).items():
        reasons[standing.state].append(key)
    click.echo("not published, each with the reason its run would give:")
    for state, keys in sorted(reasons.items()):
        click.echo(f"  {state:<16} {', '.join(keys)}")
    return published


def _resources(stage: Stage) -> Mapping[str, object]:
    return {"workspace": stage.workspace, "gate": stage.keeper}


def _near(path: Path) -> Path:
    """Give a path as it is typed from the working directory, where it lies below it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


if __name__ == "__main__":
    main()
