"""A heap of paths is cut into rounds: every file in exactly one, named as the rules say."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.errors import UsageError
from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.planning import By, plan_import
from governance_pipeline.vocabulary import is_round_id

ENTRY = {"timestamp": "2025-01-02T03:04:05Z", "agent_id": "a", "run_id": "run-1", "tool_called": "bash"}


def session(session_id, text="hi", **more):
    message = {"role": "user", "content": text}
    line = {"type": "user", "sessionId": session_id, "uuid": f"u-{text}", "isSidechain": False, "message": message}
    return [line | {"timestamp": "2025-01-02T03:04:05.000Z"} | more]


def _plan(*paths, **more):
    return {planned.round_id: [file.path for file in planned.files] for planned in plan_import(list(paths), **more)}


def _sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_path_that_does_not_exist_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        plan_import([tmp_path / "nowhere"])


@pytest.mark.parametrize("round_id", ["", "a..b", "-a", "a.", "a/b", "x" * 81])
def test_an_illegal_round_id_is_a_usage_error(tmp_path, round_id):
    with pytest.raises(UsageError, match="no legal round id"):
        plan_import([tmp_path], round_id=round_id)


def test_an_unknown_format_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="no format"):
        plan_import([tmp_path], format_name="nonsense")


def test_a_round_id_does_not_join_a_round_folder_with_other_files(write_files, tmp_path):
    write_files(tmp_path, {"r-1/changes.jsonl": "", "r-2/changes.jsonl": "", "x.txt": "x"})
    with pytest.raises(UsageError, match="does not join"):
        plan_import([tmp_path / "r-1", tmp_path / "x.txt"], round_id="new")
    with pytest.raises(UsageError, match="does not join"):
        plan_import([tmp_path / "r-1", tmp_path / "r-2"], round_id="new")


def test_an_empty_folder_is_no_round(tmp_path):
    assert plan_import([tmp_path]) == []


def test_a_session_is_a_round_called_by_its_id(write_files, tmp_path):
    write_files(tmp_path, {"p/one.jsonl": session("s-1"), "p/two.jsonl": session("s-2")})
    assert _plan(tmp_path) == {"s-1": ["logs/one.jsonl"], "s-2": ["logs/two.jsonl"]}


@pytest.mark.parametrize("session_id", ["a..b", "../up", "é", "x" * 81, " ", "a/b"])
def test_a_session_id_that_is_no_round_id_gives_way_to_the_digest(write_files, tmp_path, session_id):
    write_files(tmp_path, {"one.jsonl": session(session_id)})
    assert list(_plan(tmp_path)) == [_sha(tmp_path / "one.jsonl")[:16]]


def test_ids_that_differ_only_in_case_are_kept_apart(write_files, tmp_path):
    write_files(tmp_path, {"a.jsonl": session("Same"), "b.jsonl": session("same")})
    plan = _plan(tmp_path)
    assert "Same" in plan
    assert _sha(tmp_path / "b.jsonl")[:16] in plan


def test_files_of_one_session_are_one_round_and_a_copy_counts_once(write_files, tmp_path):
    write_files(tmp_path, {"a/x.jsonl": session("s"), "b/x.jsonl": session("s", "more"), "c/x.jsonl": session("s")})
    (planned,) = plan_import([tmp_path])
    assert [(file.path, file.reason) for file in planned.files] == [
        ("logs/a/x.jsonl", None),
        ("logs/b/x.jsonl", None),
        ("logs/c/x.jsonl", "duplicate_file"),
    ]


def test_sub_agent_files_and_attachments_go_with_their_session(write_files, tmp_path):
    agent = session("other", isSidechain=True, agentId="agent7")
    files = {
        "p/s-1.jsonl": session("s-1"),
        "p/s-1/subagents/agent-agent7.jsonl": agent,
        "p/s-1/subagents/agent-agent7.meta.json": '{"kind": "explore"}',
        "p/s-2.jsonl": session("s-2"),
    }
    write_files(tmp_path, files)
    assert _plan(tmp_path) == {
        "s-1": ["logs/s-1.jsonl", "logs/s-1/subagents/agent-agent7.jsonl", "logs/s-1/subagents/agent-agent7.meta.json"],
        "s-2": ["logs/s-2.jsonl"],
    }


def test_a_sub_agent_file_goes_with_the_session_beside_it_that_names_its_agent(write_files, tmp_path):
    files = {
        "s-1.jsonl": session("s-1"),
        "s-2.jsonl": session("s-2", toolUseResult={"agentId": "agent7"}),
        "agent-agent7.jsonl": session("own", isSidechain=True, agentId="agent7"),
        "agent-agent8.jsonl": session("orphan", isSidechain=True, agentId="agent8"),
    }
    write_files(tmp_path, files)
    assert _plan(tmp_path) == {
        "s-1": ["logs/s-1.jsonl"],
        "s-2": ["logs/agent-agent7.jsonl", "logs/s-2.jsonl"],
        "orphan": ["logs/agent-agent8.jsonl"],
    }


def test_a_conversation_folder_is_one_round_called_by_its_id(write_files, tmp_path):
    state = {"id": "conv-1", "agent": {}, "stats": {"usage_to_metrics": {}}, "execution_status": "finished"}
    event = {"id": "e0", "timestamp": "2026-02-05T11:24:45.292853", "source": "agent", "kind": "MessageEvent"}
    files = {
        "c/base_state.json": json.dumps(state),
        "c/events/event-00000-e0.json": json.dumps(event),
        "c/events/notes.txt": "x",
        "base_state.json": '{"unrelated": true}',
    }
    write_files(tmp_path, files)
    plan = _plan(tmp_path)
    (conversation,) = [files for files in plan.values() if len(files) > 1]
    assert conversation == ["logs/base_state.json", "logs/events/event-00000-e0.json", "logs/events/notes.txt"]
    assert len(plan) == 2


def test_files_of_no_format_that_lie_together_are_one_round(write_files, tmp_path):
    write_files(
        tmp_path, {"d/manifest.csv": "a", "d/report.yaml": "b: 1", "e/alone.csv": "c", "d/s.jsonl": session("s")}
    )
    plan = _plan(tmp_path)
    assert plan["s"] == ["logs/s.jsonl"]
    assert plan[_sha(tmp_path / "e" / "alone.csv")[:16]] == ["logs/alone.csv"]
    (together,) = [files for files in plan.values() if len(files) == 2]
    assert together == ["logs/manifest.csv", "logs/report.yaml"]
    assert all(is_round_id(round_id) for round_id in plan)


def test_what_cannot_be_opened_is_in_the_plan_with_its_reason(write_files, tmp_path):
    write_files(tmp_path, {"s.jsonl": session("s")})
    (tmp_path / "link.jsonl").symlink_to("s.jsonl")
    files = [file for planned in plan_import([tmp_path]) for file in planned.files]
    assert [(file.path, file.reason, file.sha256) for file in files if file.reason] == [
        ("logs/link.jsonl", "symlink", None)
    ]


def test_a_folder_with_a_contract_or_native_file_is_a_round_as_it_stands(write_files, tmp_path):
    files = {
        "rounds/r-1/round.toml": 'schema = "govern/round/v1"\n',
        "rounds/r-1/logs/a.jsonl": session("s-1"),
        "rounds/r-2/declared.jsonl": "",
        "rounds/r-2/out/notes.md": "x",
        "rounds/loose.jsonl": session("s-9"),
    }
    write_files(tmp_path, files)
    assert _plan(tmp_path) == {
        "r-1": ["logs/a.jsonl", "round.toml"],
        "r-2": ["declared.jsonl", "out/notes.md"],
        "s-9": ["logs/loose.jsonl"],
    }
    assert _plan(tmp_path / "rounds" / "r-1", round_id="new") == {"new": ["logs/a.jsonl", "round.toml"]}
    formats = {
        file.path: file.format for planned in plan_import([tmp_path / "rounds" / "r-1"]) for file in planned.files
    }
    assert formats == {"logs/a.jsonl": "claude_code", "round.toml": "round_contract"}


def test_round_folders_of_the_same_name_or_an_illegal_one_are_called_by_digest(write_files, tmp_path):
    write_files(tmp_path, {"a/r-1/changes.jsonl": "{}", "b/r-1/changes.jsonl": "[]", "bad name/changes.jsonl": "1"})
    plan = _plan(tmp_path)
    assert len(plan) == 3
    assert all(len(round_id) == 16 for round_id in plan)


def test_a_copy_of_a_round_folder_is_a_round_of_its_own_whose_files_are_not_read_again(write_files, tmp_path):
    line = [{"step": 1, "F": 1}]
    write_files(tmp_path, {f"{folder}/changes.jsonl": line for folder in ("r-1", "old/r-1", "round 1")})
    planned = plan_import([tmp_path])
    digest = planned[0].round_id
    assert [round_.round_id for round_ in planned] == [digest, f"{digest}-2", f"{digest}-3"]
    assert [[file.reason for file in round_.files] for round_ in planned] == [
        [None],
        ["duplicate_file"],
        ["duplicate_file"],
    ]
    assert [round_.files[0].source.parent.name for round_ in planned] == ["r-1", "r-1", "round 1"]


def test_a_round_folder_called_like_the_digest_of_another_one_is_no_copy_of_it(write_files, tmp_path):
    write_files(tmp_path, {"round 1/changes.jsonl": [{"step": 1, "F": 1}]})
    digest = plan_import([tmp_path])[0].round_id
    write_files(tmp_path, {f"{digest}/changes.jsonl": [{"step": 1, "F": 2}]})
    planned = plan_import([tmp_path])
    assert [(p.round_id, p.files[0].source.parent.name, p.files[0].reason) for p in planned] == [
        (digest, digest, None),
        (f"{digest}-2", "round 1", None),
    ]


def test_a_log_with_the_bytes_of_a_round_folder_is_a_round_of_its_own(write_files, tmp_path):
    line = session("a..b")
    write_files(tmp_path, {"round 1/changes.jsonl": line, "s.jsonl": line})
    digest = _sha(tmp_path / "s.jsonl")[:16]
    assert _plan(tmp_path) == {digest: ["changes.jsonl"], f"{digest}-2": ["logs/s.jsonl"]}


def test_native_files_named_themselves_go_to_the_top_of_their_round(write_files, tmp_path):
    write_files(tmp_path, {"d/changes.jsonl": "", "audit.jsonl": [ENTRY]})
    plan = _plan(tmp_path / "d" / "changes.jsonl", tmp_path / "audit.jsonl", round_id="r")
    assert plan == {"r": ["changes.jsonl", "logs/audit.jsonl"]}


def test_a_file_named_twice_counts_once(write_files, tmp_path):
    write_files(tmp_path, {"s.jsonl": session("s")})
    assert _plan(tmp_path, tmp_path / "s.jsonl", tmp_path) == {"s": ["logs/s.jsonl"]}


def test_a_native_audit_log_of_one_session_is_called_by_it(write_files, tmp_path):
    write_files(
        tmp_path,
        {
            "a.jsonl": [ENTRY | {"session_id": "s-1"}],
            "b.jsonl": [ENTRY | {"session_id": "x"}, ENTRY | {"session_id": "y"}],
        },
    )
    assert set(_plan(tmp_path)) == {"s-1", _sha(tmp_path / "b.jsonl")[:16]}


def test_by_dir_one_folder_is_one_round(write_files, tmp_path):
    files = {"x/a.jsonl": session("s-1"), "x/b.jsonl": session("s-2"), "y/c.jsonl": session("s-3"), "y/n.csv": "1"}
    write_files(tmp_path, files)
    assert _plan(tmp_path, by=By.DIR) == {"x": ["logs/a.jsonl", "logs/b.jsonl"], "y": ["logs/c.jsonl", "logs/n.csv"]}


def test_by_dir_folders_of_the_same_name_are_called_by_digest(write_files, tmp_path):
    write_files(tmp_path, {"p/logs/a.jsonl": session("s-1"), "q/logs/b.jsonl": session("s-2")})
    assert all(len(round_id) == 16 for round_id in _plan(tmp_path, by=By.DIR))


def test_by_day_one_utc_day_is_one_round_and_an_unknown_day_stays_alone(write_files, tmp_path):
    files = {
        "a.jsonl": session("s-1", timestamp="2025-01-02T23:30:00-02:00"),
        "b.jsonl": session("s-2", timestamp="2025-01-03T10:00:00Z"),
        "c.jsonl": session("s-3", timestamp="2025-01-04T10:00:00Z"),
        "d.jsonl": session("s-4", timestamp="then"),
    }
    write_files(tmp_path, files)
    assert _plan(tmp_path, by=By.DAY) == {
        "2025-01-03": ["logs/a.jsonl", "logs/b.jsonl"],
        "2025-01-04": ["logs/c.jsonl"],
        "s-4": ["logs/d.jsonl"],
    }


def test_files_of_another_format_are_listed_and_not_taken(write_files, tmp_path):
    write_files(tmp_path, {"a.jsonl": session("s-1"), "b.jsonl": [ENTRY], "c.csv": "1"})
    plan = plan_import([tmp_path], format_name="claude_code")
    assert {file.path: file.reason for planned in plan for file in planned.files} == {
        "logs/a.jsonl": None,
        "logs/b.jsonl": "other_format",
        "logs/c.csv": "other_format",
    }


def test_the_plan_does_not_depend_on_the_order_of_the_paths(write_files, tmp_path):
    write_files(tmp_path, {"a/x.jsonl": session("S"), "b/y.jsonl": session("s"), "c/z.csv": "1"})
    paths = [tmp_path / name for name in "abc"]
    assert plan_import(paths) == plan_import(paths[::-1])


_PARTS = st.sampled_from(["a", "A", "b", "logs", "s", "events", "subagents"])
_NAMES = st.sampled_from(
    ["s.jsonl", "S.jsonl", "agent-1.jsonl", "base_state.json", "x.csv", "changes.jsonl", "round.toml"]
)
_CONTENTS = st.sampled_from(
    [session("s"), session("S"), session("a..b"), session("t", isSidechain=True, agentId="1"), [ENTRY], "", "x", '{"id": "c"}']
)  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tree=st.dictionaries(
        st.tuples(st.lists(_PARTS, max_size=3), _NAMES).map(lambda p: "/".join([*p[0], p[1]])), _CONTENTS, max_size=8
    ),
    by=st.sampled_from(By),
)
def test_any_heap_is_partitioned_under_legal_ids_and_distinct_names(tmp_path_factory, write_files, tree, by):
    folder = write_files(tmp_path_factory.mktemp("heap"), tree)
    plan = plan_import([folder], by)
    planned = [file.source for planned in plan for file in planned.files]
    assert sorted(planned) == sorted(file.source for file in scan(folder))
    assert all(len({file.path for file in planned.files}) == len(planned.files) for planned in plan)
    assert all(is_round_id(planned.round_id) for planned in plan)
    assert len({planned.round_id.casefold() for planned in plan}) == len(plan)
