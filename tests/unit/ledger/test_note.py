"""Signed notes as transparency logs write them: the published example verifies, and nothing that was changed does."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.errors import UnreadableError
from governance_pipeline.ledger.note import (
    NOTE_BYTES,
    is_name,
    is_note_by,
    parse_note,
    read_verifier_key,
    sign_note,
    verifier_key,
)
from governance_pipeline.trust.keys import KeyFileSigner

EXAMPLE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
"""The note, and the key that verifies it, of golang.org/x/mod/sumdb/note, of which C2SP signed-note is the standard."""
EXAMPLE_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
SIGNER = KeyFileSigner(Ed25519PrivateKey.from_private_bytes(bytes([7] * 32)), is_encrypted=False)
NOTE = sign_note("a\nb\n", "log.example", SIGNER)


def test_the_published_example_verifies_with_its_key_and_no_other():
    name, public_key = read_verifier_key(EXAMPLE_KEY)
    note = parse_note(EXAMPLE.encode())
    assert is_note_by(note, name, public_key)
    assert not is_note_by(note, name, SIGNER.public_key)
    assert not is_note_by(note, "PeterNewman", public_key)
    assert verifier_key(name, public_key) == EXAMPLE_KEY


def test_every_changed_character_of_a_note_verifies_nothing():
    for at in range(len(EXAMPLE)):
        changed = EXAMPLE[:at] + chr(ord(EXAMPLE[at]) ^ 1) + EXAMPLE[at + 1 :]
        try:
            note = parse_note(changed.encode())
        except UnreadableError:
            continue
        assert not is_note_by(note, *read_verifier_key(EXAMPLE_KEY)), at


def test_what_is_signed_here_is_read_back_whole():
    note = parse_note(NOTE.encode())
    assert note.text == "a\nb\n"
    assert is_note_by(note, "log.example", SIGNER.public_key)


def test_signatures_of_others_are_passed_over_and_the_text_stays():
    both = EXAMPLE + sign_note(parse_note(EXAMPLE.encode()).text, "log.example", SIGNER).rpartition("\n\n")[2]
    assert is_note_by(parse_note(both.encode()), *read_verifier_key(EXAMPLE_KEY))
    assert is_note_by(parse_note(both.encode()), "log.example", SIGNER.public_key)


@pytest.mark.parametrize(
    "data",
    [b"", b"text\n", b"text\n\n", b"a\n\n-- name AAAA\n", NOTE.encode()[:-1], NOTE.encode() + b"x", b"\xff" + NOTE.encode(),
     NOTE.replace("log.example", "log example").encode(), NOTE.replace("a\n", "a\r\n").encode(),
     NOTE.encode() + NOTE.splitlines(keepends=True)[-1].encode() * 20, b"x" * (NOTE_BYTES + 1)],
)  # fmt: skip
def test_what_is_no_note_is_refused(data):
    with pytest.raises(UnreadableError):
        parse_note(data)


@given(st.binary(max_size=400))
def test_any_bytes_are_a_note_or_refused(data):
    try:
        note = parse_note(data)
    except UnreadableError:
        return
    assert not is_note_by(note, "log.example", SIGNER.public_key)


@pytest.mark.parametrize(
    "text", ["", "x", "a+b+c", EXAMPLE_KEY[:-4], EXAMPLE_KEY.replace("c74f", "c74e"), "+" + EXAMPLE_KEY]
)
def test_what_is_no_verifier_key_is_refused(text):
    with pytest.raises(UnreadableError):
        read_verifier_key(text)


def test_a_name_holds_no_plus_and_no_space():
    assert is_name("govern-ledger:00ff")
    assert not any(map(is_name, ["", "a+b", "a b", "a\u2003b", "a\nb", "a\u200b"]))
