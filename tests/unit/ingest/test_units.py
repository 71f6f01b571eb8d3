"""A session is found again in the files it was spread over."""

from __future__ import annotations

import hashlib
import json

import pytest

from governance_pipeline.ingest import units
from governance_pipeline.ingest.belonging import Belonging
from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.layout import FoundFile, found_file
from governance_pipeline.ingest.units import Candidate, Unit, look_at, units_of


def _candidate(folder, name, log_format=None, /, **says):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(name)
    says = {key: folder / value if key in ("holds", "results") else value for key, value in says.items()}
    return Candidate(found_file(path, folder), hashlib.sha256(name.encode()).hexdigest(), log_format, Belonging(**says))


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
        _candidate(tmp_path, "p/s.jsonl", "claude_code", session_id="s", holds="p/s"),
        _candidate(tmp_path, "p/s/deep/er/x.txt"),
        _candidate(tmp_path, "p/nameless.jsonl", "claude_code"),
        _candidate(tmp_path, "p/nameless/x.txt"),
        _candidate(tmp_path, "p/t.traj", "swe_agent"),
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
        return _candidate(tmp_path, name, "atif", session_id=session, ids=(session,), sub_agents=named)

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


def test_results_of_one_folder_are_one_unit_once_one_of_them_leads(tmp_path):
    candidates = [
        _candidate(tmp_path, "m/a.json", "tau2_bench", results="m", session_id="x"),
        _candidate(tmp_path, "m/b.json", "other", results="m", leads=True),
        _candidate(tmp_path, "m/s.json", "tau2_bench", results="m", leads=True),
        _candidate(tmp_path, "m/t/b.json", "tau2_bench", results="m"),
        _candidate(tmp_path, "n/a.json", "tau2_bench", results="n", session_id="x"),
        _candidate(tmp_path, "n/b.json", "tau2_bench", results="n"),
    ]
    found = [[c.file.path for c in unit.files] for unit in units_of(candidates)]
    assert found == [["m/a.json", "m/b.json", "m/s.json", "m/t/b.json"], ["n/a.json"], ["n/b.json"]]


def test_what_lies_in_a_held_folder_is_of_the_session_that_holds_it_whatever_it_names(tmp_path):
    known = {
        "c/metadata.json": ("entire", {"session_id": "c0ffee", "holds": "c", "is_part": True}),
        "c/0/metadata.json": ("entire", {"session_id": "s", "holds": "c/0", "is_part": True}),
        "c/0/full.jsonl": ("claude_code", {"session_id": "s", "holds": "c/0/full", "is_part": True}),
        "c/0/full/sub.jsonl": (None, {}),
        "c/n.csv": ("entire", {}),
        "s.jsonl": ("claude_code", {"session_id": "s", "holds": "s", "is_part": True}),
        "d/0/metadata.json": ("entire", {"session_id": "t", "holds": "d/0", "is_part": True}),
        "d/1/base.json": ("openhands", {"holds": "d/1"}),
        "d/1/events/e.json": ("openhands", {}),
    }
    found = units_of([_candidate(tmp_path, name, form, **says) for name, (form, says) in known.items()])
    assert [(unit.session_id, len(unit.files)) for unit in found] == [("c0ffee", 5), ("s", 1), ("t", 1), (None, 2)]


def test_a_conversation_inside_another_one_is_a_part_of_it_only_where_it_says_so(tmp_path):
    folders = {"c": False, "c/x": False, "c/subagents/d": True, "c/subagents/d/subagents/e": True, "subagents/f": True}
    candidates = [
        candidate
        for folder, is_part in folders.items()
        for candidate in (
            _candidate(tmp_path, f"{folder}/base.json", "o", session_id=folder, holds=folder, is_part=is_part),
            _candidate(tmp_path, f"{folder}/events/e.json", "o"),
        )
    ]
    found = {unit.session_id: len(unit.files) for unit in units_of(candidates)}
    assert found == {"c": 6, "c/x": 2, "subagents/f": 2}


def test_files_of_one_session_are_one_unit_whatever_their_formats(tmp_path):
    candidates = [
        _candidate(tmp_path, "a/s.jsonl", "claude_code", session_id="a/b"),
        _candidate(tmp_path, "b/out.json", "claude_code_stream", session_id="a/b"),
        _candidate(tmp_path, "c/t.json", "otel_genai", session_id="other"),
    ]
    assert [len(unit.files) for unit in units_of(candidates)] == [2, 1]


@pytest.mark.parametrize(("extra", "wanted"), [({"sessions": []}, "c0ffee"), ({"session_id": "s-1"}, "s-1")])
def test_a_checkpoint_is_named_by_its_root_and_a_lone_session_by_its_own_id(tmp_path, extra, wanted):
    path = tmp_path / "metadata.json"
    path.write_text(json.dumps({"checkpoint_id": "c0ffee", "checkpoints_count": 1, **extra}))
    candidate = look_at(found_file(path, tmp_path), FORMATS)
    assert (candidate.format, candidate.says.session_id) == ("claude_code_entire", wanted)


def test_forks_and_sub_agents_go_with_the_session_they_come_from(tmp_path):
    candidates = [
        _candidate(tmp_path, "01/child.jsonl", "codex_rollout", session_id="c", parent_id="p"),
        _candidate(tmp_path, "02/parent.jsonl", "codex_rollout", session_id="p", parent_id="gone"),
        _candidate(tmp_path, "02/again.jsonl", "codex_rollout", session_id="p", parent_id="gone"),
        _candidate(tmp_path, "02/other.jsonl", "codex_rollout", session_id="o"),
        _candidate(tmp_path, "02/nameless.jsonl", "codex_rollout"),
    ]
    found = {unit.session_id: len(unit.files) for unit in units_of(candidates)}
    assert found == {"p": 3, "o": 1, None: 1}


def test_sessions_that_come_from_each_other_in_a_circle_are_one_unit(tmp_path):
    candidates = [
        _candidate(tmp_path, "w.jsonl", "codex_rollout", session_id="w", parent_id="y"),
        _candidate(tmp_path, "x.jsonl", "codex_rollout", session_id="x", parent_id="y"),
        _candidate(tmp_path, "y.jsonl", "codex_rollout", session_id="y", parent_id="x"),
    ]
    assert [(unit.session_id, len(unit.files)) for unit in units_of(candidates)] == [("x", 3)]


def test_a_long_chain_of_trajectories_is_followed_in_time_that_grows_with_it(tmp_path):
    count = 400
    candidates = [
        _candidate(tmp_path, f"{n:04}.json", "atif", session_id=f"s{n}", ids=(f"s{n}",), sub_agents=(f"s{n + 1}",))
        for n in range(count)
    ]
    assert [len(unit.files) for unit in units_of(candidates)] == [count]


def test_a_rollout_tells_its_session_and_where_it_comes_from(tmp_path):
    meta = {"id": "c", "forked_from_id": "p"}
    line = {"timestamp": "2026-02-23T11:40:00Z", "type": "session_meta", "payload": meta}
    (tmp_path / "x").write_text(json.dumps(line) + "\n")
    candidate = look_at(found_file(tmp_path / "x", tmp_path), FORMATS)
    assert (candidate.format, candidate.says.session_id, candidate.says.parent_id) == ("codex_rollout", "c", "p")
    assert candidate.day == "2026-02-23"
