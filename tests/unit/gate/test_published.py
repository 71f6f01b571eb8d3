"""Every file in the folders of gated assets, and every page, is held to the ledger and to the decisions in it."""

from __future__ import annotations

import os

import pytest
from gate_world import FEATURES, HOUR, NOON, REPORT, digest

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.gate.events import EventType
from governance_pipeline.gate.publication import publish, published_round_report
from governance_pipeline.gate.published import count_files, receipt, unaccounted, unaccounted_files
from governance_pipeline.gate.published_pages import page_fault
from governance_pipeline.trust.reasons import Refusal

AT = NOON + HOUR


@pytest.fixture
def published(approved):
    """A world in which both gated assets of r1 were published."""
    for asset in (FEATURES, REPORT):
        (release,) = approved.guard(asset, now=AT)
        publish(release, now=lambda: AT)
    return approved


def _found(world, *, trusted=True):
    root = world.verifier().root if trusted else None
    return [(f.asset, f.round_id, f.message) for f in unaccounted_files(world.lake, world.history(), root)]


def _page(world):
    (page,) = (world.lake.root / "reports").iterdir()
    return page


def test_what_was_published_is_accounted_for(published):
    assert _found(published) == _found(published, trusted=False) == []
    assert count_files(published.lake) == 2


def _use(world, decision, subject, asset=FEATURES):
    body = {
        "gate": "publish", "round_id": "r1", "asset": asset, "request_id": "x", "decision_id": decision,
        "subject_sha256": subject, "run_id": "x", "root_run_id": "x",
    }  # fmt: skip
    world.ledger.append(EventType.CONSUMED, "forger", body, ts=NOON)


def test_a_use_of_a_decision_nobody_made_accounts_for_nothing(published):
    frame = published.lake.get(FEATURES, "r1")
    decision, subject = "f" * 64, "e" * 64
    _use(published, decision, subject)
    published.lake.put(FEATURES, "r1", frame, receipt([decision], subject))
    for trusted in (True, False):
        said = " ".join(message for _, _, message in _found(published, trusted=trusted))
        assert f"rests on decision {decision}, which no approver has made" in said
        assert f"says that decision {decision} was used, which no approver has made" in said
    root = published.verifier().root
    assert "no approver" in unaccounted(FEATURES, "r1", published.lake, published.history(), root)


def test_a_use_of_a_decision_an_outsider_signed_accounts_for_nothing(asked):
    statement = asked.statement(asked.id)
    asked.forge(asked.sign(statement, "mallory"), statement)
    (recorded,) = asked.history().decisions
    _use(asked, recorded.decision_id, statement.subject_sha256)
    ((asset, round_id, message),) = _found(asked)
    assert (asset, round_id) == (FEATURES, "r1")
    assert "no approver has made" in message
    assert _found(asked, trusted=False) == [], "who signed is known by the trust root alone"


def test_a_use_of_a_decision_about_other_bytes_accounts_for_nothing(approved):
    _use(approved, approved.decision, "e" * 64)
    assert "no approver has made" in _found(approved)[0][2]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda page: page.unlink(), "is gone; restore it"),
        (lambda page: (page.chmod(0o600), page.write_text("<p>all is well")), "was changed"),
        (lambda page: (page.unlink(), os.mkfifo(page)), "cannot be read"),
        (lambda page: (page.rename(page.with_name("x")), page.symlink_to("x")), "cannot be read"),
    ],
)
def test_a_page_that_is_gone_or_changed_is_named(published, spoil, said):
    spoil(_page(published))
    (asset, round_id, message), *_ = _found(published)
    assert (asset, round_id) == (REPORT, "r1")
    assert said in message


@pytest.mark.parametrize("name", [f"{digest('rogue')}.html", "index.html", "note.txt"])
def test_a_page_nobody_released_is_named(published, name):
    (published.lake.root / "reports" / name).write_text("rogue")
    ((asset, round_id, message),) = _found(published)
    assert (asset, round_id) == ("reports", "")
    assert f"reports/{name} is no page of a published report" in message


def test_an_unfinished_temporary_page_is_nobodys_fault(published):
    (published.lake.root / "reports" / ".tmp-1-0").write_text("half")
    assert _found(published) == []


