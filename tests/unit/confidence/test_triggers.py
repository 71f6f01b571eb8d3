"""Triggers: phrases fire whatever their spelling, a guard says why not, and a signal never scores."""

from __future__ import annotations

import pytest

from governance_pipeline.confidence.patterns import pattern_texts
from governance_pipeline.confidence.terms import Trigger
from governance_pipeline.confidence.triggers import _table, trigger_document, trigger_lines


def _names(text):
    return [one["name"] for one in trigger_document(text, "en")["triggers"] if one["fires"]]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Puntúa esto, por favor", ["score"]),
        ("PUNTUA ESTO", ["score"]),
        ("¿Cómo vas?", ["status"]),
        ("No preguntes: busca.", ["look-up"]),
        ("don't ask, look it up", ["look-up"]),
        ("lección aprendida: guarda esto", ["remember", "lesson"]),
        ("/aice hub sync", ["hub-sync"]),
        ("the scoreboard is broken", []),
        ("guardar", []),
        ("", []),
    ],
)
def test_a_phrase_fires_as_whole_words_without_case_accents_and_punctuation(text, names):
    assert _names(text) == names


def test_a_change_of_decision_without_an_argument_is_held_back_and_says_why():
    (held,) = trigger_document("cambio de criterio, y ya", "es")["triggers"]
    assert (held["fires"], "CONTRADICTING_WITHOUT_OVERRIDE" in held["why_not"]) == (False, True)
    assert _names("cambio de criterio porque el formato cambió") == ["criteria-evolution"]


@pytest.mark.parametrize(("text", "signal"), [("pierdo confianza", "frustration"), ("es la tercera vez", "nth-time")])
def test_a_signal_asks_and_never_scores(text, signal):
    document = trigger_document(text, "en")
    assert [one["name"] for one in document["signals"]] == [signal]
    assert not any(one["scores"] for one in document["triggers"])


def test_the_scoring_triggers_of_the_table_are_those_events_may_name():
    assert {one["name"] for one in _table()["triggers"] if one["scores"]} == {one.value for one in Trigger}


def test_nothing_fired_is_said():
    assert trigger_lines(trigger_document("good morning", "en")) == ["nothing is fired"]


def test_every_word_of_the_data_is_there_in_both_languages():
    for entry in [*_table()["triggers"], *_table()["signals"]]:
        for member in ("phrases", "does", "needs", "guard"):
            assert member not in entry or set(entry[member]) == {"en", "es"}, entry["name"]
    for text in pattern_texts():
        assert set(text.signal) == {"en", "es"}
        assert text.question is None or set(text.question) == {"en", "es"}
