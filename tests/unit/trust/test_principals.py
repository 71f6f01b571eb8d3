"""Names that a person could mix up are one name; names that nobody would mix up stay apart."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trust.lookalikes import LOOKALIKES, prototypes
from governance_pipeline.trust.principals import Validity, are_alike, skeleton

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("checker-4", "CHECKER-4"),
        ("checker-4", "Checker_4"),
        ("checker-4", "\uff23\uff28\uff25\uff23\uff2b\uff25\uff32\uff0d\uff14"),  # full width
        ("checker-4", "\u0441hecker-4"),  # Cyrillic es
        ("checker-4", "\u0421\u041d\u0415\u0421\u041a\u0415R-4"),  # Cyrillic capitals
        ("checker-4", "check\u200ber-4"),  # zero-width space
        ("checker-4", "checker\u20114"),  # another hyphen
        ("checker-4", " checker-4 "),
        ("checker-4", "che\u0301cker-4"),  # an accent
        ("checker-4", "\U0001d41c\U0001d421\U0001d41e\U0001d41c\U0001d424\U0001d41e\U0001d42b-4"),  # mathematical bold
        ("checker-4", "\u202echecker-4"),  # bidi override
        ("alice", "AIice"),  # capital i for l
        ("alice", "a1ice"),
        ("bob", "b0b"),
        ("bob", "\u0412\u039f\u0412"),  # Cyrillic Ve, Greek Omicron
        ("modern", "modem"),
        ("win", "vvin"),
        ("\u0397elga", "Helga"),  # Greek Eta
        ("stra\u00dfe", "STRASSE"),
        ("\u212aarl", "karl"),  # Kelvin sign
        ("ana", "\ua4eena"),  # Lisu A
        ("ana", "\ua4ee\ua4e0\ua4ee"),  # Lisu A, Na, A
        ("ana", "\u15c5na"),  # Canadian syllabics
        ("bob", "b\u2c9fb"),  # Coptic small o
        ("bob", "b\u2c9eb"),  # Coptic capital O
        ("cho", "\U0001043dho"),  # Deseret small chee
        ("\u3164", "\u2800"),  # both are drawn as nothing
    ],
)
def test_names_that_look_alike_are_one(one, other):
    assert are_alike(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("coder-5", "coder-8"),
        ("checker-1", "checker-11"),
        ("scout", "coder"),
        ("ana", "anna"),
        ("a-b", "ab"),
        ("", "a"),
    ],
)
def test_names_that_differ_stay_apart(one, other):
    assert not are_alike(one, other)


# Compatibility forms turn the lunate sigma, drawn like a c, into a sigma, drawn like an o.
NAMES = st.text(st.characters(exclude_characters="\u03f2\u03f9"), max_size=20)


@given(NAMES)
def test_a_name_is_like_itself_in_any_case_width_and_composition(name):
    assert are_alike(name, name)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert are_alike(name, unicodedata.normalize(form, name))


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789-", max_size=12))
def test_plain_names_are_like_their_capitals(name):
    assert are_alike(name, name.upper())


def test_the_map_folds_into_plain_letters_that_fold_no_further():
    assert all(ord(letter) not in LOOKALIKES for letter in LOOKALIKES.values())
    assert all(skeleton(chr(point)) == letter for point, letter in LOOKALIKES.items())


def test_the_large_map_is_the_published_one_and_folds_into_what_folds_no_further():
    found = prototypes()
    assert len(found) > 6000
    assert min(found) > 127
    assert all(not set(map(ord, text)) & found.keys() for text in found.values())


@pytest.mark.parametrize("latin", "abcdefghijklnopqrstuvxyz")
def test_no_letter_drawn_like_a_latin_one_makes_another_name(latin):
    """Every character whose prototype is a Latin letter, small or capital, in the place of that letter.

    A character that is a spelling of another one (the long s, of s) is compared as that one, whatever it looks like.
    """
    missed = [
        f"{point:04X}"
        for point, text in prototypes().items()
        if text in (latin, latin.upper())
        and unicodedata.normalize("NFKC", chr(point)) == chr(point)
        and point not in LOOKALIKES
        and not are_alike(f"x{chr(point)}x", f"x{text}x")
    ]
    assert missed == []


def test_a_time_begins_with_its_start_and_ends_before_its_end():
    second = timedelta(seconds=1)
    validity = Validity(NOON, NOON + second)
    assert [validity.is_before(NOON - second), validity.is_before(NOON)] == [True, False]
    assert [validity.is_over(NOON), validity.is_over(NOON + second)] == [False, True]
    assert not Validity().is_before(NOON)
    assert not Validity().is_over(NOON)
