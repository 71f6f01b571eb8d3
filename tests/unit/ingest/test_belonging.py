"""Every format tells which session a file is of: one session or trajectory is one round with its id, whatever the files.

Each case is a heap of files and the rounds it must become: id -> files. An id of None stands for a digest.
"""

from __future__ import annotations

import io
import json
import re
import zipfile

import pytest

from governance_pipeline.ingest.belonging import Belonging, only_id
from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.planning import plan_import

SESSION = "0b6e6f1e-52d5-4f0f-9d3c-3f1a4b1f7c11"
ALONE = {"swe_agent", "mini_swe_agent", "tau_bench", "aider_leaderboard", "swebench_pro", "git_log"}
"""Formats whose files name no session or trajectory: a file is one by itself."""

PLACED = {"native_changes", "native_evidence", "native_declared", "native_attestations", "native_confidence"}
PLACED |= {"native_prices"}
"""Formats that are what they are by their place in a round."""


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def archive(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        for name, value in members.items():
            target.writestr(name.replace("_json", ".json"), json.dumps(value))
    return stream.getvalue()


def audit(session_id, run_id="r"):
    entry = {"timestamp": "2025-01-02T03:04:05Z", "agent_id": "a", "run_id": run_id, "tool_called": "t"}
    return entry | {"session_id": session_id}


def claude(session_id, **more):
    message = {"role": "user", "content": "hi"}
    return {"type": "user", "sessionId": session_id, "uuid": "u", "isSidechain": False, "message": message} | more


def sidechain(agent):
    return claude(SESSION, isSidechain=True, agentId=agent)


def stream(session_id, **more):
    return {"type": "system", "subtype": "init", "session_id": session_id, "model": "m"} | more


def result(session_id):
    return {"type": "result", "subtype": "success", "session_id": session_id, "num_turns": 1, "total_cost_usd": 0.5}


def rollout(session_id, **more):
    payload = {"id": session_id, **more}
    return {"timestamp": "2026-02-23T11:40:00Z", "type": "session_meta", "payload": payload}


def atif(session_id, *named):
    results = [{"subagent_trajectory_ref": [{"session_id": name} for name in named]}]
    steps = [{"step_id": 1, "source": "user", "message": "m", "observation": {"results": results}}]
    return json.dumps({"schema_version": "ATIF-v1.6", "session_id": session_id, "steps": steps})


def log(**header):
    head = {"task": "t", "model": "m", "created": "2025-01-01T00:00:00Z"} | header
    return {"version": 2, "status": "success", "eval": head, "samples": []}


def span(trace, number, **attributes):
    told = {"gen_ai.operation.name": "chat"} | attributes
    return {"context": {"trace_id": trace, "span_id": str(number)}, "attributes": told}


def trace(name, session=None):
    return json.dumps({"trace": {"id": name, "sessionId": session, "projectId": "p"}, "observations": []})


def trial(name):
    return {"trial_name": name, "task_id": "t", "is_resolved": True, "parser_results": {}}


def simulations(*ids):
    found = [{"id": name, "task_id": "0", "messages": []} for name in ids]
    return json.dumps({"info": {"agent_info": {}}, "tasks": [], "simulations": found})


SUBMISSION = json.dumps({"model_name": "m", "submission_date": "2026-03-09", "results": {"retail": {"pass_1": 50.0}}})
STATE = {"id": "conv-1", "agent": {"kind": "Agent"}, "execution_status": "finished", "stats": {}}
EVENT = {"id": "e", "kind": "MessageEvent", "source": "user", "timestamp": "2026-01-01T00:00:00", "llm_message": {}}
CHECKPOINT = {"checkpoint_id": "c0ffee", "checkpoints_count": 1}
OUTCOMES = json.dumps({"django__django-1": {"resolved": True, "cost": 0.5}})
OTHER_OUTCOMES = json.dumps({"django__django-2": {"resolved": False, "cost": 0.5}})
SCORES = json.dumps([{"benchmark": "swe-bench", "score": 50.0, "cost_per_instance": 0.5}])
REPORT, OTHER, THIRD = (
    json.dumps({f"o__r-{n}": {"patch_successfully_applied": True, "resolved": True}}) for n in (1, 2, 3)
)
HEAPS = {
    "native_audit_log": (
        {"a.jsonl": lines(audit("s-1")), "b.jsonl": lines(audit("s-1", "q")), "c.jsonl": lines(audit("x"), audit("y"))},
        {"s-1": "a.jsonl b.jsonl", None: "c.jsonl"},
    ),
    "claude_code": (
        {
            "a.jsonl": lines(claude("old"), claude("a")),
            f"{SESSION}.jsonl": lines(claude(SESSION), {"type": "summary", "leafUuid": "agent-7"}),
            f"{SESSION}/subagents/agent-9.jsonl": lines(sidechain("9")),
            f"{SESSION}/tool-results/out.txt": "long",
            "agent-7.jsonl": lines(sidechain("7")),
            "web.json": json.dumps({"loglines": [claude("w")]}),
        },
        {
            SESSION: f"{SESSION}.jsonl {SESSION}/subagents/agent-9.jsonl {SESSION}/tool-results/out.txt agent-7.jsonl",
            "a": "a.jsonl",
            "w": "web.json",
        },
    ),
    "claude_code_stream": (
        {
            "p/s.jsonl": lines(claude(SESSION)),
            "out/result.json": json.dumps(result(SESSION)),
            "out/stream.jsonl": lines(stream("default"), stream(SESSION), result(SESSION)),
            "out/turns.json": json.dumps([stream(SESSION), result(SESSION)]),
            "out/two.jsonl": lines(stream("s-1"), stream("s-2")),
        },
        {SESSION: "out/result.json out/stream.jsonl out/turns.json p/s.jsonl", None: "out/two.jsonl"},
    ),
    "claude_code_entire": (
        {
            "c/metadata.json": json.dumps(CHECKPOINT | {"sessions": []}),
            "c/0/metadata.json": json.dumps(CHECKPOINT | {"session_id": "s"}),
            "c/0/full.jsonl": lines(claude("s")),
            "c/0/prompt.txt": "do it",
            "c/commit.numstat.csv": "commit,added,deleted,path\nabc,1,2,a.py\n",
            "d/metadata.json": json.dumps(CHECKPOINT | {"session_id": "t"}),
            "s.jsonl": lines(claude("s")),
        },
        {
            "c0ffee": "c/0/full.jsonl c/0/metadata.json c/0/prompt.txt c/commit.numstat.csv c/metadata.json",
            "t": "d/metadata.json",
            "s": "s.jsonl",
        },
    ),
    "openhands": (
        {
            "c/base_state.json": json.dumps(STATE),
            "c/events/event-00000-a.json": json.dumps(EVENT),
            "c/notes.txt": "n",
            "c/subagents/d/base_state.json": json.dumps(STATE | {"id": "conv-2"}),
            "c/subagents/d/events/event-00000-b.json": json.dumps(EVENT),
            "lone/base_state.json": json.dumps(STATE | {"id": "conv-3"}),
            "lone/t.traj": json.dumps({"trajectory": [{"action": "ls"}], "info": {}}),
        },
        {
            "conv-1": "c/base_state.json c/events/event-00000-a.json c/notes.txt c/subagents/d/base_state.json "
            "c/subagents/d/events/event-00000-b.json",
            "conv-3": "lone/base_state.json",
            None: "lone/t.traj",
        },
    ),
    "atif": (
        {"root.json": atif("s-1", "s-2"), "part.json": atif("s-2"), "else/part.json": atif("s-2")},
        {"s-1": "part.json root.json", "s-2": "else/part.json"},
    ),
    "inspect_ai": (
        {
            "a.json": json.dumps(log(eval_id="e-1", task_id="t-1", run_id="set")),
            "a.eval": archive(header_json=log(eval_id="e-1", run_id="set")),
            "old.json": json.dumps(log(task_id="t-2", run_id="set")),
        },
        {"e-1": "a.eval a.json", "t-2": "old.json"},
    ),
    "otel_genai": (
        {
            "a.jsonl": lines(span("t1", 1), span("t1", 2)),
            "b.json": json.dumps([span("t1", 3)]),
            "c.json": json.dumps([span("t2", 4, **{"gen_ai.conversation.id": "talk"}), span("t2", 5)]),
            "d.json": json.dumps([span("t3", 6, **{"session.id": "talk"})]),
            "e.json": json.dumps([span("t4", 7, **{"session.id": "talk"}), span("t5", 8)]),
        },
        {"t1": "a.jsonl b.json", "talk": "c.json d.json", None: "e.json"},
    ),
    "openhands_index": (
        {
            "m/scores.json": SCORES,
            "m/instance_results/swe-bench.json": OUTCOMES,
            "n/instance_results/a.json": OTHER_OUTCOMES,
        },
        {None: "m/instance_results/swe-bench.json m/scores.json | n/instance_results/a.json"},
    ),
    "swebench": (
        {"s/logs/o__r-1/report.json": REPORT, "s/logs/run/m/o__r-2/report.json": OTHER, "t/report.json": THIRD},
        {None: "s/logs/o__r-1/report.json s/logs/run/m/o__r-2/report.json | t/report.json"},
    ),
    "tau2_bench": (
        {
            "m/a.json": simulations("x"),
            "m/submission.json": SUBMISSION,
            "m/trajectories/b.json": simulations("y", "z"),
            "n/one.json": simulations("sim-1"),
            "n/trajectories/two.json": simulations("sim-2", "sim-3"),
        },
        {
            None: "m/a.json m/submission.json m/trajectories/b.json | n/trajectories/two.json",
            "sim-1": "n/one.json",
        },
    ),
    "terminal_bench": (
        {
            "t/results.json": json.dumps(trial("t.1-of-1.run")),
            "results.json": json.dumps(
                {"results": [trial("a"), trial("b")], "n_resolved": 2, "n_unresolved": 0, "accuracy": 1.0}
            ),
        },
        {"t.1-of-1.run": "t/results.json", None: "results.json"},
    ),
    "langfuse_trace": (
        {"a.json": trace("t-1", "talk"), "b.json": trace("t-2", "talk"), "c.json": trace("t-3")},
        {"talk": "a.json b.json", "t-3": "c.json"},
    ),
    "codex_rollout": (
        {
            "01/child.jsonl": lines(rollout("c", forked_from_id="p")),
            "02/parent.jsonl": lines(rollout("p")),
            "02/agent.jsonl": lines(rollout("q", source={"subagent": {"thread_spawn": {"parent_thread_id": "c"}}})),
        },
        {"p": "01/child.jsonl 02/agent.jsonl 02/parent.jsonl"},
    ),
}


def rounds_of(folder):
    """Give id -> files of the rounds of a heap; rounds named by a digest stand together under None."""
    found = {}
    for planned in plan_import([folder]):
        files = " ".join(sorted(str(file.source.relative_to(folder)) for file in planned.files))
        named_by_digest = re.fullmatch(r"[0-9a-f]{16}", planned.round_id) is not None
        found.setdefault(None if named_by_digest else planned.round_id, []).append(files)
    return {name: " | ".join(sorted(each)) for name, each in found.items()}


@pytest.mark.parametrize("name", HEAPS)
def test_one_session_or_trajectory_is_one_round_with_its_id(write_files, tmp_path, name):
    files, expected = HEAPS[name]
    assert rounds_of(write_files(tmp_path / "heap", files)) == expected


def test_every_format_is_asked_here_or_names_no_session():
    assert {log_format.NAME for log_format in FORMATS} == HEAPS.keys() | ALONE | PLACED


@pytest.mark.parametrize("name", sorted(ALONE))
def test_a_format_without_sessions_makes_each_file_a_round_of_its_own(name):
    (log_format,) = (known for known in FORMATS if name == known.NAME)
    assert not hasattr(log_format, "belonging")


@pytest.mark.parametrize("session_id", ["a..b", "../up", "x" * 81, "a/b", "ends."])
def test_an_id_that_is_no_round_id_gives_way_to_one_digest_of_all_its_files(write_files, tmp_path, session_id):
    files = {"p/s.jsonl": lines(claude(session_id)), "out/r.json": json.dumps(result(session_id))}
    assert rounds_of(write_files(tmp_path / "heap", files)) == {None: "out/r.json p/s.jsonl"}


def test_hostile_ids_are_no_ids():
    assert only_id([None, 5, [], {}, True, ""]) is None
    assert only_id(["a", "a", 7]) == "a"
    assert only_id(["a", "b"]) is None
    assert Belonging().session_id is None
