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
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import click
import dagster as dg
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from assets_defs.asking import approve_words
from assets_defs.backfill import failure_reason, persistent_instance, phased_backfill, register, report
from assets_defs.deciding import standings
from assets_defs.decision_sensor import decisions
from assets_defs.definitions import build_defs
from assets_defs.jobs import publish_job
from assets_defs.partitions import chunks
from assets_defs.resources import LAKE_VARIABLE, LANDING_VARIABLE, PROJECT_ROOT, Gatekeeper, open_workspace
from assets_defs.tables import GATED
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.gates import PUBLISH
from governance_pipeline.gate.states import State
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

STORY = (
    "atlas-0002", "atlas-0003", "atlas-0012", "billing-0001", "billing-0004", "billing-0005", "billing-0007",
    "billing-0008", "billing-0010", "parser-0001", "parser-0002", "parser-0004", "parser-0008", "parser-0010",
)  # fmt: skip
"""One round of each kind a gate must tell apart, in four log formats; the others have the same kinds of fault."""

PROCESSES = 2
SHOWN_FINDINGS = 12


class Stage(NamedTuple):
    """Where the story plays."""

    workspace: Workspace
    keeper: Gatekeeper
    instance: dg.DagsterInstance
    key: Path


@click.command()
@click.option("--all", "is_all", is_flag=True, help="All rounds of the sample; takes longer.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=OUT, help="Folder for all it makes.")
def main(out: Path, *, is_all: bool) -> None:
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
        failed = audit(stage, None if is_all else STORY)
        if not failed:
            show_findings(stage.workspace.lake)
            failed = [] if pass_the_gate(stage) else [ROUND]
    click.echo(f"\ninbox    govern gate inbox --lake {_near(out / 'lake')} --config {_near(keeper.place)}")
    click.echo(f"tables   {_near(rebuild(stage.workspace.lake))}")
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


def audit(stage: Stage, only: Sequence[str] | None) -> Sequence[str]:
    """Audit rounds of the sample (None: all) and ask a person about each; give the rounds that failed."""
    present = landing_rounds(stage.workspace.landing, ()).rounds
    wanted = [round_id for round_id in present if only is None or round_id in only]
    registered = register(stage.instance, wanted)
    plan = chunks(set(wanted), registered, -(-len(wanted) // PROCESSES))
    click.echo(
        f"audit    {len(wanted)} of the {len(present)} rounds of {_near(stage.workspace.landing)}, through Dagster"
    )
    return report(phased_backfill(plan, PROCESSES, stage.keeper.named))


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
    click.echo(f"\n{publish_job.name} over {ROUND}, which nobody has approved:")
    click.echo(f"refused  {_publish(stage, ROUND)}")
    command = _approval(stage)
    click.echo(f"\n$ {shlex.join(command)}")
    words = [sys.executable, "-m", "governance_pipeline.cli", *command[1:]]
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    click.echo(f"  (shows {len(done.stdout.splitlines())} lines: everything that is signed for)")
    click.echo("\n".join(done.stdout.splitlines()[-2:] or [done.stderr.strip()]))
    launched = _launched(stage)
    click.echo(f"\nsensor decisions launches {', '.join(launched) or 'nothing'}")
    refusals = [reason for round_id in launched if (reason := _publish(stage, round_id))]
    for reason in refusals:
        click.echo(f"refused  {reason}", err=True)
    return show_published(stage) == {ROUND} and not refusals


def _approval(stage: Stage) -> list[str]:
    """Give the command that approves the round, as it is typed."""
    lake = stage.workspace.lake
    request = read_history(stage.keeper.verifier(lake).ledger).in_force(PUBLISH.name, ROUND)
    if request is None:
        raise click.ClickException(f"nobody was asked about round {ROUND}; the audit of it says why")
    words = approve_words(request.request_id, stage.keeper, lake, str(stage.key))
    near = [str(_near(Path(word))) if word.startswith("/") else word for word in words]
    return [*near, "--reason", "read it, the numbers hold", "--digest", request.subject_sha256[:8]]


def _launched(stage: Stage) -> list[str]:
    """Let the sensor tick once, as the daemon does; give the rounds it asks for."""
    with dg.build_sensor_context(stage.instance, resources=_resources(stage)) as context:
        tick = decisions(context)
    requests = tick.run_requests if isinstance(tick, dg.SensorResult) else None
    return [str(request.partition_key) for request in requests or []]


def _publish(stage: Stage, round_id: str) -> str:
    """Run publication of a round; give the reason it was refused, nothing when it went through."""
    job = build_defs(resources=_resources(stage)).resolve_job_def(publish_job.name)
    config = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    result = job.execute_in_process(
        instance=stage.instance, run_config=config, partition_key=round_id, raise_on_error=False
    )
    return "" if result.success else failure_reason(result)


def show_published(stage: Stage) -> set[str]:
    """Print what is published, and for each other round why it is not; give what is published."""
    lake = stage.workspace.lake
    rounds = lake.rounds("verdict_rounds")
    published = {key for key in rounds if all(lake.has(asset, key) for asset in GATED)}
    for key in sorted(published):
        row = lake.get("published_round_report", key).iloc[0]
        click.echo(f"published {key}, approved by {row['approved_by']}: {_near(lake.root / row['html_path'])}")
    others = standings(lake, stage.keeper, [key for key in rounds if key not in published])
    waiting = [key for key, standing in others.items() if standing.state == State.PENDING]
    click.echo(f"not published, a person may decide: {', '.join(waiting)}")
    click.echo("not published, and nobody can sign for them:")
    for key, standing in others.items():
        if key not in waiting:
            click.echo(f"  {key:<13} {standing.reason}")
    return published


def _resources(stage: Stage) -> Mapping[str, object]:
    return {"workspace": stage.workspace, "gate": stage.keeper}


def _near(path: Path) -> Path:
    """Give a path as it is typed from the working directory, where it lies below it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


if __name__ == "__main__":
    main()
