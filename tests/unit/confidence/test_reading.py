"""Lines of a confidence file: nothing is lost, and what is broken says which line and why."""

from __future__ import annotations

import hashlib
import json

import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.strict.limits import LIMITS


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b""])
def test_a_line_too_long_is_refused_under_the_digest_of_all_its_bytes(replayed, ending):
    text = b'{"note": "' + b"x" * LIMITS.line_bytes + b'"}'
    last = text + ending.removesuffix(b"\n")  # the fixture adds the line feed
    document = replayed(last)
    digest = hashlib.sha256(text).hexdigest()
    assert [(one["reason"], one["line_sha256"]) for one in document["refused"]] == [("malformed_line", digest)]


def test_a_line_too_long_keeps_a_carriage_return_that_ends_no_line(replayed):
    text = b'"' + b"x\r" * (LIMITS.line_bytes // 2 + 10) + b'"'
    assert replayed(text)["refused"][0]["line_sha256"] == hashlib.sha256(text).hexdigest()


def test_a_byte_order_mark_is_dropped_at_the_start_and_nowhere_else(replayed, event):
    mark = b"\xef\xbb\xbf"
    line = mark + json.dumps(event(1)).encode()
    document = replayed(
        line, b"", b"  ", registry=mark + json.dumps({"schema": "govern/confidence-registry/v1"}).encode()
    )
    refused = document["refused"]
    assert [one["line_sha256"] for one in refused] == [hashlib.sha256(line).hexdigest()]
    assert document["counts"] == {"lines": 2, "registry": 1, "accepted": 0, "refused": 1}


@pytest.mark.parametrize(
    ("registry", "said"),
    [
        ({"pools": ["opus"]}, "platform/model/thinking"),
        ({"pools": "x"}, "is a list"),
        ({"pool": []}, "unknown key 'pool'"),
        ({"subjects": [{"role": "boss", "subject_id": "ada"}]}, "agent or user"),
        ({"subjects": [{"role": "agent"}]}, "subject_id"),
        ({"subjects": ["ada"]}, "object"),
        ({"subjects": [{"role": "agent", "subject_id": "a", "weights": {"TECH": -1}}]}, "a weight is"),
        ({"subjects": [{"role": "agent", "subject_id": "a", "weights": {"TECH": 0.00001}}]}, "a weight is"),
        ({"subjects": [{"role": "agent", "subject_id": "a", "weights": {"TECH": True}}]}, "a weight is"),
        ({"subjects": [{"role": "agent", "subject_id": "a", "weights": {"LAW": 1}}]}, "five domains"),
        ({"subjects": [{"role": "agent", "subject_id": "a", "weights": [1]}]}, "object of domain"),
        (
            {"subjects": [{"role": "agent", "subject_id": "a", "weights": dict.fromkeys(("TECH", "OPS", "JUDGMENT", "COMMS", "ORCH"), 0)}]},
            "add to 0",
        ),
        ({"teams": [{"team_id": "t", "agent_id": "ada", "user_id": "kim"}]}, "whom no registry line registers"),
        ({"patterns": [{"pattern_code": "EXCUSE", "role": "agent", "kind": "anti"}]}, "already registered otherwise"),
        ({"patterns": [{"pattern_code": "NEW", "role": "agent", "kind": "label"}]}, "anti or pro"),
        ({"patterns": [{"pattern_code": "NEW", "role": "agent", "kind": "pro", "severity": "mild"}]}, "only an anti"),
        ({"patterns": [{"pattern_code": "new", "role": "agent", "kind": "pro"}]}, "capitals"),
        (
            {"subjects": [{"role": "agent", "subject_id": "a"}, {"role": "agent", "subject_id": "a", "weights": {"OPS": 2}}]},
            "already registered otherwise",
        ),
    ],
)  # fmt: skip
def test_a_broken_registry_refuses_the_file_names_the_line_and_prints_nothing(registry, said, tmp_path, capsys):
    file = tmp_path / "events.jsonl"
    file.write_text("\n" + json.dumps({"schema": "govern/confidence-registry/v1", **registry}) + "\n")
    assert run(["confidence", "replay", str(file), "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert "line 2" in err or "teams" in registry


def test_the_same_registry_entry_twice_is_fine(replayed):
    entry = {"schema": "govern/confidence-registry/v1", "pools": ["a/b/c"], "teams": None}
    full = {
        "subjects": [{"role": "agent", "subject_id": "x", "weights": {"OPS": 1}}, {"role": "agent", "subject_id": "x"}]
    }
    document = replayed({**entry, **full}, {**entry, "subjects": full["subjects"][:1]})
    assert document["counts"]["registry"] == 3
    assert [one["subject_id"] for one in document["subjects"]] == ["ada", "x", "kim"]


@pytest.mark.parametrize("name", ["missing.jsonl", "folder"])
def test_a_file_that_cannot_be_read_is_exit_2(name, tmp_path, capsys):
    (tmp_path / "folder").mkdir()
    assert run(["confidence", "replay", str(tmp_path / name), "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert name in err


def test_three_lines_of_one_id_stand_or_fall_together(replayed, event):
    document = replayed(event(1, note="a"), event(1, note="a"), event(1, note="b"))
    assert [one["reason"] for one in document["refused"]] == ["conflicting_event_id"] * 3
    assert document["counts"]["accepted"] == 0
