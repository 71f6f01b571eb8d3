"""A house with a gate: a throw-away trust root, people with keys, a clock that stands still, and runs over rounds.

Used by the fixtures and by the programs that are killed.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg

from assets_defs.asking import Requests
from assets_defs.decision_sensor import decisions
from assets_defs.definitions import build_defs
from assets_defs.partitions import range_tags
from assets_defs.resources import Gatekeeper
from governance_pipeline.gate.deciding import decide
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.gates import PUBLISH
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.ledger.root_keeping import KEY_FILE, add_principal, make_root
from governance_pipeline.pipeline import TABLES
from governance_pipeline.trust.config import load_config
from governance_pipeline.trust.keys import generate_key, load_signer
from governance_pipeline.trust.principals import Key, Kind, Principal, Role
from governance_pipeline.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
ASSETS = PUBLISH.assets
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class Clock:
    """Gives the time that was set."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


class RealClock:
    """Gives the time of the machine."""

    def __call__(self) -> datetime:
        return datetime.now(UTC)


def make_trust(folder: Path, now: datetime, *people: str) -> None:
    """Make a throw-away trust root with approvers, each with a key file of its name."""
    kept = make_root(folder, folder / "gate.toml", "owner", now, days=365, passphrase=None)
    owner = load_signer(folder / KEY_FILE, None)
    for name in people:
        key = Key(generate_key(folder / f"{name}.pem", None))
        person = Principal(name, Kind.HUMAN, name, frozenset({Role.APPROVER}), (key,))
        kept = add_principal(kept.config, person, owner, now)


class GateHouse:
    """One landing area, lake, trust root and instance below one folder."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance, clock: Clock | RealClock) -> None:
        self.folder = folder
        self.instance = instance
        self.clock = clock
        self.workspace = Workspace(folder / "landing", folder / "lake")
        self.lake = self.workspace.lake
        self.config = folder / "trust" / "gate.toml"
        self.gate = Gatekeeper(self.config, clock)
        self.resources = {"workspace": self.workspace, "gate": self.gate}
        self.defs = build_defs(resources=self.resources)

    @property
    def ledger(self) -> Ledger:
        return Ledger(load_config(self.config).ledger)

    def register(self, *round_ids: str) -> None:
        self.instance.add_dynamic_partitions("rounds", list(round_ids))

    def audit(self, *round_ids: str) -> None:
        """Make every table up to the verdict, without telling Dagster."""
        self.workspace.make(TABLES, round_ids)

    def ask(self, *round_ids: str) -> None:
        """Ask about rounds, without telling Dagster."""
        Requests(self.gate, self.lake).make(["gate_requests"], round_ids)

    def request_id(self, round_id: str) -> str:
        return read_history(self.ledger).in_force("publish", round_id).request_id

    def decide(self, round_id: str, verb: Verb, who: str = "ana", request_id: str | None = None) -> str:
        """Sign and record a decision as a person does; gives its id."""
        signer = load_signer(self.config.parent / f"{who}.pem", None)
        request = request_id or self.request_id(round_id)
        verifier = self.gate.verifier(self.lake)
        event = decide(verifier, request, verb, "I read it", signer, now=self.clock(), nonce=secrets.token_hex(16))
        return str(event.body["decision_id"])

    def approve(self, *round_ids: str, who: str = "ana") -> list[str]:
        return [self.decide(round_id, Verb.APPROVE, who) for round_id in round_ids]

    def change_one_byte(self, round_id: str) -> None:
        """Change a value in the round's log and audit it again."""
        log = self.workspace.landing / round_id / "logs" / "audit.jsonl"
        log.write_bytes(log.read_bytes().replace(b'"ok"', b'"oK"', 1))
        self.audit(round_id)

    def run(self, *round_ids: str, job: str = "publish_job", tags=None, **more) -> dg.ExecuteInProcessResult:
        """Run a job over one round, or over the range from the first to the last."""
        is_one = len(round_ids) == 1
        return self.defs.resolve_job_def(job).execute_in_process(
            instance=self.instance,
            run_config=more.pop("run_config", QUIET),
            partition_key=round_ids[0] if is_one else None,
            tags={**({} if is_one else range_tags(round_ids)), **(tags or {})},
            raise_on_error=False,
            **more,
        )

    def run_selection(self, selection: dg.AssetSelection, *round_ids: str, **more) -> dg.ExecuteInProcessResult:
        """Run any selection, as the Materialize button does."""
        job = dg.define_asset_job("selected_job", selection)
        defs = dg.Definitions.merge(self.defs, dg.Definitions(jobs=[job]))
        house = type(self).__new__(type(self))
        house.__dict__ = {**self.__dict__, "defs": defs}
        return house.run(*round_ids, job="selected_job", **more)

    def tick(self, cursor: str | None = None) -> dg.SensorResult | dg.SkipReason:
        """Evaluate the sensor `decisions` once."""
        with dg.build_sensor_context(instance=self.instance, cursor=cursor, resources=self.resources) as context:
            return decisions(context)

    def files(self, *round_ids: str) -> set[tuple[str, str]]:
        """Give every published file there is: asset and round."""
        rounds = round_ids or tuple(self.instance.get_dynamic_partitions("rounds"))
        return {(a, r) for a in ASSETS for r in self.lake.rounds(a) if r in rounds}

    def shown_as_made(self) -> set[tuple[str, str]]:
        """Give every gated materialization Dagster shows."""
        return {(a, r) for a in ASSETS for r in self.instance.get_materialized_partitions(dg.AssetKey(a))}

    def events(self, round_id: str | None = None, asset: str | None = None) -> list[str]:
        """Give the types of the ledger's events, of one round and asset if named."""
        return [
            event.type
            for event in self.ledger.events()
            if (round_id is None or event.body.get("round_id") == round_id)
            and (asset is None or event.body.get("asset") == asset)
        ]

    def check_status(self, check: str, table: str = "gate_decisions") -> dict[str, str]:
        """Return round -> status of a check, as the partitions page of the check shows it."""
        key = dg.AssetCheckKey(dg.AssetKey(table), check)
        rows = self.instance.event_log_storage.get_asset_check_partition_info([key])
        return {
            row.partition_key: row.latest_execution_status.value if row.is_current else "OUTDATED"
            for row in rows
            if row.partition_key is not None
        }


def refusal_of(result: dg.ExecuteInProcessResult) -> str:
    """Give what the first failed step of a run said."""
    assert not result.success
    failed = [event for event in result.all_events if event.is_step_failure]
    return failed[0].step_failure_data.error.message


AT_HAND: dict[str, GateHouse] = {}
"""Folder -> house, for runs that are executed again from a definition Dagster finds by name, and remembers."""


def job_of_house(name: str, folder: str) -> dg.JobDefinition:
    """Give a job of a house at hand."""
    return AT_HAND[folder].defs.resolve_job_def(name)


@contextmanager
def executed_again(house: GateHouse, run_id: str, round_id: str, *steps: str) -> Iterator[dg.JobExecutionResult]:
    """Execute a failed run again under the same root run: from the failed step on, or the steps that are named."""
    AT_HAND[str(house.folder)] = house
    job = dg.build_reconstructable_job("gate_house", "job_of_house", ("publish_job", str(house.folder)))
    options = dg.ReexecutionOptions.from_failure(run_id, house.instance)
    if steps:
        options = dg.ReexecutionOptions(parent_run_id=run_id, step_selection=steps)
    tags = {"dagster/partition": round_id}
    with dg.execute_job(job, house.instance, reexecution_options=options, run_config=QUIET, tags=tags) as result:
        yield result
