"""Totals of sub-agents are recomputed from the sub-agent's own lines, or they are not recomputed at all."""

from __future__ import annotations

import json

LOG = "logs/session.jsonl"
TOTALS = {"totalTokens": 21, "totalToolUseCount": 1, "totalDurationMs": 900}


def task(claude, call_id="task-1", prompt="look"):
    return claude.calls("Task", call_id, {"subagent_type": "general-purpose", "prompt": prompt})


def sidechain(claude, tokens, prompt="look", said="found it", call_id="inner-1"):
    """Give a sidechain of one tool call, whose last message has 1 + 2 + 7 + 11 = 21 tokens."""
    claude.parent = None
    return [
        claude.user(prompt, isSidechain=True),
        claude.calls(
            "Grep", call_id, {"pattern": "x"}, isSidechain=True, message_id=f"{call_id}-m", usage=tokens(90, 90)
        ),
        claude.result(call_id, isSidechain=True),
        claude.says(
            {"type": "text", "text": said},
            isSidechain=True,
            message_id=f"{call_id}-last",
            usage=tokens(1, 2, creation=7, read=11),
        ),
    ]


def answer(claude, call_id="task-1", said="found it", **members):
    content = [{"type": "text", "text": said}]
    return claude.result(call_id, content, result={**TOTALS, "content": content, **members})


def parts(tables, subject):
    found = {}
    for row in tables.rows("core_components"):
        if row["subject_id"] == subject:
            found.setdefault(row["source"], {})[row["column"]] = row["value_raw"]
    return found


def test_an_inline_sidechain_is_a_run_of_its_own_with_the_parts_of_its_totals(claude, tokens, read, session):
    lines = [task(claude), *sidechain(claude, tokens), answer(claude)]
    tables = read({LOG: lines})
    main, child = tables.rows("core_runs")
    assert child["parent_run_id"] == main["run_id"] == session
    assert (child["session_id"], child["agent_id"]) == (session, "general-purpose")
    declared = {row["field"]: (row["subject_id"], row["value_raw"]) for row in tables.rows("core_declared")}
    assert declared == {
        "subagent_total_tokens": (child["run_id"], "21"),
        "subagent_tool_use_count": (child["run_id"], "1"),
        "subagent_duration_ms": (child["run_id"], "900"),
    }
    last = {"input_tokens": "1", "output_tokens": "2", "cache_creation_tokens": "7", "cache_read_tokens": "11"}
    assert parts(tables, child["run_id"]) == {"last_call": last, "tool_calls": {"call_id": "inner-1"}}
    assert [row["run_id"] for row in tables.rows("core_steps")] == [session, child["run_id"]]


def test_of_a_last_call_written_twice_the_report_with_more_output_is_the_part(claude, tokens, read):
    chain = sidechain(claude, tokens)
    late = dict(chain[-1], uuid="u-late")
    early = json.loads(json.dumps(chain[-1]))
    early["message"]["usage"]["output_tokens"] = 1
    tables = read({LOG: [task(claude), *chain[:-1], early, late, answer(claude)]})
    child = list(tables.rows("core_runs"))[1]
    assert parts(tables, child["run_id"])["last_call"]["output_tokens"] == "2"


def test_sub_agents_with_the_same_prompt_are_told_apart_by_what_they_said(claude, tokens, read):
    lines = [
        task(claude, "task-1"),
        task(claude, "task-2"),
        *sidechain(claude, tokens, said="one", call_id="c-one"),
        *sidechain(claude, tokens, said="two", call_id="c-two"),
        answer(claude, "task-2", said="two"),
        answer(claude, "task-1", said="one"),
    ]
    tables = read({LOG: lines})
    two, one = dict.fromkeys(row["subject_id"] for row in tables.rows("core_declared"))
    assert parts(tables, one)["tool_calls"] == {"call_id": "c-one"}
    assert parts(tables, two)["tool_calls"] == {"call_id": "c-two"}


def test_a_result_that_fits_several_sub_agents_has_no_parts(claude, tokens, read):
    lines = [
        task(claude),
        *sidechain(claude, tokens, call_id="c-one"),
        *sidechain(claude, tokens, call_id="c-two"),
        answer(claude),
    ]
    tables = read({LOG: lines})
    assert {row["subject_id"] for row in tables.rows("core_declared")} == {f"{lines[0]['sessionId']}/task-1"}
    assert tables.frame("core_components").empty


