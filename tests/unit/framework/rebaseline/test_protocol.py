"""No step of a re-baseline is skipped, whatever comes before it; a process that dies between two leaves nothing open."""

from __future__ import annotations

import itertools
import json

import jsonschema
import pytest

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.framework.documents import schema_document
from governance_pipeline.framework.folder import GovernedFolder
from governance_pipeline.framework.rebaseline import declaring, protocol, resuming
from governance_pipeline.framework.rebaseline.declaring import declare, freeze
from governance_pipeline.framework.rebaseline.frozen import freeze_in_force, refuse_if_frozen
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.scaffold.laying_out import lay_out
from governance_pipeline.framework.scaffold.plan import plan_of
from governance_pipeline.ledger.rebaselines import Step, baseline_in_force, read_rebaselines
from governance_pipeline.trust.reasons import ReasonCode, Refusal

STEPS = list(Step)
STAGES = [None, *STEPS]


def is_allowed(stage, step):
    """Say by the rule of the spec whether a step may follow a stage."""
    done = -1 if stage is None else STEPS.index(stage)
    at = STEPS.index(step)
    if stage is Step.RESUME:
        return step is Step.DECLARE
    return at == done + 1 or (1 < at <= done and step is not Step.RESUME)


PAIRS = list(itertools.product(STAGES, STEPS))


@pytest.mark.parametrize(("stage", "step"), [pair for pair in PAIRS if is_allowed(*pair)])
def test_a_step_is_taken_in_its_turn(staged, stage, step):
    house = staged(stage)
    before = house.world.ledger.size()
    house.take(step, **({"scope": "a second change"} if stage is Step.RESUME else {}))
    assert house.world.ledger.size() > before


@pytest.mark.parametrize("stage", STAGES)
def test_every_other_step_is_refused_and_records_nothing(staged, stage):
    house = staged(stage)
    before, refused_steps = house.world.ledger.size(), [step for step in STEPS if not is_allowed(stage, step)]
    assert refused_steps
    for step in refused_steps:
        with pytest.raises(
            FrameworkRefused, match=r"REBASELINE_(NOT_DECLARED|OPEN|STEP_SKIPPED|STEP_TAKEN)"
        ) as refused:
            house.take(step)
        assert refused.value.exit_code == 4
    assert house.world.ledger.size() == before


@pytest.mark.parametrize(
    "step",
    [
        s if s in (Step.DECLARE, Step.REVALIDATE, Step.RESUME) else pytest.param(s, marks=pytest.mark.long)
        for s in STEPS
    ],
)
def test_a_process_that_dies_after_recording_a_step_leaves_what_the_next_command_finishes(staged, step, monkeypatch):
    before = None if step is Step.DECLARE else STEPS[STEPS.index(step) - 1]
    house = staged(before)

    def killed(*_args, **_how):
        if len(set(house.world.events(*protocol.EVENT_OF.values()))) > STEPS.index(step):
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        for module in (protocol, resuming, declaring):
            patched.setattr(module, "keep_in_step", killed)
        with pytest.raises(KeyboardInterrupt):
            house.take(step)
    for later in STEPS[STEPS.index(step) + 1 :]:
        house.take(later)
    if step is Step.RESUME:
        protocol.keep_in_step(house.folder, house.world.ledger, house.project.root, house.now)
    state = json.loads(house.folder.path("03_state/current_state.json").read_text())
    assert state["baseline_version"] == "2.0.0"
    assert state["last_re_baseline_at"]
    assert len(list(house.folder.path("03_state/checkpoints").glob("rebaseline-*.json"))) == 2
    assert "costs are in euro" in house.folder.path("00_governance/audit_logs/incident_log.md").read_text()


@pytest.mark.parametrize("stage", STAGES)
def test_everything_critical_is_refused_from_the_freeze_to_the_resumption(staged, stage):
    house = staged(stage)
    is_frozen = stage not in (None, Step.DECLARE, Step.RESUME)
    assert (freeze_in_force(house.world.ledger, house.project.root, house.now) is not None) is is_frozen
    if is_frozen:
        with pytest.raises(Refusal, match=r"FROZEN.*govern rebaseline status"):
            refuse_if_frozen(house.world.ledger, house.project.root, house.now)
    else:
        refuse_if_frozen(house.world.ledger, house.project.root, house.now)


