"""The fold of many events at once is the fold: same states, alerts, seals and refusals, whole or taken up anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.confidence.bulk import block, long_histories, walking
from governance_pipeline.confidence.bulk.folding import bulk_fold
from governance_pipeline.confidence.bulk.long_histories import fold_states
from governance_pipeline.confidence.event import Line
from governance_pipeline.confidence.fold import fold
from governance_pipeline.confidence.reading import judge, read_lines
from governance_pipeline.confidence.registry import Registry
from governance_pipeline.confidence.replay_document import replay_document

CASES = Path(__file__).parents[1] / "cases"
DOMAINS = ["TECH", "OPS", "JUDGMENT", "COMMS", "ORCH"]
SCORES = st.integers(-100, 100)
JUDGED = st.fixed_dictionaries({}, optional={"self_score": SCORES, "user_score": SCORES})
SCORED = st.fixed_dictionaries(
    {}, optional={"trigger": st.sampled_from(["idea-validate", "score"]), "evidence": st.sampled_from(["f1", "f2"])}
)
CLUSTERS = st.sampled_from([{}, {"cluster_id": "c1", "cluster_role": "root"}, {"cluster_id": "c2", "cluster_role": "root"},
                            {"cluster_id": "c1", "cluster_role": "derived"}, {"cluster_id": "c2", "cluster_role": "derived"}])  # fmt: skip
BOTH = st.dictionaries(st.sampled_from(DOMAINS), SCORES, max_size=3)


def _kind(event_type, **members):
    return st.fixed_dictionaries({"event_type": st.just(event_type), **members})


GAIN = st.one_of(
    *(_kind(name) for name in ("correct", "correct", "implicit_continue", "learned_from_correction")),
    _kind("bonus", points=st.integers(1, 3)),
    _kind("exceptional", points=st.integers(5, 10)),
    _kind("pro_pattern", pattern_code=st.sampled_from(["P_FREE", "CRITERIA_EVOLUTION"])),
)
ERROR = st.builds(
    lambda error, cluster: {**error, **cluster},
    _kind(
        "error",
        severity=st.sampled_from(["mild", "medium", "severe", "critical"]),
        pattern_code=st.sampled_from([None, "A_FREE", "EXCUSE", "CHEERLEAD", "CONTEXT_LOSS"]),
    ),
    CLUSTERS,
)
SEAL = _kind("seal", self_score=BOTH, user_score=BOTH)
KINDS = st.one_of(GAIN, GAIN, GAIN, ERROR, ERROR, ERROR, SEAL)
WHO = st.sampled_from(
    [("agent", "ada", "a/b/c"), ("agent", "ada", "a/b/d"), ("agent", "bob", "a/b/c"), ("user", "kim", None)]
)
EVENTS = st.lists(
    st.tuples(KINDS, st.sampled_from(DOMAINS), st.integers(0, 2), st.integers(0, 1), st.sampled_from(["s1", "s2"]), WHO, SCORED, JUDGED),
    max_size=80,
)  # fmt: skip

REGISTRY = Registry()
REGISTRY.add(
    {
        "pools": ["a/b/c", "a/b/d"],
        "subjects": [{"role": "agent", "subject_id": name} for name in ("ada", "bob")] + [{"role": "user", "subject_id": "kim"}],
        "patterns": [{"pattern_code": "A_FREE", "role": "agent", "kind": "anti"}, {"pattern_code": "P_FREE", "role": "agent", "kind": "pro"},
                     {"pattern_code": "A_USER", "role": "user", "kind": "anti"}],
    },
    "test",
)  # fmt: skip
_OF_USER = {"A_FREE": "A_USER", "EXCUSE": "EMPTY_FEEDBACK", "CHEERLEAD": "VAGUE_INSTRUCTION", "CONTEXT_LOSS": "A_USER"}
_FIXED = {"EXCUSE": ("COMMS", "severe"), "CHEERLEAD": ("COMMS", "mild"), "EMPTY_FEEDBACK": ("COMMS", "mild"),
          "VAGUE_INSTRUCTION": ("TECH", "medium"), "CRITERIA_EVOLUTION": ("JUDGMENT", None)}  # fmt: skip


def lines_of(drawn):
    """Judge drawn events; instants ascend, days mostly do."""
    found, day = [], 1
    for number, (kind, domain, later, back, session, (role, subject, runtime), scored, judged) in enumerate(drawn):
        day = min(day + later, 25)
        own = f"2026-03-{max(day - back, 1):02}"
        members = {name: value for name, value in kind.items() if value is not None}
        code = members.get("pattern_code")
        if role == "user" and code == "P_FREE":
            code = "CRITERIA_EVOLUTION"
        elif role == "agent" and code == "CRITERIA_EVOLUTION":
            code = "P_FREE"
        elif role == "user":
            code = _OF_USER.get(code, code)
        if code is not None:
            members["pattern_code"] = code
        if kind["event_type"] != "seal":
            fixed = _FIXED.get(code, (None, None))
            members |= {"domain": fixed[0] or domain, **scored, **judged}
            if fixed[1]:
                members["severity"] = fixed[1]
        members |= {"schema": "govern/confidence-event/v1", "event_id": f"e{number:03}", "day": own,
                    "ts": f"2026-03-{day:02}T10:{number // 60:02}:{number % 60:02}Z", "session_id": session, "role": role,
                    "subject_id": subject, **({"runtime": runtime} if runtime else {})}  # fmt: skip
        found.append(judge(members, f"{number:064}", REGISTRY))
    assert all(isinstance(line, Line) for line in found), [line for line in found if not isinstance(line, Line)]
    return found


def left(folded):
    """Return everything a fold leaves behind but the rows."""
    return folded.state, folded.alerts, folded.seals, folded.refused, folded.accepted


@pytest.fixture(params=[(1, block.BLOCK_EVENTS), (4, 1), (64, 3)], ids=["one block", "a block a track", "some blocks"])
def width(request, monkeypatch):
    """Let few groups be walked in step too, and few events be cut into blocks for several threads."""
    monkeypatch.setattr(walking, "LEAST_WIDTH", request.param[0])
    monkeypatch.setattr(block, "BLOCK_EVENTS", request.param[1])


FIXED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


@settings(max_examples=60, deadline=None, suppress_health_check=FIXED)
@given(EVENTS)
@pytest.mark.usefixtures("width")
def test_all_at_once_leaves_what_one_by_one_leaves(drawn):
    lines = lines_of(drawn)
    assert left(bulk_fold(lines, REGISTRY)) == left(fold(lines, REGISTRY))


@pytest.mark.parametrize("case", sorted(CASES.glob("*.events.jsonl")), ids=lambda path: path.name.partition(".")[0])
def test_a_golden_case_folded_at_once_gives_the_golden_summary(case):
    read = read_lines(case)
    document = replay_document(read, bulk_fold(read.events, read.registry), is_summary=True)
    expected = json.loads(case.with_name(case.name.replace(".events.jsonl", ".expected.json")).read_bytes())
    assert document == {name: value for name, value in expected.items() if name not in ("events", "days")}


def test_a_long_history_without_rows_is_folded_at_once_and_a_short_one_is_not(monkeypatch):
    lines = lines_of([({"event_type": "correct"}, "TECH", 0, 0, "s1", ("agent", "ada", "a/b/c"), {}, {})] * 3)
    assert len(fold_states(lines, REGISTRY).events) == 3
    monkeypatch.setattr(long_histories, "LONG", 3)
    assert fold_states(lines, REGISTRY).events == []
    assert left(fold_states(lines, REGISTRY)) == left(fold(lines, REGISTRY))


@settings(max_examples=50, deadline=None, suppress_health_check=FIXED)
@given(EVENTS, st.randoms(use_true_random=False))
@pytest.mark.usefixtures("width")
def test_a_batch_appended_is_the_whole_replayed(drawn, random):
    lines = lines_of(drawn)
    cut = random.randint(0, len(lines))
    earlier = {line.event.event_id: line.event for line in lines[:cut]}
    first = bulk_fold(random.sample(lines[:cut], cut), REGISTRY)
    assert left(bulk_fold(lines[cut:], REGISTRY, first, earlier.__getitem__)) == left(fold(lines, REGISTRY))
