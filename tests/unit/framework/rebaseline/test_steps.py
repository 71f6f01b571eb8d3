"""What each step of a re-baseline asks: a new measurement, no ambiguous entry, a changelog, a row, a later version."""

from __future__ import annotations

import pytest

from governance_pipeline.errors import FaultyFileError, UsageError
from governance_pipeline.framework.folder import INCIDENT_LOG, POLICIES, REQUIREMENTS
from governance_pipeline.framework.rebaseline.measurement import measure
from governance_pipeline.framework.rebaseline.recording import record
from governance_pipeline.framework.rebaseline.rederiving import rederive
from governance_pipeline.framework.rebaseline.reissuing import Retired, reissue
from governance_pipeline.framework.rebaseline.resuming import resume
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.ledger.rebaselines import Step
from governance_pipeline.trust.reasons import ReasonCode, Refusal


def refused(code, call, *args, **how):
    with pytest.raises(FrameworkRefused) as caught:
        call(*args, **how)
    assert caught.value.code == f"REBASELINE_{code}"
    return str(caught.value)


# ---------------------------------------------------------------- rederive
def test_a_sample_of_nothing_is_none(house, tmp_path):
    house.walk(Step.FREEZE)
    (tmp_path / "empty").mkdir()
    refused("NO_SAMPLE", rederive, house.project, tmp_path / "empty")
    (tmp_path / "blank" / "r-1").mkdir(parents=True)
    refused("NO_SAMPLE", rederive, house.project, tmp_path / "blank")
    with pytest.raises(UsageError):
        rederive(house.project, tmp_path / "nowhere")
    with pytest.raises(UsageError):
        rederive(house.project, tmp_path / "empty", ["r-9"])


def test_numbers_are_those_of_the_files_and_the_same_for_the_same_files(sample):
    first, again = measure(sample, ["r-1"]), measure(sample, ["r-1"])
    assert first == again
    assert first.numbers["rounds"] == "1"
    assert int(first.numbers["lines_in"]) > 0
    log = next(p for p in (sample / "r-1" / "logs").iterdir())
    log.write_bytes(log.read_bytes() + b"\n")
    assert measure(sample, ["r-1"]).sample_sha256 != first.sample_sha256


def test_the_sample_of_the_old_baseline_is_refused(house):
    house.walk(Step.RESUME)
    house.take(Step.DECLARE, scope="a second change")
    house.take(Step.FREEZE)
    said = refused("OLD_SAMPLE", house.take, Step.REDERIVE)
    assert "copies the old baseline" in said
    house.take(Step.REDERIVE, round="atlas-0002")


def test_a_sample_that_changed_after_it_was_measured_stops_the_resumption(house, sample):
    house.walk(Step.FREEZE)
    rederive(house.project, sample)
    for step in (Step.REVALIDATE, Step.REISSUE, Step.RECORD):
        house.take(step)
    log = next(p for p in (sample / "r-1" / "logs").iterdir())
    kept = log.read_bytes()
    log.write_bytes(kept + b"\n")
    assert "sample_sha256" in refused("SAMPLE_CHANGED", house.take, Step.RESUME)
    log.write_bytes(kept)
    house.take(Step.RESUME)


def test_numbers_that_were_never_measured_stop_the_resumption(house):
    house.walk(Step.FREEZE)
    progress = house.take(Step.REDERIVE)
    honest = dict(next(house.world.ledger.events(types={"REBASELINE_REDERIVED"})).body)
    numbers = {**honest["numbers"], "steps": "999"}
    house.world.ledger.append("REBASELINE_REDERIVED", "forger", {**honest, "numbers": numbers}, ts=house.tick())
    for step in (Step.REVALIDATE, Step.REISSUE, Step.RECORD):
        house.take(step)
    assert progress.rebaseline_id == honest["rebaseline_id"]
    assert "numbers" in refused("SAMPLE_CHANGED", house.take, Step.RESUME)


# ---------------------------------------------------------------- revalidate
def test_every_entry_needs_a_mark_and_a_mark_needs_an_entry(house, marks):
    house.register("sales")
    house.register("people")
    house.walk(Step.REDERIVE)
    said = refused("ENTRY_AMBIGUOUS", house.take, Step.REVALIDATE, marks={"sales": marks.RECONFIRMED})
    assert "people" in said
    with pytest.raises(UsageError, match="no asset 'other'"):
        house.take(Step.REVALIDATE, marks={"other": marks.OBSOLETE})


def test_a_file_with_other_bytes_cannot_be_reconfirmed_but_marked(house, marks):
    path = house.register("sales")
    house.walk(Step.REDERIVE)
    path.write_text("other")
    refused("ENTRY_CHANGED", house.take, Step.REVALIDATE, marks={"sales": marks.RECONFIRMED})
    house.take(Step.REVALIDATE, marks={"sales": marks.PENDING_REPLACEMENT})
    assert house.registry().asset("sales").status == "pending_replacement"


def test_marks_stand_in_the_registry_and_reconfirmed_entries_get_the_new_version(house, marks):
    house.register("sales")
    house.register("people")
    chosen = {"sales": marks.RECONFIRMED, "people": marks.OBSOLETE}
    house.walk(Step.RESUME, marks=chosen)
    assert [(a.name, a.status, a.baseline_version) for a in house.registry().assets] == [
        ("sales", "canonical", "2.0.0"),
        ("people", "obsolete", None),
    ]