@pytest.mark.parametrize("who", ["mallory", "dot", "coder-1"])
def test_nobody_without_the_role_declares(house, who):
    with pytest.raises(Refusal) as refused:
        declare(house.project, "a change", house.signer(who))
    assert refused.value.code in (ReasonCode.UNTRUSTED_KEY, ReasonCode.BAD_SIGNATURE)
    assert house.progress() is None


@pytest.mark.parametrize("scope", ["", "  ", "\u200b", "x" * 4001])
def test_a_change_of_scope_is_said_in_words(house, scope):
    with pytest.raises(UsageError):
        declare(house.project, scope, house.signer())


def test_a_forged_declaration_in_the_folder_grants_nothing(house):
    house.take(Step.DECLARE)
    [kept] = house.folder.path("03_state/checkpoints").glob("rebaseline-*.json")
    other = house.root / "other.json"
    other.write_bytes(kept.read_bytes())
    fresh = type(house)(house.root / "fresh")
    (fresh.folder.path("03_state/checkpoints") / kept.name).write_bytes(other.read_bytes())
    assert fresh.progress() is None
    with pytest.raises(FrameworkRefused, match="REBASELINE_NOT_DECLARED"):
        fresh.take(Step.FREEZE)


def test_a_declaration_for_another_change_put_into_the_ledger_declares_nothing(house):
    house.take(Step.DECLARE)
    body = dict(next(house.world.ledger.events(types={"REBASELINE_DECLARED"})).body)
    fresh = type(house)(house.root / "fresh")
    for changed in ({"rebaseline_id": "rebaseline-0000000000000000"}, {"envelope": body["envelope"].replace("A", "B")}):
        fresh.world.ledger.append("REBASELINE_DECLARED", "forger", body | changed, ts=fresh.tick())
    assert fresh.progress() is None


def test_an_edited_declaration_file_changes_nothing_is_named_and_left(house):
    from governance_pipeline.framework.rebaseline.status import status_document

    house.walk(Step.FREEZE)
    [kept] = house.folder.path("03_state/checkpoints").glob("rebaseline-*.json")
    kept.write_text("{}")
    house.take(Step.REDERIVE)
    assert kept.read_text() == "{}"
    document = status_document(house.project, None)
    assert document["edited_checkpoints"] == [f"03_state/checkpoints/{kept.name}"]
    assert document["open"]["missing"][0] == "revalidate"


def test_a_step_that_races_with_another_is_prepared_anew(house, monkeypatch):
    house.take(Step.DECLARE)
    ledger, appended = house.world.ledger, []

    def events(progress):
        if not appended:
            appended.append(ledger.append("OTHER", "x", {}, ts=house.now))
        return [protocol.step_event(progress, Step.FREEZE, {"round_id": None, "reason": "r"}, "x", house.tick())]

    protocol.take(house.project, Step.FREEZE, events)
    assert house.progress().last is Step.FREEZE
    monkeypatch.setattr(protocol, "TRIES", 1)
    appended.clear()
    with pytest.raises(StorageError, match="too busy"):
        protocol.take(
            house.project, Step.REDERIVE, lambda p: [ledger.append("OTHER", "x", {}, ts=house.now), *events(p)][1:]
        )


@pytest.mark.long
def test_the_version_of_the_last_resumption_is_the_baseline_in_force(house):
    house.walk(Step.RESUME)
    baseline = baseline_in_force(read_rebaselines(house.world.ledger), house.project.root, house.now)
    assert baseline.version == "2.0.0"
    house.walk(Step.RESUME, scope="again", round="atlas-0002", version="2.0.1")
    baseline = baseline_in_force(read_rebaselines(house.world.ledger), house.project.root, house.now)
    assert baseline.version == "2.0.1"


def test_the_steps_of_a_project_are_taken_in_its_folder_and_freeze_what_shares_its_ledger(house):
    house.take(Step.DECLARE)
    other = house.root / "other"
    lay_out(other, plan_of("en"))
    elsewhere = house.project._replace(folder=GovernedFolder(other))
    for call in (freeze, lambda project: declare(project, "a change", house.signer())):
        with pytest.raises(FrameworkRefused, match=r"REBASELINE_(OTHER_PROJECT|OPEN)"):
            call(elsewhere)
    house.take(Step.FREEZE)
    with pytest.raises(Refusal, match="FROZEN"):
        refuse_if_frozen(elsewhere.ledger, elsewhere.root, house.now)


def test_the_declaration_keeps_its_schema(house):
    house.take(Step.DECLARE)
    document = house.progress().declared.document
    jsonschema.validate(dict(document), schema_document("rebaseline-declaration-v1"))