def test_a_row_that_names_another_page_than_its_digest_is_named(published):
    (row,) = published.lake.get(REPORT, "r1").to_dict("records")
    assert page_fault(published.lake.root, row) is None
    assert "names the page 'reports/x.html'" in page_fault(published.lake.root, {**row, "html_path": "reports/x.html"})


def _rogue(folder):
    (folder / f"{digest('rogue')}.parquet").write_bytes(b"PAR1 rogue")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_rogue, "is no file the gate let through"),
        (lambda folder: (folder / "current").unlink(), "is not in force any more"),
        (lambda folder: (folder / "extra.parquet").mkdir(), "is no file the gate let through"),
        (lambda folder: (folder / "rows.csv").write_text("x"), "has rows.csv beside it"),
        (lambda folder: ((folder / "current").unlink(), os.mkfifo(folder / "current")), "is no file the gate let"),
        (lambda folder: (folder / "current").write_text("../../etc/passwd"), "is no file the gate let through"),
        (lambda folder: (folder.rename(folder.with_name("x")), folder.symlink_to("x")), "link to elsewhere"),
    ],
)
def test_whatever_lies_in_the_folder_of_a_round_is_held_to_the_ledger(published, spoil, said):
    spoil(published.lake.root / FEATURES / "round=r1")
    assert any(said in message for _, _, message in _found(published))
    assert said in unaccounted(FEATURES, "r1", published.lake, published.history())


def test_a_pipe_in_the_place_of_a_pointer_is_one_fault_and_stops_nothing(published):
    folder = published.lake.root / FEATURES / "round=r4"
    folder.mkdir()
    os.mkfifo(folder / "current")
    ((asset, round_id, message),) = _found(published)
    assert (asset, round_id) == (FEATURES, "r4")
    assert "is no file the gate let through" in message


def test_a_folder_that_is_none_of_a_round_is_named(published):
    (published.lake.root / FEATURES / "all").mkdir()
    (published.lake.root / FEATURES / "round=..").write_text("x")
    assert [message for _, _, message in _found(published)] == [
        f"{FEATURES}/all was not written by the gate; look at it",
        f"{FEATURES}/round=.. was not written by the gate; look at it",
    ]


def test_a_second_use_is_refused_although_the_pointer_was_removed(approved):
    path = approved.ledger.path
    older = {p.name: p.read_bytes() for p in path.parent.glob("ledger.sqlite*")}
    (release,) = approved.guard(now=AT)
    publish(release, now=lambda: AT)
    for file in path.parent.glob("ledger.sqlite*"):
        file.unlink()
    for name, data in older.items():
        (path.parent / name).write_bytes(data)
        (path.parent / name).chmod(0o600)
    (approved.lake.root / FEATURES / "round=r1" / "current").unlink()
    with pytest.raises(Refusal, match=r"LOG_INCONSISTENT.*the ledger is an older copy"):
        approved.guard(run="run-2", now=AT)


def test_an_older_publication_put_back_in_force_is_named(published):
    first = published.lake.digest(FEATURES, "r1")
    published.make_round(surface=4.0)
    published.decide(published.request(now=AT), now=AT)
    (release,) = published.guard(run="run-2", now=AT)
    publish(release, now=lambda: AT)
    assert _found(published) == []
    (published.lake.root / FEATURES / "round=r1" / "current").write_text(f"{first}\n")
    ((_, _, message),) = _found(published)
    assert "somebody put an older one back" in message


def test_bytes_put_under_a_passage_that_was_begun_are_unfinished_and_the_run_that_goes_on_replaces_them(approved):
    (release,) = approved.guard(REPORT, now=AT)
    (row,) = published_round_report(release).frame.to_dict("records")
    row = frame_of(REPORT, [{**row, "approved_by": '["mallory"]'}])
    forged = approved.lake.put(REPORT, "r1", row, receipt(release.decision_ids, release.subject_sha256))
    assert any("is unfinished" in message for _, _, message in _found(approved))
    (again,) = approved.guard(REPORT, run="retry", root_run="run-1", now=AT)
    stored = publish(again, now=lambda: AT)
    assert approved.lake.digest(REPORT, "r1") == stored.digest != forged.digest
    assert any(f"has digest {forged.digest}, released was" in message for _, _, message in _found(approved))
    forged.path.unlink()
    assert _found(approved) == []
