"""What is published is what was approved, says who approved it, and carries a receipt the ledger knows."""

from __future__ import annotations

import json

import pytest
from gate_world import FEATURES, HOUR, NOON, PEOPLE, REPORT, digest

from governance_pipeline.contracts.registry import frame_of, validate
from governance_pipeline.gate.publication import publish, published_features, published_round_report, write
from governance_pipeline.gate.published import RECEIPT, unaccounted, unaccounted_files

AT = NOON + HOUR


def _release(world, asset):
    (release,) = world.guard(asset, now=AT)
    return release


def test_features_are_the_approved_rows_with_who_approved_them(approved):
    release = _release(approved, FEATURES)
    frame = validate(FEATURES, published_features(release))
    upstream = release.frame("features_step_surface")
    assert frame[list(upstream.columns)].equals(upstream)
    row = frame.iloc[0]
    assert (json.loads(row["approved_by"]), json.loads(row["decision_ids"])) == (["ana"], [approved.decision])
    assert row["subject_sha256"] == approved.history().requests[0].subject_sha256
    assert (row["aus_round"], row["evidence_share_round"], row["is_throwaway"]) == (3.0, 0.5, False)


def test_a_round_without_steps_publishes_no_row_and_still_has_its_receipt(world):
    world.lake.put("features_step_surface", "r1", frame_of("features_step_surface", []))
    world.decide(world.request())
    stored = publish(_release(world, FEATURES), now=lambda: AT)
    assert stored.rows == 0
    assert world.lake.metadata(FEATURES, "r1")[RECEIPT]


def test_the_report_is_one_file_named_by_its_digest_with_every_number_and_name(approved):
    release = _release(approved, REPORT)
    publish(release, now=lambda: AT)
    row = validate(REPORT, approved.lake.get(REPORT, "r1")).iloc[0]
    html = (approved.lake.root / row["html_path"]).read_text("utf-8")
    assert digest(html) == row["html_sha256"]
    assert len(html.encode()) == row["html_bytes"]
    for text in ("ana", "I read it", approved.decision, release.subject_sha256, "dependency-added", "<svg"):
        assert text in html
    for table, sha256 in release.inputs.digests.items():
        assert f"<td>{table}</td><td><code>{sha256}</code></td>" in html
    assert (row["match_count"], row["mismatch_count"], row["findings_count"]) == (1, 0, 1)


def test_a_mismatch_a_person_resolved_stands_in_the_report_with_both_values(world, scenario):
    scene = scenario.Scene(world)
    scene.play([["round", {"mismatch": True}], ["ask"], ["resolve"], ["decide"]])
    report = published_round_report(_release(world, REPORT))
    html = report.html.decode()
    assert '<span class="bad">10</span> → 9 (1)' in html
    for fact in ("<dt>declared</dt>", "<dt>epsilon</dt>", "half a cent", "sum(parts.cost)", "resolved, less than a day",
                 f"case-{digest('r1 check')}"):  # fmt: skip
        assert fact in html
    assert report.frame["mismatch_count"].tolist() == [1]


def test_hostile_text_is_shown_as_text(world):
    world.make_round(message="<script>alert(1)</script>\x1b[31m\u202e")
    world.decide(world.request(), reason="<img src=x onerror=alert(2)>")
    html = published_round_report(_release(world, REPORT)).html.decode()
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "Content-Security-Policy" in html


def test_a_throw_away_root_is_named_in_what_was_published_under_it(world):
    world.write_root(*PEOPLE, version=2, is_throwaway=True)
    world.decide(world.request())
    assert published_features(_release(world, FEATURES))["is_throwaway"].tolist() == [True]
    assert "throw-away trust root" in published_round_report(_release(world, REPORT)).html.decode()


@pytest.mark.parametrize("asset", [FEATURES, REPORT])
def test_the_same_release_gives_the_same_bytes(approved, asset):
    first = write(_release(approved, asset))
    (again,) = approved.guard(asset, run="retry", root_run="run-1", now=AT + HOUR)
    assert write(again) == first


def test_every_published_file_is_accounted_for(approved):
    for asset in (FEATURES, REPORT):
        publish(_release(approved, asset), now=lambda: AT)
    assert unaccounted_files(approved.lake, approved.history()) == []


def test_a_file_written_by_hand_or_with_a_copied_receipt_is_found(approved):
    publish(_release(approved, FEATURES), now=lambda: AT)
    good = approved.lake.metadata(FEATURES, "r1")
    frame = approved.lake.get(FEATURES, "r1")
    forged = frame.assign(surface_sum=frame["surface_sum"] + 1)
    for metadata, said in [
        ({}, "is no file the gate let through"),
        (good, "released was"),
        ({RECEIPT: json.dumps({"decision_ids": [], "subject_sha256": "0" * 64})}, "names decisions the ledger has not"),
        ({RECEIPT: json.dumps({"decision_ids": ["0" * 64], "subject_sha256": "0" * 64})}, "has not seen used"),
        ({RECEIPT: "{"}, "is no file the gate let through"),
        ({RECEIPT: '{"decision_ids": [1], "subject_sha256": ""}'}, "is no file the gate let through"),
    ]:
        stored = approved.lake.put(FEATURES, "r1", forged, metadata)
        (found,) = unaccounted_files(approved.lake, approved.history())
        assert (found.asset, found.round_id) == (FEATURES, "r1")
        assert said in found.message
        stored.path.unlink()
    assert "is in force and not there" in unaccounted(FEATURES, "r1", approved.lake, approved.history())


def test_a_run_that_died_before_it_said_so_is_named_and_may_go_on(approved):
    stored = write(_release(approved, FEATURES))
    (found,) = unaccounted_files(approved.lake, approved.history())
    assert f"is unfinished: its decision was used, and no run has said that it wrote {stored.digest}" in found.message
    assert unaccounted(FEATURES, "r1", approved.lake, approved.history()) is None
    publish(_release(approved, FEATURES), now=lambda: AT)
    assert unaccounted_files(approved.lake, approved.history()) == []
