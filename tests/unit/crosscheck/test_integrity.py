"""Claims about declared hashes: every spelling of the right one is a match, garbage and absent bytes are unknown."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.contracts.registry import breaches, empty_frame, frame_of
from governance_pipeline.crosscheck.integrity import integrity

RIGHT = hashlib.sha256(b"output").hexdigest()
WRONG = hashlib.sha256(b"other").hexdigest()


def step(index: int = 1, **columns) -> dict:
    where = {"path": "logs/audit.jsonl", "file_sha256": "a" * 64, "line": index, "pointer": ""}
    return {"round_id": "r-1", "run_id": "run-1", "step_index": index, **where, **columns}


def judged(*steps: dict) -> list[tuple[str, str, str | None]]:
    """Return (what was hashed, status, reason) per declared hash."""
    found = integrity(frame_of("core_steps", steps))
    assert breaches("audit_integrity", found).empty
    reasons = [
        None if missing else code
        for code, missing in zip(found["reason_code"], found["reason_code"].isna(), strict=True)
    ]
    return list(zip(found["hashed"], found["status"], reasons, strict=True))


GARBAGE = [
    "", "sha256:", "abc", RIGHT[:-1], RIGHT + "0", RIGHT + "\n", "\n" + RIGHT, " " + RIGHT, RIGHT + " ",
    "g" + RIGHT[1:], "sha1:" + RIGHT[:40], "sha512:" + RIGHT, "md5:" + RIGHT[:32], "sha256=" + RIGHT,
    "sha256:sha256:" + RIGHT, "0x" + RIGHT, "sha256-" + RIGHT, RIGHT.translate({ord("0"): "\uff10"}) + "\u0660",
    "sha256:" + "\u0660" * 64, "\x1b[31m" + RIGHT, "x" * 10_000, "\u017fha256:" + RIGHT,
]  # fmt: skip


@pytest.mark.parametrize("text", GARBAGE, ids=range(len(GARBAGE)))
def test_what_is_no_sha256_is_unverifiable_though_the_bytes_are_known(text):
    steps = step(output_hash=text, output_result_sha256=RIGHT)
    assert judged(steps) == [("output_result", "unverifiable", "declared_not_a_sha256")]


@settings(max_examples=25, deadline=None)
@given(texts=st.lists(st.text(st.characters(codec="utf-8"), max_size=80), min_size=1))
def test_no_text_but_the_digest_itself_is_a_match(texts):
    steps = [step(i, output_hash=text, output_result_sha256=RIGHT) for i, text in enumerate(texts, 1)]
    assert {status for _, status, _ in judged(*steps)} == {"unverifiable"}


SPELLINGS = [RIGHT, RIGHT.upper(), f"sha256:{RIGHT}", f"SHA256:{RIGHT.upper()}", f"Sha256:{RIGHT}"]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_prefix_and_case_are_spelling(spelling):
    assert judged(step(output_hash=spelling, output_result_sha256=RIGHT)) == [("output_result", "match", None)]
    assert judged(step(output_hash=spelling, output_result_sha256=WRONG)) == [("output_result", "mismatch", None)]


def test_the_declared_text_is_kept_as_written_beside_the_computed_digest():
    row = integrity(frame_of("core_steps", [step(output_hash=f"SHA256:{RIGHT}", output_result_sha256=WRONG)])).iloc[0]
    assert (row["declared_hash"], row["computed_hash"]) == (f"SHA256:{RIGHT}", WRONG)


def test_an_output_that_is_not_in_the_round_is_unknown_never_a_match_or_a_mismatch():
    assert judged(step(output_hash=RIGHT)) == [("nothing", "unverifiable", "output_not_in_round")]
    assert judged(step(output_hash=RIGHT, output_path="a.txt")) == [("nothing", "unverifiable", "output_not_in_round")]


def test_where_a_file_is_named_the_text_in_the_log_does_not_stand_in_for_it():
    named = {"output_hash": RIGHT, "output_path": "a.txt", "output_result_sha256": RIGHT}
    assert judged(step(**named)) == [("nothing", "unverifiable", "output_not_in_round")]
    assert judged(step(**named, output_file_sha256=WRONG)) == [("output_path", "mismatch", None)]
    assert judged(step(**named, output_file_sha256=RIGHT)) == [("output_path", "match", None)]


def test_garbage_is_named_before_absent_bytes():
    assert judged(step(output_hash="garbage")) == [("nothing", "unverifiable", "declared_not_a_sha256")]


def test_only_steps_that_declare_a_hash_have_a_row_and_each_of_them_has_one():
    steps = [step(1), step(2, output_hash=RIGHT, output_result_sha256=RIGHT), step(3, output_hash="x"), step(4)]
    found = integrity(frame_of("core_steps", steps))
    assert found["step_index"].tolist() == [2, 3]
    assert found["line"].tolist() == [2, 3]


def test_no_steps_give_the_empty_table():
    assert integrity(empty_frame("core_steps")).empty
    assert breaches("audit_integrity", integrity(empty_frame("core_steps"))).empty
