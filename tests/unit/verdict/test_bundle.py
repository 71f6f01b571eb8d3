"""Bundles: the same inputs give the same bytes, what comes back is what went in, and nothing else is believed."""

from __future__ import annotations

import io
import json
import zipfile

import pandas as pd
import pytest

from governance_pipeline.errors import GovernError, UnreadableError
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.verdict.again import look_again
from governance_pipeline.verdict.bundle import CALIBRATIONS, MANIFEST, POLICY, bundle_bytes, read_bundle
from governance_pipeline.verdict.controls import CONTROL_ROUND, control_tables
from governance_pipeline.verdict.detectors.output_hash import DETECTOR
from governance_pipeline.verdict.findings import findings
from governance_pipeline.verdict.policy_document import shipped_policy, shipped_policy_bytes
from governance_pipeline.verdict.round_view import INPUTS

POLICY_DOCUMENT = json.loads(shipped_policy_bytes())


@pytest.fixture(scope="module")
def tables():
    return control_tables(DETECTOR.fires_on)


@pytest.fixture(scope="module")
def data(tables):
    return bundle_bytes(CONTROL_ROUND, tables, POLICY_DOCUMENT, "1.2.3")


def members_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members, method=zipfile.ZIP_STORED):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, compress_type=method)
    return sink.getvalue()


def resealed(data, changes, **manifest_changes):
    """The members with some exchanged, and a manifest that says so."""
    members = members_of(data) | changes
    manifest = json.loads(members[MANIFEST]) | manifest_changes
    manifest["members"] = {name: sha256_hex(content) for name, content in members.items() if name != MANIFEST}
    return packed(members | {MANIFEST: canonical_json(manifest)})


def test_the_same_inputs_give_the_same_bytes_without_times(tables, data):
    assert bundle_bytes(CONTROL_ROUND, tables, POLICY_DOCUMENT, "1.2.3") == data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist() == sorted(archive.namelist())
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_finding_is_found_again_from_the_bundle_alone(tables, data, tmp_path):
    (tmp_path / "b.zip").write_bytes(data)
    read = read_bundle(tmp_path / "b.zip")
    assert read.policy == shipped_policy()
    for table in INPUTS:
        pd.testing.assert_frame_equal(read.tables[table], tables[table].reset_index(drop=True))
    rows = findings(tables, shipped_policy())
    finding_id = rows.loc[rows["code"] == DETECTOR.code, "finding_id"].iloc[0]
    again = look_again(finding_id, read.tables, read.policy, None)
    assert (again.is_reproduced, again.entry["code"], again.entry["decision"]) == (True, DETECTOR.code, "block")


def test_rounds_it_does_not_continue_stay_out(tables, tmp_path):
    strangers = {name: frame.assign(round_id="other").astype(frame.dtypes) for name, frame in tables.items()}
    both = {name: pd.concat([tables[name], strangers[name]], ignore_index=True) for name in tables}
    (tmp_path / "b.zip").write_bytes(bundle_bytes(CONTROL_ROUND, both, POLICY_DOCUMENT, "1"))
    assert set(read_bundle(tmp_path / "b.zip").tables["core_rounds"]["round_id"]) == {CONTROL_ROUND}


def test_calibrations_travel_with_it(tables, tmp_path):
    plan = {
        "schema": "govern/calibration/v1", "calibration_id": "c-1", "signal": "extreme-surface", "score": "largest_s",
        "hypothesis": "large steps are reverted", "alpha": {"moderate": "0.1", "extreme": "0.01"}, "cohorts": [["a"]],
        "split_at": "2026-11-01T00:00:00Z", "minimum_rounds": 20, "minimum_reference": 30, "design": "out_of_sample",
        "success": {"measure": "precision", "level": "moderate", "bound": "0.5", "confidence": "0.95"},
    }  # fmt: skip
    (tmp_path / "b.zip").write_bytes(bundle_bytes(CONTROL_ROUND, tables, POLICY_DOCUMENT, "1", [plan]))
    record = read_bundle(tmp_path / "b.zip").calibrations["extreme-surface"]
    assert (record.calibration_id, str(record.moderate), record.cohorts) == ("c-1", "1/10", (("a",),))


def _flipped(data):
    at = data.index(b"PAR1") + 40
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


TABLE = "tables/audit_integrity.parquet"


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (lambda _: b"", "archive"), (lambda d: d[: len(d) // 2], "archive"), (lambda _: b"PK\x03\x04" * 99, "archive"),
        (_flipped, "packed"),
        (lambda d: packed({n: c for n, c in members_of(d).items() if n != MANIFEST}), MANIFEST),
        (lambda d: packed({n: c for n, c in members_of(d).items() if n != TABLE}), "missing or strange"),
        (lambda d: packed(members_of(d) | {"more.txt": b"x"}), "missing or strange"),
        (lambda d: packed(members_of(d) | {POLICY: b"{}"}), "changed after writing"),
        (lambda d: packed(members_of(d), zipfile.ZIP_DEFLATED), "packed"),
        (lambda d: packed(members_of(d) | {"../x": b""}), "leads out"),
        (lambda d: resealed(d, {POLICY: b"{}"}), "policy"),
        (lambda d: resealed(d, {POLICY: b"\xff"}), POLICY),
        (lambda d: resealed(d, {CALIBRATIONS: b"[{}]"}), CALIBRATIONS), (lambda d: resealed(d, {CALIBRATIONS: b"7"}), CALIBRATIONS),
        (lambda d: resealed(d, {TABLE: b"no parquet"}), "no Parquet"),
        (lambda d: resealed(d, {TABLE: members_of(d)["tables/core_steps.parquet"]}), "contract"),
        (lambda d: resealed(d, {}, round_id="other"), "none of its rounds"),
        (lambda d: resealed(d, {}, rounds=["other"]), "rounds the manifest"),
        (lambda d: resealed(d, {}, rounds=[CONTROL_ROUND, "ghost"]), "does not hold the rounds"),
        (lambda d: resealed(d, {}, extra=1), "manifest.json"),
    ],
)  # fmt: skip
def test_a_bundle_that_was_tampered_with_is_refused_with_its_reason(data, tmp_path, tamper, said):
    (tmp_path / "b.zip").write_bytes(tamper(data))
    with pytest.raises(GovernError, match=said) as refused:
        read_bundle(tmp_path / "b.zip")
    assert refused.value.exit_code == 3


def test_a_table_that_would_fill_the_memory_is_refused_by_its_footer(data, tmp_path, monkeypatch):
    monkeypatch.setattr("governance_pipeline.verdict.bundle.MOST_BYTES", 10)
    (tmp_path / "b.zip").write_bytes(data)
    with pytest.raises(UnreadableError, match="would take"):
        read_bundle(tmp_path / "b.zip")


def test_a_link_is_no_bundle(data, tmp_path):
    (tmp_path / "b.zip").write_bytes(data)
    (tmp_path / "link.zip").symlink_to(tmp_path / "b.zip")
    with pytest.raises(GovernError):
        read_bundle(tmp_path / "link.zip")
