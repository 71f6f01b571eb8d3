"""The next stage begins only when everything the mark of the one before says was derived again."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pandas as pd
import pytest

from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.framework.folder import REGISTRY
from governance_pipeline.framework.gate_markers import MarkerFault, complete_stage, inspect_stage, marker_path
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.safety_checks import enforce
from governance_pipeline.strict.canonical import sha256_hex

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def stage(folder):
    """Complete stage A of a small run; gives the folder."""
    (folder.root / "data").mkdir()
    (folder.root / "data/in.csv").write_text("id,n\n1,2\n2,3")
    (folder.root / "data/out.jsonl").write_text('{"id": 1}\n{"id": 2}\n')
    pd.DataFrame({"id": [1, 2, 3]}).to_parquet(folder.root / "data/out.parquet")
    (folder.root / "data/blob.bin").write_bytes(b"\0\n")
    complete_stage(
        folder, "A", run_id="run-1", by="worker-1", now=NOON, inputs=["data/in.csv"],
        outputs=["data/out.jsonl", folder.root / "data/out.parquet", "data/blob.bin"], counts={"ids": lambda: 3},
    )  # fmt: skip
    return folder


def _inspected(folder, **more):
    return inspect_stage(folder, "A", **{"counts": {"ids": lambda: 3}, **more})


def test_a_mark_holds_what_was_measured_of_each_file(stage):
    document = json.loads(marker_path(stage, "A").read_text())
    assert [(f["path"], f["rows"]) for f in document["inputs"] + document["outputs"]] == [
        ("data/in.csv", 3), ("data/out.jsonl", 2), ("data/out.parquet", 3), ("data/blob.bin", None),
    ]  # fmt: skip
    assert document["counts"] == {"ids": 3}
    assert enforce(_inspected(stage, needs=["data/out.parquet"])).ok


def test_a_file_of_the_right_name_alone_starts_nothing(folder):
    path = marker_path(folder, "A")
    path.parent.mkdir(parents=True)
    for text in ("", "{}", "done", '{"stage": "A", "status": "COMPLETED"}'):
        path.write_text(text)
        with pytest.raises(FrameworkRefused, match=r"^MARKER_UNREADABLE: "):
            enforce(inspect_stage(folder, "A"))


def test_without_a_mark_the_next_stage_does_not_begin(folder):
    with pytest.raises(FrameworkRefused, match=r"^MARKER_MISSING: stage A has no mark"):
        enforce(inspect_stage(folder, "A"))


@pytest.mark.parametrize("name", ["data/in.csv", "data/out.jsonl", "data/out.parquet", "data/blob.bin"])
@pytest.mark.parametrize(
    ("act", "code"),
    [
        (lambda p: p.write_bytes(p.read_bytes() + b"x"), MarkerFault.FILE_DIFFERS),
        (lambda p: p.write_bytes(p.read_bytes()[:-1]), MarkerFault.FILE_DIFFERS),
        (lambda p: p.unlink(), MarkerFault.FILE_MISSING),
        (lambda p: (p.rename(p.with_name("x")), p.symlink_to("x")), MarkerFault.FILE_DIFFERS),
    ],
    ids=["longer", "shorter", "gone", "link"],
)
def test_a_file_that_changed_since_is_found(stage, name, act, code):
    act(stage.root / name)
    found = _inspected(stage)
    assert (found.ok, found.reason_code) == (False, code)
    assert [difference.subject for difference in found.differences] == [name]


def test_a_count_that_differs_is_found_with_both_values(stage):
    (difference,) = _inspected(stage, counts={"ids": lambda: 4}).differences
    assert (difference.code, difference.marked, difference.found) == (MarkerFault.COUNT_DIFFERS, "3", "4")


def test_a_count_nobody_derives_again_is_no_evidence(stage):
    assert _inspected(stage, counts={}).reason_code is MarkerFault.NOT_DERIVED


def test_a_count_the_stage_never_made_is_found(stage):
    found = _inspected(stage, counts={"ids": lambda: 3, "lost": lambda: 0})
    assert found.reason_code is MarkerFault.COUNT_DIFFERS


def test_a_file_the_next_stage_needs_must_be_an_output_of_the_stage(stage):
    assert _inspected(stage, needs=["data/in.csv"]).reason_code is MarkerFault.NOT_LISTED
    assert _inspected(stage, needs=[stage.root / "data" / ".." / "data/out.jsonl"]).ok


def test_a_mark_of_another_stage_under_this_name_is_found(stage):
    marker_path(stage, "B").write_bytes(marker_path(stage, "A").read_bytes())
    assert inspect_stage(stage, "B").reason_code is MarkerFault.OTHER_STAGE


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "a/../../b"])
def test_a_mark_that_names_files_outside_of_the_project_is_refused(stage, path):
    document = json.loads(marker_path(stage, "A").read_text())
    document["outputs"][0]["path"] = path
    marker_path(stage, "A").write_text(json.dumps(document))
    assert _inspected(stage).reason_code is MarkerFault.UNREADABLE
    with pytest.raises(UsageError, match="is not below"):
        complete_stage(stage, "C", run_id="r", by="w", now=NOON, outputs=[path])


def test_a_link_inside_that_leads_outside_is_not_measured(stage, tmp_path):
    (tmp_path / "secret").write_text("x")
    (stage.root / "data/link.csv").symlink_to(tmp_path / "secret")
    with pytest.raises(UsageError, match="is not below"):
        complete_stage(stage, "C", run_id="r", by="w", now=NOON, outputs=["data/link.csv"])


@pytest.mark.parametrize(
    "arguments", [{"outputs": []}, {"run_id": ""}, {"by": " "}, {"outputs": ["data/gone.csv"]}], ids=str
)
def test_a_stage_that_shows_nothing_is_not_marked(stage, arguments):
    given = {"run_id": "r", "by": "w", "now": NOON, "outputs": ["data/in.csv"], **arguments}
    with pytest.raises((UsageError, UnreadableError)):
        complete_stage(stage, "B", **given)
    assert not marker_path(stage, "B").exists()


def test_a_parquet_file_that_is_none_is_not_marked(stage):
    (stage.root / "data/out.parquet").write_text("no")
    with pytest.raises(UnreadableError, match="no Parquet file"):
        complete_stage(stage, "B", run_id="r", by="w", now=NOON, outputs=["data/out.parquet"])


@pytest.mark.parametrize("name", ["", "a", "../A", "A/B", "A B"])
def test_what_could_leave_the_folder_is_no_stage(folder, name):
    with pytest.raises(UsageError, match="no name of a stage"):
        marker_path(folder, name)


@pytest.fixture
def registered(stage):
    """Register data/out.jsonl as it is; gives the folder."""
    asset = {
        "name": "out", "canonical_path": "data/out.jsonl", "superseded_versions": [],
        "last_verified_hash": sha256_hex((stage.root / "data/out.jsonl").read_bytes()),
        "last_verified_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    stage.path(REGISTRY).write_text(json.dumps({"assets": [asset]}))
    return stage


def _complete(folder, output):
    return complete_stage(folder, "C", run_id="r", by="w", now=NOON, outputs=[output])


def test_a_second_version_of_a_registered_asset_is_no_output(registered):
    (registered.root / "copy").mkdir()
    (registered.root / "copy/OUT.jsonl").write_bytes((registered.root / "data/out.jsonl").read_bytes())
    with pytest.raises(FrameworkRefused, match="CANONICAL_NAME_REGISTERED"):
        _complete(registered, "copy/OUT.jsonl")
    assert not marker_path(registered, "C").exists()


def test_a_registered_asset_is_an_output_only_with_the_bytes_somebody_approved(registered):
    assert _complete(registered, "data/out.jsonl")["outputs"][0]["rows"] == 2
    (registered.root / "data/out.jsonl").write_text("changed\n")
    with pytest.raises(FrameworkRefused, match="CANONICAL_NAME_REGISTERED"):
        _complete(registered, "data/out.jsonl")


def test_while_the_registry_cannot_be_read_no_stage_is_marked(registered):
    registered.path(REGISTRY).write_text("?")
    with pytest.raises(FrameworkRefused, match="REGISTRY_UNREADABLE"):
        _complete(registered, "data/blob.bin")
