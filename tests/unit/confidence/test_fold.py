"""The fold under any events: its invariants, and that it can be taken up where it stopped."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.cli.main import run
from governance_pipeline.confidence.fold import fold
from governance_pipeline.confidence.reading import judge
from governance_pipeline.confidence.registry import Registry
from governance_pipeline.confidence.replay_document import day_text
from governance_pipeline.confidence.state import TrackKey
from governance_pipeline.confidence.terms import Domain, Role

DOMAINS = st.sampled_from(["TECH", "OPS"])
SCORES = st.integers(-100, 100)
KINDS = st.one_of(
    st.fixed_dictionaries({"event_type": st.sampled_from(["correct", "implicit_continue", "learned_from_correction"])}),
    st.fixed_dictionaries(
        {
            "event_type": st.just("error"),
            "severity": st.sampled_from(["mild", "medium", "severe", "critical"]),
            "pattern_code": st.sampled_from([None, "HALLUCINATION", "CONTEXT_LOSS"]),
            "cluster": st.sampled_from([None, ("c1", "root"), ("c1", "derived"), ("c2", "derived")]),
        }
    ),
    st.fixed_dictionaries({"event_type": st.just("bonus"), "points": st.integers(1, 3)}),
    st.fixed_dictionaries({"event_type": st.just("exceptional"), "points": st.integers(5, 10)}),
    st.fixed_dictionaries(
        {
            "event_type": st.just("seal"),
            "self_score": st.dictionaries(DOMAINS, SCORES),
            "user_score": st.dictionaries(DOMAINS, SCORES),
        }
    ),
)
EVENTS = st.lists(
    st.tuples(KINDS, DOMAINS, st.integers(1, 6), st.sampled_from(["s1", "s2"]), st.booleans(), st.booleans()),
    max_size=60,
)
REGISTRY = Registry()
REGISTRY.add(
    {
        "pools": ["a/b/c", "a/b/d"],
        "subjects": [{"role": "agent", "subject_id": "ada"}, {"role": "agent", "subject_id": "bob"}],
    },
    "test",
)


def lines_of(drawn):
    """Judge drawn events; ids and minutes ascend."""
    found = []
    for number, (kind, domain, day, session, is_ada, is_first) in enumerate(drawn):
        members = {name: value for name, value in kind.items() if name != "cluster" and value is not None}
        if kind.get("cluster"):
            members["cluster_id"], members["cluster_role"] = kind["cluster"]
        if kind["event_type"] != "seal":
            members["domain"] = domain
        members |= {
            "schema": "govern/confidence-event/v1",
            "event_id": f"e{number:03}",
            "ts": f"2026-03-{day:02}T10:{number:02}:00Z",
            "day": f"2026-03-{day:02}",
            "session_id": session,
            "role": "agent",
            "subject_id": "ada" if is_ada else "bob",
            "runtime": "a/b/c" if is_first else "a/b/d",
        }
        found.append(judge(members, f"{number:064}", REGISTRY))
    return found


def test_an_event_of_the_test_is_a_sound_one():
    drawn = [({"event_type": "bonus", "points": 1}, "TECH", 1, "s1", True, True)]
    assert [line.event.points for line in lines_of(drawn)] == [1]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(EVENTS)
def test_scores_stay_in_bounds_and_equal_their_days_nets(drawn):
    lines = lines_of(drawn)
    folded = fold(lines, REGISTRY)
    assert folded.accepted + len(folded.refused) == len(lines)
    for track in folded.state.tracks.values():
        for state in track.domains.values():
            assert -100_000 <= state.score <= 100_000
            assert state.score == 50_000 + sum(day.net for day in state.days.values())
            assert all(-30_000 <= day.net <= 15_000 for day in state.days.values())
    assert all(row.reasons for row in folded.events if row.raw != row.applied)
    refused = {one.event_id for one in folded.refused}
    sealed = {(seal.event.subject_id, seal.event.day): seal.event.order for seal in folded.seals}
    for row in folded.events:
        seal = sealed.get((row.event.subject_id, row.event.day))
        assert row.event.event_id not in refused
        assert seal is None or row.event.order <= seal


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(EVENTS, st.randoms(use_true_random=False))
def test_any_order_of_lines_and_any_cut_give_the_same_state(drawn, random):
    lines = lines_of(drawn)
    whole = fold(lines, REGISTRY)
    shuffled = list(lines)
    random.shuffle(shuffled)
    assert fold(shuffled, REGISTRY) == whole
    ordered = sorted(lines, key=lambda line: line.event.order)
    cut = random.randint(0, len(ordered))
    earlier = {line.event.event_id: line.event for line in ordered[:cut]}
    assert fold(ordered[cut:], REGISTRY, fold(ordered[:cut], REGISTRY), earlier.__getitem__) == whole


def test_a_million_days_between_two_events_close_in_one_step(replayed, event):
    low = [event(n, "error", severity="critical", pattern_code=None) for n in range(3)]
    low.append(event(3, "error", severity="mild", domain="TECH", day="2026-03-03"))
    up = [
        event(10 + n, "bonus", points=3, day=f"2026-03-{4 + n // 3:02}", ts=f"2026-03-{4 + n // 3:02}T09:0{n}:00Z")
        for n in range(9)
    ]
    last = event(50, day="9999-12-31", ts="9999-12-31T09:00:00Z")
    document = replayed(*low, *up, last)
    assert [(one["kind"], one["day"]) for one in document["alerts"]][-1] == ("recovery_left", "2026-03-07")


def test_a_refused_event_changes_nothing_at_all(replayed, event):
    before = replayed(event(1))
    after = replayed(event(1), event(2, "exceptional", points=5, day="2026-03-03", runtime="codex/gpt-6/none"))
    assert after["refused"][0]["reason"] == "streak_below_3"
    assert (after["subjects"], after["pools"], after["days"]) == (before["subjects"], before["pools"], before["days"])


def test_notes_and_contexts_change_no_score(replayed, event):
    plain = [event(n, "error", severity="mild") for n in range(3)]
    noted = [{**one, "note": "very bad", "context": "x" * 1000} for one in plain]
    assert replayed(*plain)["subjects"] == replayed(*noted)["subjects"]


def test_a_seal_of_an_earlier_day_closes_no_later_one(replayed, event):
    document = replayed(event(1), event(2, day="2026-03-03"), event(3, "seal", domain=None, day="2026-03-02"))
    assert [seal["day"] for seal in document["seals"]] == ["2026-03-02"]
    assert document["refused"] == []


def test_days_are_calendar_dates():
    assert day_text(738581) == "2023-03-02"


def test_the_page_is_readable_and_obeys_no_name(tmp_path, capsys, event):
    registry = {
        "schema": "govern/confidence-registry/v1",
        "pools": ["claude-code/opus-4-6/high"],
        "subjects": [{"role": "agent", "subject_id": "ada"}],
    }
    file = tmp_path / "events.jsonl"
    bad = event(2, "error", severity="critical", event_id="x[red]")
    file.write_text("\n".join(json.dumps(one) for one in (registry, event(1), bad)))
    assert run(["confidence", "replay", str(file)]) == 0
    out, err = capsys.readouterr()
    assert "agent ada" in out
    assert "no verdict, gate or policy reads them" in " ".join(out.split())
    assert "refused: invalid_field, 1 lines" in out
    assert "1 of 3 lines refused" in err


@pytest.mark.parametrize("domain", list(Domain))
def test_a_track_starts_at_fifty_in_every_domain(domain):
    folded = fold(lines_of([({"event_type": "implicit_continue"}, "TECH", 1, "s1", True, True)]), REGISTRY)
    assert folded.state.tracks[TrackKey(Role.AGENT, "ada", "a/b/c")].domains[domain].score == 50_000
