"""Claims about large reports: read item by item they are judged as when they are held, and nothing is skipped."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from governance_pipeline.crosscheck import report_file
from governance_pipeline.crosscheck.check_set import load_check_set
from governance_pipeline.crosscheck.guardian import judge
from governance_pipeline.crosscheck.report import json_text, report_document
from governance_pipeline.crosscheck.report_file import file_violations, text_violations
from governance_pipeline.crosscheck.report_stream import streamed_violations
from governance_pipeline.crosscheck.run import run_checks
from governance_pipeline.errors import UnreadableError
from governance_pipeline.settings import Settings
from governance_pipeline.strict.limits import Limits

CASES = Path(__file__).parent / "cases"


def report_of(case: str) -> bytes:
    batch = run_checks(load_check_set(CASES / case / "checks.yaml"))
    return json_text(report_document(batch, judge(batch))).encode()


SIGNED = report_of("03_sign_is_kept")


def streamed(text: bytes):
    return streamed_violations(io.BytesIO(text), "report.json")


@pytest.mark.parametrize(
    "case", ["03_sign_is_kept", "24_two_sources_are_not_joined", "30_check_that_cannot_fail", "31_nothing_was_checked"]
)
def test_a_streamed_report_is_judged_as_one_that_is_held(case):
    text = report_of(case)
    assert sorted(streamed(text)) == sorted(text_violations(text, "r"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"delta":10,', b'"delta":-10,'), (b'"overwritten":false', b'"overwritten":true'), (b'"guardian":"pass"', b'"guardian":"block"'),
        (b'"action":"escalate_to_human"', b'"action":"accept"'), (b"report/v1", b"report/v2"),
        (b'"declared_raw":"110.00"', b'"declared_raw":"7"'), (b'"epsilon_justified":true', b'"epsilon_justified":1'),
    ],
)  # fmt: skip
def test_each_fault_is_found_in_a_stream_too(old, new):
    assert old in SIGNED
    text = SIGNED.replace(old, new)
    assert streamed(text)
    assert {v.code for v in streamed(text)} == {v.code for v in text_violations(text, "r")}


@pytest.mark.parametrize(
    "damage",
    [
        lambda t: t[: len(t) // 2], lambda t: t + b"{}\n", lambda t: b" " + t, lambda t: t.replace(b"],\n", b"]\n", 1),
        lambda t: t.replace(b'},\n{"record_id"', b'}\n{"record_id"', 1), lambda t: json.dumps(json.loads(t)).encode(),
        lambda t: t.replace(b"}\n],", b"},\n],", 1), lambda t: t.replace(b'"check_set":{', b'"check_set":[{', 1),
        lambda t: t.replace(b'"guardian"', b'"guardians"', 1), lambda _: b"", lambda t: t.replace(b'"records":[\n', b'"records":[\n],\n', 1),
    ],
)  # fmt: skip
def test_another_layout_is_refused_with_its_line_and_never_half_judged(damage):
    with pytest.raises(UnreadableError, match=r"line \d+"):
        streamed(damage(SIGNED))


def test_a_file_beyond_the_bound_of_a_document_is_streamed(tmp_path):
    (tmp_path / "report.json").write_bytes(SIGNED)
    assert file_violations(tmp_path / "report.json", Limits(document_bytes=100)) == []
    (tmp_path / "report.json").write_text(json.dumps(json.loads(SIGNED)))
    with pytest.raises(UnreadableError, match="one item per line"):
        file_violations(tmp_path / "report.json", Limits(document_bytes=100))


def test_a_file_that_is_large_to_hold_is_streamed_and_one_of_another_layout_is_held(tmp_path, monkeypatch):
    report, small = tmp_path / "report.json", Settings(streamed_report_bytes=100)
    report.write_bytes(SIGNED.replace(b"\n", b""))
    assert file_violations(report, settings=small) == []
    report.write_bytes(SIGNED.replace(b'"guardian":"pass"', b'"guardian":"block"'))
    assert sorted(file_violations(report, settings=small)) == sorted(file_violations(report)) != []
    monkeypatch.setattr(report_file, "text_violations", None)  # held by nobody
    assert file_violations(report, settings=small) != []
