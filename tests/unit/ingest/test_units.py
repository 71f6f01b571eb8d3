"""A session is found again in the files it was spread over."""

from __future__ import annotations

import hashlib
import json

import pytest

from governance_pipeline.ingest import units
from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.layout import FoundFile, found_file
from governance_pipeline.ingest.units import Candidate, Unit, look_at, units_of


def _candidate(folder, name, **more):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(name)
    return Candidate(found_file(path, folder), hashlib.sha256(name.encode()).hexdigest(), **more)


def test_a_file_that_is_gone_is_a_candidate_with_a_reason(tmp_path):
    assert look_at(FoundFile("x", tmp_path / "x", 1, None), ()).reason == "not_found"
    assert look_at(FoundFile("x", tmp_path / "x", 1, "fifo"), ()).reason == "fifo"


def test_the_digest_id_of_one_file_is_that_of_its_bytes(tmp_path):
    candidate = _candidate(tmp_path, "a")
    assert Unit((candidate,), None).round_id == candidate.sha256[:16]


def test_the_digest_id_of_several_files_depends_on_names_and_bytes(tmp_path):
    a, b = _candidate(tmp_path, "a"), _candidate(tmp_path, "b")
    swapped = (Candidate(a.file, b.sha256), Candidate(b.file, a.sha256))
    ids = {Unit((a, b), None).digest_id, Unit(swapped, None).digest_id, Unit((a,), None).digest_id}
    assert len(ids) == 3


def test_every_candidate_is_in_exactly_one_unit(tmp_path):
    candidates = [
        _candidate(tmp_path, "p/s.jsonl", format="claude_code", session_id="s"),
        _candidate(tmp_path, "p/s/deep/er/x.txt"),
        _candidate(tmp_path, "p/nameless.jsonl", format="claude_code"),
        _candidate(tmp_path, "p/nameless/x.txt"),
        _candidate(tmp_path, "p/t.traj", format="swe_agent"),
    ]
    found = units_of(candidates)
    assert sorted(c.file.path for unit in found for c in unit.files) == sorted(c.file.path for c in candidates)
    assert [[c.file.path for c in unit.files] for unit in found] == [
        ["p/s.jsonl", "p/s/deep/er/x.txt"],
        ["p/nameless.jsonl"],
        ["p/nameless/x.txt"],
        ["p/t.traj"],
    ]


@pytest.mark.parametrize("position", [0, 1, 5, 8, 9, 12])
def test_a_word_is_found_across_the_blocks_a_file_is_read_in(tmp_path, monkeypatch, position):
    monkeypatch.setattr(units, "read_blocks", lambda stream: iter(lambda: stream.read(4), b""))
    (tmp_path / "f").write_bytes(b"." * position + b"agent7" + b"." * (12 - position))
    assert units._mentions(tmp_path / "f", "agent7")
    assert not units._mentions(tmp_path / "f", "agent8")
    assert not units._mentions(tmp_path / "gone", "agent7")


def test_a_trajectory_has_the_sub_agents_beside_it_and_no_others(tmp_path):
    def trajectory(name, session, *named):
        return _candidate(tmp_path, name, format="atif", session_id=session, ids=(session,), sub_agents=named)

    found = units_of(
        [
            trajectory("a/answers.json", "s-3"),
            trajectory("a/root.json", "s-1", "s-2"),
            trajectory("a/summary.json", "s-2", "s-3", "s-1"),
            trajectory("b/answers.json", "s-3"),
            trajectory("c/one.json", "s-4", "s-6"),
            trajectory("c/two.json", "s-5", "s-6"),
            trajectory("c/whose.json", "s-6"),
        ]
    )
    assert [[c.file.path for c in unit.files] for unit in found] == [
        ["a/answers.json", "a/root.json", "a/summary.json"],
        ["b/answers.json"],
        ["c/one.json"],
        ["c/two.json"],
        ["c/whose.json"],
    ]


def test_the_result_files_of_one_folder_are_one_unit_with_the_outcomes_below(tmp_path):
    names = ["m/instance_results/a.json", "m/metadata.json", "m/scores.json", "n/instance_results/a.json"]
    found = units_of([_candidate(tmp_path, name, format="openhands_index") for name in names])
    assert [[c.file.path for c in unit.files] for unit in found] == [names[:3], names[3:]]