def test_a_result_whose_sub_agent_is_not_in_the_round_declares_without_parts(claude, read, session):
    tables = read({LOG: [task(claude), answer(claude, agentId="a1b2")]})
    assert {row["subject_id"] for row in tables.rows("core_declared")} == {f"{session}/a1b2"}
    assert tables.frame("core_components").empty


def test_a_sub_agent_file_is_joined_by_the_agent_id_of_the_result(claude, tokens, read, session):
    inner = [line | {"agentId": "a1b2"} for line in sidechain(claude, tokens)]
    parent = [task(claude), answer(claude, agentId="a1b2", status="completed")]
    tables = read({LOG: parent, f"logs/{session}/subagents/agent-a1b2.jsonl": inner})
    child = next(row for row in tables.rows("core_runs") if row["agent_id"] == "a1b2")
    assert (child["run_id"], child["parent_run_id"]) == (f"{session}/a1b2", session)
    assert child["exit_status"] == "completed"
    declared = next(tables.rows("core_declared"))
    assert json.loads(declared["component_paths"]) == {"*": [f"logs/{session}/subagents/agent-a1b2.jsonl"]}
    assert parts(tables, child["run_id"])["tool_calls"] == {"call_id": "inner-1"}


def test_a_sub_agent_file_without_its_session_still_names_its_parent(claude, tokens, one, session):
    inner = [line | {"agentId": "a1b2"} for line in sidechain(claude, tokens)]
    assert one("core_runs", {"logs/agent-a1b2.jsonl": inner})["parent_run_id"] == session


def test_a_sub_agent_that_names_itself_as_its_session_has_no_known_parent(claude, tokens, one):
    inner = [line | {"agentId": "a1b2", "sessionId": "agent-a1b2"} for line in sidechain(claude, tokens)]
    assert one("core_runs", {"logs/agent-a1b2.jsonl": inner})["parent_run_id"] is None


def test_usage_replayed_in_the_parents_file_is_a_repetition(claude, tokens, read, session):
    inner = [line | {"agentId": "a1b2"} for line in sidechain(claude, tokens)]
    replay = claude.line(
        "progress", data={"type": "agent_progress", "agentId": "a1b2", "message": {"message": inner[-1]["message"]}}
    )
    tables = read({"logs/a/agent-a1b2.jsonl": inner, "logs/b.jsonl": [claude.user(), replay]})
    usage = [row for row in tables.rows("core_usage") if row["call_id"] == "inner-1-last"]
    assert [(row["run_id"], row["duplicate_of"]) for row in usage] == [
        (f"{session}/a1b2", None),
        (f"{session}/a1b2", "logs/a/agent-a1b2.jsonl:4"),
    ]


def test_zeros_of_a_dialect_that_counts_nothing_are_no_parts(claude, tokens, read):
    chain = sidechain(claude, tokens)
    chain[-1]["message"]["usage"] = tokens(0, 0)
    tables = read({LOG: [task(claude), *chain, answer(claude)]})
    last = [row for row in tables.rows("core_components") if row["source"] == "last_call"]
    assert {(row["value_raw"], row["value_kind"]) for row in last} == {(None, "missing")}


def test_a_total_that_is_no_number_is_kept_as_what_it_is(claude, tokens, read):
    lines = [task(claude), *sidechain(claude, tokens), answer(claude, totalTokens="many")]
    row = next(row for row in read({LOG: lines}).rows("core_declared") if row["field"] == "subagent_total_tokens")
    assert (row["value_raw"], row["value_kind"], row["pointer"]) == ("many", "text", "/toolUseResult/totalTokens")


def test_a_chain_cut_by_a_compaction_stays_one_sidechain(claude, tokens, read):
    chain = sidechain(claude, tokens)
    boundary = claude.line("system", isSidechain=True, parentUuid=None, logicalParentUuid=chain[-1]["uuid"])
    after = claude.says({"type": "text", "text": "end"}, isSidechain=True, message_id="m-after", usage=tokens())
    tables = read({LOG: [task(claude), *chain, boundary, after]})
    assert len(tables.frame("core_runs")) == 2


def test_a_task_tool_under_its_new_name_is_known_by_its_result(claude, tokens, read):
    call = claude.calls("Agent", "task-1", {"prompt": "look", "subagent_type": "Explore"})
    tables = read({LOG: [call, *sidechain(claude, tokens), answer(claude)]})
    assert len(tables.frame("core_declared")) == 3
