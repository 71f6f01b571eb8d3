"""Evidence, attestations and confidence events: mandatory members, claims that stay claims, lines that are counted."""

from __future__ import annotations

import base64
import hashlib
import json

import pandas as pd
import pytest

from governance_pipeline.ingest.native import attestations, evidence

EVIDENCE = {"step": 3, "criterion_id": "C1", "state": "proven"}
VSA = {"predicate": {"verifier": {"id": "validator-1"}, "verificationResult": "PASSED"}}


def _envelope(payload: bytes, /, **more):
    body = {"payload": base64.b64encode(payload).decode(), "payloadType": "application/vnd.in-toto+json"}
    return body | {"signatures": [{"keyid": "k", "sig": "AA=="}]} | more


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"step": None}, "bad_step"),
        ({"step": 0}, "bad_step"),
        ({"step": "3"}, "bad_step"),
        ({"criterion_id": ""}, "bad_criterion_id"),
        ({"criterion_id": None}, "bad_criterion_id"),
        ({"state": "maybe"}, "bad_state"),
        ({"state": None}, "bad_state"),
        ({"strength": 0.3}, "bad_strength"),
        ({"strength": True}, "bad_strength"),
        ({"strength": "1"}, "bad_strength"),
        ({"command": 5}, "bad_command"),
        ({"exit_code": 1.5}, "bad_exit_code"),
        ({"output_sha256": []}, "bad_output_sha256"),
    ],
)
def test_evidence_that_breaks_a_rule_is_quarantined(read_one, change, code):
    file, out = read_one(evidence, [EVIDENCE | change, EVIDENCE])
    assert [(row["line"], row["reason_code"]) for row in file.rejected] == [(1, code)]
    assert len(out.frame("core_evidence")) == 1


def test_evidence_is_kept_as_declared(rows):
    line = '{"step": 1, "ts": "2025-01-02T03:04:05Z", "criterion_id": "C1", "state": "refuted", "strength": 0.250, '
    line += '"command": "make", "exit_code": -9, "output_sha256": "not a digest"}\n'
    (row,) = rows("core_evidence", {"evidence.jsonl": line})
    assert (row["strength"], row["exit_code"], row["output_sha256"]) == (0.25, -9, "not a digest")
    assert row["at"].isoformat() == "2025-01-02T03:04:05+00:00"


@pytest.mark.parametrize("strength", [0, 0.25, 0.5, 0.75, 1, 1.0, None])
def test_each_strength_of_the_scale_is_accepted(read_one, strength):
    _, out = read_one(evidence, [EVIDENCE | {"strength": strength}])
    assert out.frame("core_evidence")["strength"].tolist() == [pd.NA if strength is None else strength]


@pytest.mark.parametrize(
    "line",
    [
        _envelope(b"{}", payload="not base64!"),
        _envelope(b"{}", payload="é"),
        _envelope(b"{}", payload=None),
        _envelope(b"{}", payloadType=""),
        _envelope(b"{}", signatures={}),
        {"payload": "e30="},
    ],
)
def test_a_broken_envelope_is_quarantined_and_never_taken_for_a_claim(read_one, line):
    file, out = read_one(attestations, [line])
    assert [row["reason_code"] for row in file.rejected] == ["bad_envelope"]
    assert len(out.frame("core_attestations")) == 0


def test_an_envelope_is_kept_unchecked_with_the_digest_of_what_was_signed(rows):
    payload = json.dumps(VSA).encode()
    (row,) = rows("core_attestations", {"attestations.jsonl": [_envelope(payload)]})
    assert (row["form"], row["payload_type"], row["signatures_count"]) == (
        "envelope",
        "application/vnd.in-toto+json",
        1,
    )
    assert row["payload_sha256"] == hashlib.sha256(payload).hexdigest()
    assert (row["validator_id"], row["result"], row["body"]) == ("validator-1", "PASSED", payload.decode())


def test_the_other_base64_alphabet_is_the_same_payload(rows):
    payload = b'{"a": "\xc3\xbf\xc3\xbf?>"}'
    url_safe = base64.urlsafe_b64encode(payload).decode()
    assert "-" in url_safe or "_" in url_safe
    (row,) = rows("core_attestations", {"attestations.jsonl": [_envelope(payload, payload=url_safe)]})
    assert row["payload_sha256"] == hashlib.sha256(payload).hexdigest()


@pytest.mark.parametrize("payload", [b"\xff\x00", b"[1]", b'{"predicate": {"verifier": 5, "verificationResult": 5}}'])
def test_a_payload_of_another_kind_names_nobody(read_one, payload):
    _, out = read_one(attestations, [_envelope(payload)])
    assert out.frame("core_attestations")[["validator_id", "result"]].isna().all(axis=None)


def test_a_bare_claim_is_kept_as_one(rows):
    claim = {"validator_id": "v", "result": "PASSED"}
    (row,) = rows("core_attestations", {"attestations.jsonl": [claim]})
    assert (row["form"], row["payload_type"], row["signatures_count"]) == ("bare", None, 0)
    assert (row["validator_id"], row["result"]) == ("v", "PASSED")
    assert row["payload_sha256"] == hashlib.sha256(json.dumps(claim).encode()).hexdigest()


def test_confidence_events_are_counted_and_land_in_no_core_table(read):
    tables = read({"confidence.jsonl": '{"event_id": "e"}\n\n5\n{"event_id": NaN}\n'})
    (row,) = tables.rows("raw_log_files")
    assert (row["format"], row["lines_in"], row["accepted"], row["quarantined"], row["blank"]) == (
        "native_confidence", 4, 1, 2, 1,
    )  # fmt: skip
    assert {name: len(frame) for name, frame in tables.frames.items() if len(frame)} == {
        "raw_log_files": 1,
        "raw_quarantine": 2,
        "core_rounds": 1,
    }