def test_trajectories_beside_a_submission_are_one_unit_with_it_and_others_stay_alone(tmp_path):
    names = ["m/a.json", "m/submission.json", "m/trajectories/b.json", "n/a.json", "n/trajectories/b.json"]
    found = units_of([_candidate(tmp_path, name, format="tau2_bench") for name in names])
    assert [[c.file.path for c in unit.files] for unit in found] == [names[:3], names[3:4], names[4:]]


def test_a_checkpoint_folder_is_one_unit_whatever_session_its_transcripts_name(tmp_path):
    names = [
        "c/metadata.json",
        "c/0/metadata.json",
        "c/0/full.jsonl",
        "c/0/full/sub.jsonl",
        "c/0/prompt.txt",
        "c/n.csv",
    ]
    known = {
        "c/metadata.json": {"format": "claude_code_entire", "session_id": "c0ffee"},
        "c/0/metadata.json": {"format": "claude_code_entire", "session_id": "s"},
        "c/0/full.jsonl": {"format": "claude_code", "session_id": "s"},
        "c/n.csv": {"format": "claude_code_entire"},
    }
    inside = [_candidate(tmp_path, name, **known.get(name, {})) for name in names]
    outside = _candidate(tmp_path, "s.jsonl", format="claude_code", session_id="s")
    alone = _candidate(tmp_path, "d/0/metadata.json", format="claude_code_entire", session_id="t")
    found = units_of([*inside, outside, alone])
    assert [(unit.round_id, len(unit.files)) for unit in found] == [("c0ffee", 6), ("s", 1), ("t", 1)]


@pytest.mark.parametrize(("extra", "wanted"), [({"sessions": []}, "c0ffee"), ({"session_id": "s-1"}, "s-1")])
def test_a_checkpoint_is_named_by_its_root_and_a_lone_session_by_its_own_id(tmp_path, extra, wanted):
    path = tmp_path / "metadata.json"
    path.write_text(json.dumps({"checkpoint_id": "c0ffee", "checkpoints_count": 1, **extra}))
    candidate = look_at(found_file(path, tmp_path), FORMATS)
    assert (candidate.format, candidate.session_id) == ("claude_code_entire", wanted)


def test_reports_of_instances_belong_to_the_results_above_their_logs(tmp_path):
    names = ["s/logs/o__r-1/report.json", "s/logs/run/m/o__r-2/report.json", "s/results.json", "t/logs/preds.json"]
    found = units_of([_candidate(tmp_path, name, format="swebench") for name in names])
    assert [[c.file.path for c in unit.files] for unit in found] == [names[:3], names[3:]]


def test_forks_and_sub_agents_of_codex_go_with_the_session_they_come_from(tmp_path):
    candidates = [
        _candidate(tmp_path, "01/child.jsonl", format="codex_rollout", session_id="c", parent_id="p"),
        _candidate(tmp_path, "02/parent.jsonl", format="codex_rollout", session_id="p", parent_id="gone"),
        _candidate(tmp_path, "02/again.jsonl", format="codex_rollout", session_id="p", parent_id="gone"),
        _candidate(tmp_path, "02/other.jsonl", format="codex_rollout", session_id="o"),
        _candidate(tmp_path, "02/nameless.jsonl", format="codex_rollout"),
    ]
    found = {unit.session_id: len(unit.files) for unit in units_of(candidates)}
    assert found == {"p": 3, "o": 1, None: 1}


def test_a_rollout_tells_its_session_and_where_it_comes_from(tmp_path):
    meta = {"id": "c", "forked_from_id": "p"}
    line = {"timestamp": "2026-02-23T11:40:00Z", "type": "session_meta", "payload": meta}
    (tmp_path / "x").write_text(json.dumps(line) + "\n")
    candidate = look_at(found_file(tmp_path / "x", tmp_path), FORMATS)
    assert (candidate.format, candidate.session_id, candidate.parent_id) == ("codex_rollout", "c", "p")
    assert candidate.day == "2026-02-23"


def test_a_conversation_has_its_sub_agents_and_theirs(tmp_path):
    folders = ["c", "c/subagents/d", "c/subagents/d/subagents/e", "subagents/f"]
    names = [f"{folder}/{name}" for folder in folders for name in ("base_state.json", "events/event-0.json")]
    found = units_of([_candidate(tmp_path, name, format="openhands", session_id=name[:-16]) for name in names])
    assert [len(unit.files) for unit in found] == [6, 2]
    assert [unit.session_id for unit in found] == ["c", "subagents/f"]
