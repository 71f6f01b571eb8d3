"""What a person is shown is whole, on lines of ours, and the same for the same request."""

from __future__ import annotations

import pytest
from gate_world import NOON
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.gate.display import _quoted, display_sha256, display_text, is_confirmed, is_mixed
from governance_pipeline.gate.manifest import Manifest
from governance_pipeline.gate.shown import shown

HOSTILE = [
    "\x1b[2J\x1b[31mapproved",
    "a\nstate      APPROVED",
    "a\r\nb",
    "\u202eevil\u202c",
    "a\u200bb",
    "\u2028gate x",
    "\x9b31m",
    'quote " and \\ back',
    "x" * 10_000,
    "\ud7ff\U000e0041",
]


@pytest.fixture
def view(asked):
    return shown(asked.verifier(), asked.id, NOON)


def _with_message(view, message):
    document = {**view.manifest.document}
    finding = {**document["verdict"]["findings"][0], "message": message}
    document["verdict"] = {**document["verdict"], "findings": [finding]}
    return display_text(view.standing.request, Manifest(document, b"", "0" * 64))


def test_everything_of_the_manifest_is_shown(view):
    document, text = view.manifest.document, view.text
    for table in document["upstream"]:
        assert f"{table['table']}: {table['rows']} rows, {table['bytes']} bytes, sha256 {table['sha256']}" in text
    for claim in document["claims"]:
        assert f"declared {claim['declared']}, computed {claim['computed']}, delta {claim['delta']}" in text
        assert claim["record_id"] in text
    for value in (document["code_sha256"], document["policy"]["sha256"], *document["releases"], *document["producers"]):
        assert value in text
    assert view.standing.request.subject_sha256 in text
    assert "3 in = 2 accepted + 0 quarantined + 1 blank + 0 duplicates" in text


@pytest.mark.parametrize("message", HOSTILE)
def test_hostile_text_stays_on_its_line_whole_and_visible(view, message):
    text = _with_message(view, message)
    assert text.count("\n") == view.text.count("\n")
    assert all(c.isprintable() or c == "\n" for c in text)
    assert not any(line.startswith("state") for line in text.splitlines())
    if message == "x" * 10_000:
        assert message in text


@given(st.text())
def test_no_text_makes_a_line_of_its_own_or_a_character_nobody_sees(text):
    shown_text = _quoted(text)
    assert shown_text.isprintable()
    assert "\n" not in shown_text
    assert shown_text[0] == shown_text[-1] == '"'


def test_two_texts_that_differ_never_look_the_same(view):
    seen = {_with_message(view, message) for message in ["a\nb", "a\\nb", "a\\\nb", "a b", "a\u00a0b", "unknown"]}
    assert len(seen) == 6


def test_null_is_the_word_unknown_and_the_text_unknown_is_quoted(view):
    text = _with_message(view, "unknown")
    assert '"unknown"' in text
    assert ": unknown" not in text


@pytest.mark.parametrize(
    ("word", "mixed"),
    [
        ("ana", False),
        ("\u0430na", True),
        ("анна", False),
        ("a1b2", False),
        ("\u03b1\u03b2\u03b3", False),
        ("p\u03b1y", True),
    ],
)
def test_words_of_several_alphabets_are_named(word, mixed, view):
    assert is_mixed(word) is mixed
    assert ("mixes alphabets" in _with_message(view, f"by {word}")) is mixed


def test_the_same_request_gives_the_same_digest_and_another_window_another(asked, view):
    assert shown(asked.verifier(), asked.id, NOON).display_sha256 == view.display_sha256
    assert display_sha256(view.text) == view.display_sha256
    other = view.standing.request._replace(expires=view.standing.request.created)
    assert display_text(other, view.manifest) != view.text


def test_an_unknown_number_is_shown_as_unknown_and_never_as_zero(view):
    claim = {**view.manifest.document["claims"][0], "computed": None, "delta": None, "status": "unverifiable",
             "reason_code": "components_missing"}  # fmt: skip
    document = {**view.manifest.document, "claims": [claim]}
    text = display_text(view.standing.request, Manifest(document, b"", "0" * 64))
    assert "computed unknown, delta unknown" in text
    assert "(components_missing)" in text
    assert "0 mismatch, 1 unverifiable, 0 match" in text


SUBJECT = "3f2a91c0" + "0123456789abcdef" * 3 + "76543210"


@pytest.mark.parametrize(
    ("typed", "confirmed"),
    [
        (SUBJECT[:8], True),
        (f" {SUBJECT[:9].upper()}\n", True),
        (SUBJECT, True),
        ("", False),
        (" " * 8, False),
        ("\t" * 64, False),
        (SUBJECT[:7], False),
        (f" {SUBJECT[:7]} ", False),
        (SUBJECT[1:9], False),
        (SUBJECT + "0", False),
        (SUBJECT[:4] + " " + SUBJECT[4:8], False),
        ("\uff13" + SUBJECT[1:8], False),
    ],
)
def test_a_digest_is_confirmed_by_eight_digits_of_its_beginning_and_by_nothing_else(typed, confirmed):
    assert is_confirmed(typed, SUBJECT) is confirmed


@given(st.text(max_size=70))
def test_whatever_else_is_typed_confirms_nothing(text):
    assert not is_confirmed(text, SUBJECT) or (SUBJECT.startswith(text.strip().lower()) and len(text.strip()) >= 8)
