"""What leaves the machine: named members of a fixed form, whatever stands in notes, contexts and the rest."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.confidence.event import Line
from governance_pipeline.confidence.hub.outgoing import EVENT_MEMBERS, checked_event, event_body, intent_body
from governance_pipeline.confidence.hub.states import HubRefused
from governance_pipeline.confidence.reading import judge
from governance_pipeline.confidence.registry import Registry
from governance_pipeline.confidence.terms import Severity
from governance_pipeline.strict.json_text import parse_json

SECRET, MARK = "a SECRET b", "SECRET"
REGISTRY = {
    "schema": "govern/confidence-registry/v1",
    "pools": ["claude-code/opus-4-6/high"],
    "subjects": [{"role": "agent", "subject_id": "ada"}],
}
TEXT = st.text(max_size=60).map(lambda text: f"{text}{SECRET}{text}")


def test_the_allow_list_is_the_one_of_the_specification():
    assert sorted(EVENT_MEMBERS) == sorted(
        [
            "domain",
            "eventType",
            "severity",
            "patternCode",
            "quadrant",
            "trigger",
            "sessionId",
            "timestamp",
            "skillVersion",
        ]
    )


@pytest.mark.parametrize(
    "body",
    [
        {"note": "x"},
        {"context": "x"},
        {"evidence": "x"},
        {"subjectId": "ada"},
        {"domain": "LAW"},
        {"eventType": "seal of approval"},
        {"severity": "5"},
        {"sessionId": "free text"},
        {"patternCode": "lower"},
        {"timestamp": "yesterday"},
        {"trigger": "idea: sell the company"},
        {"skillVersion": "1.0 and a note"},
        {"quadrant": ["GOOD"]},
    ],
)
def test_a_member_beside_the_list_or_of_another_form_is_refused(body):
    with pytest.raises(HubRefused):
        checked_event(body)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.text(max_size=12), TEXT, max_size=4))
def test_no_free_text_passes_under_any_name(body):
    if body:
        with pytest.raises(HubRefused):
            checked_event(body)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(sorted(EVENT_MEMBERS)), text=st.text(min_size=1, max_size=40))
def test_what_passes_under_a_listed_name_has_no_blank_and_no_character_beyond_ascii(name, text):
    try:
        checked_event({name: text})
    except HubRefused:
        return
    assert text.isascii()
    assert not any(character.isspace() for character in text)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(note=TEXT, context=TEXT, evidence=st.from_regex(rf"[A-Z]{{3}}{MARK}[a-z/#:@]{{0,9}}", fullmatch=True))
def test_notes_contexts_and_evidence_are_in_no_body(event, note, context, evidence):
    registry = Registry()
    registry.add(parse_json(json.dumps(REGISTRY).encode()), "registry")
    members = event(1, note=note, context=context, evidence=evidence, quadrant="GOOD", trigger="score")
    judged = judge(parse_json(json.dumps(members).encode()), "0" * 64, registry)
    assert isinstance(judged, Line)
    body = event_body(judged.event, Severity.MILD, "1.2.3")
    assert MARK not in json.dumps(body)
    assert set(body) == set(EVENT_MEMBERS) - {"patternCode"}


@settings(deadline=None, max_examples=2, suppress_health_check=list(HealthCheck))
@given(texts=st.lists(TEXT, min_size=8, max_size=8))
def test_nothing_of_a_note_is_in_any_byte_of_any_request(active, texts):
    for number, text in enumerate(texts):
        kind = ("correct", "error", "bonus", "implicit_continue")[number % 4]
        more = (
            {"severity": "mild"} if kind == "error" else {"points": 1} if kind == "bonus" and active.number < 9 else {}
        )
        if kind == "bonus" and not more:
            kind = "correct"
        active.rate(kind, note=text, context=text, evidence=f"{MARK}-{active.number}", **more)
    active.send()
    active.clock.pass_by(days=8)
    active.rate("seal", domain=None, note=texts[0])
    active.send(occasion="seal")
    assert active.hub.bodies("/api/import/state") != []
    for one in active.hub.requests:
        every = one["body"] + one["path"].encode() + json.dumps(one["headers"]).encode()
        assert MARK.encode() not in every
        assert b"ada" not in one["body"]
    active.clock.pass_by(days=1)  # the next example finds a day that is not sealed


def test_a_runtime_is_cut_into_platform_model_and_thinking():
    assert intent_body("a/b/c/d") == {"platform": "a", "model": "b/c", "thinking": "d"}
    with pytest.raises(HubRefused):
        intent_body("a b/c/d")