def test_an_entry_added_or_changed_after_it_was_looked_at_stops_the_resumption(house, marks):
    path = house.register("sales")
    house.walk(Step.RECORD, marks={"sales": marks.RECONFIRMED})
    kept = path.read_text()
    path.write_text("other")
    refused("ENTRY_CHANGED", house.take, Step.RESUME)
    path.write_text(kept)
    house.register("people")
    refused("ENTRY_AMBIGUOUS", house.take, Step.RESUME)


def test_a_registry_that_the_ledger_does_not_know_is_not_judged(house):
    house.walk(Step.REDERIVE)
    house.register("sales")
    path = house.folder.path("03_state/canonical_registry.json")
    path.write_text(path.read_text().replace("sales.csv", "other.csv"))
    refused("ENTRY_CHANGED", house.take, Step.REVALIDATE)


# ---------------------------------------------------------------- reissue
def edit(house, document=POLICIES, old="stays `null`", new="stays `null`, in euro too"):
    path = house.folder.path(document)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


RETIRED = Retired("policies", "3", "amounts carry their currency now")


def test_an_edited_document_without_a_changelog_is_refused_and_one_nobody_edited_too(house):
    house.walk(Step.REVALIDATE)
    refused("NO_CHANGELOG", reissue, house.project, [])
    refused("NO_CHANGELOG", reissue, house.project, [RETIRED])
    edit(house)
    refused("NO_CHANGELOG", reissue, house.project, [], "nothing changed")
    refused("NO_CHANGELOG", reissue, house.project, [Retired("requirements", "goal", "another goal")])
    reissue(house.project, [RETIRED])
    assert "| 3 | amounts carry their currency now | ana (rebaseline-" in house.folder.path(POLICIES).read_text()


@pytest.mark.parametrize(
    ("retired", "why"),
    [
        ([Retired("policies", " ", "x")], None), ([Retired("policies", "3", "")], None), ([], " "),
        ([Retired("readme", "3", "x")], None), ([RETIRED], "nothing changed"),
    ],
)  # fmt: skip
def test_a_changelog_names_document_rule_and_why(house, retired, why):
    house.walk(Step.REVALIDATE)
    with pytest.raises(UsageError):
        reissue(house.project, retired, why)


def test_a_changelog_written_by_a_try_that_died_is_not_written_twice(house, monkeypatch):
    house.walk(Step.REVALIDATE)
    edit(house)
    edit(house, REQUIREMENTS, "## Goal", "## Goal of the new client")
    entries = [RETIRED, Retired("requirements", "goal", "another client")]
    with monkeypatch.context() as patched:
        patched.setattr("governance_pipeline.framework.rebaseline.reissuing.take", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            reissue(house.project, entries)
    reissue(house.project, entries)
    assert house.folder.path(POLICIES).read_text().count("amounts carry") == 1
    assert house.folder.path(REQUIREMENTS).read_text().count("another client") == 1


def test_a_document_without_a_table_for_its_changelog_is_named(house):
    house.walk(Step.REVALIDATE)
    house.folder.path(POLICIES).write_text("# no rules any more\n")
    with pytest.raises(FaultyFileError, match="no_table"):
        reissue(house.project, [RETIRED])


def test_a_document_edited_after_it_was_issued_stops_the_resumption(house):
    house.walk(Step.RECORD)
    edit(house)
    refused("DOCUMENT_CHANGED", house.take, Step.RESUME)
    reissue(house.project, [RETIRED])
    house.take(Step.RECORD)
    house.take(Step.RESUME)


# ---------------------------------------------------------------- record and resume
def test_a_rebaseline_is_recorded_also_when_nothing_failed_and_its_row_must_stand(house):
    house.walk(Step.REISSUE)
    with pytest.raises(UsageError):
        record(house.project, " ", "a lesson")
    house.take(Step.RECORD)
    path = house.folder.path(INCIDENT_LOG)
    kept = path.read_text()
    assert f"[{house.progress().rebaseline_id}]" in kept
    path.write_text(kept.replace("nobody asked for the unit", "all was well"))
    refused("NOT_RECORDED", house.take, Step.RESUME)
    path.write_text(kept)
    house.take(Step.RESUME)


@pytest.mark.parametrize("version", ["1.0.0", "0.9.9", "1.0"])
def test_a_version_that_is_not_later_is_refused(house, version):
    house.walk(Step.RECORD)
    with pytest.raises((FrameworkRefused, UsageError)):
        house.take(Step.RESUME, version=version)
    house.take(Step.RESUME, version="1.0.1")


@pytest.mark.parametrize("who", ["mallory", "dot", "coder-1"])
def test_nobody_without_the_role_resumes(house, who):
    house.walk(Step.RECORD)
    with pytest.raises(Refusal):
        resume(house.project, "2.0.0", house.signer(who))
    assert house.progress().last is Step.RECORD


def test_a_step_taken_after_the_person_looked_is_not_signed_for(house):
    house.walk(Step.RECORD)
    seen = house.progress().chain_sha256
    house.take(Step.RECORD)
    with pytest.raises(Refusal) as refusal:
        resume(house.project, "2.0.0", house.signer(), chain_sha256=seen)
    assert refusal.value.code is ReasonCode.DIGEST_MISMATCH
