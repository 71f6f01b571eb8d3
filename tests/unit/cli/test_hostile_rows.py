"""Rows 41 to 49 of the attack table (research/security.md c), through `govern audit` and `govern rounds`."""

from __future__ import annotations

import io
import json
import os
import socket
import zipfile

import pytest

from governance_pipeline.cli.main import run

LOG = {
    "trajectory_format": "mini-swe-agent-1.1",
    "info": {"model_stats": {"instance_cost": 0.2, "api_calls": 2}},
    "messages": [{"role": "assistant", "content": "a", "extra": {"cost": 0.1, "actions": []}} for _ in range(2)],
}
SESSION = {"type": "user", "sessionId": "s-1", "uuid": "u", "message": {"role": "user", "content": "hi"}}
HOSTILE = [
    "a\x1b[2J.json",
    "\u202egpj.json",
    "a\nb.json",
    "[ab].json",
    "*.json",
    "~.json",
    "-rf.json",
    "n" * 250 + ".json",
]
HEADER = {"version": 2, "status": "success", "eval": {"eval_id": "e", "task": "t", "model": "m", "created": "x"}}


@pytest.fixture
def govern(capsys, tmp_path, monkeypatch):
    """Run `govern …` in an empty folder; gives exit code, stdout and stderr."""
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")

    def _govern(*arguments):
        code = run([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return _govern


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "sound.json").write_text(json.dumps(LOG))
    return folder


def audited(govern, folder):
    """Audit a folder; gives exit code and {name: reason of the file, or of its records}."""
    code, out, err = govern("audit", folder, "--json")
    assert err == ""
    document = json.loads(out)
    reasons = document["quarantine_reasons"]
    for file in document["files"]:
        assert file["lines_in"] == sum(file[part] for part in ("accepted", "quarantined", "blank", "duplicates"))
    found = {
        file["path"].removeprefix("logs/"): file["reason"] or reasons.get(f"{file['round_id']}/{file['path']}")
        for file in document["files"]
    }
    assert found.pop("sound.json") is None
    assert document["counts"]["match"] == 2
    return code, found


def test_rows_41_and_48_names_are_literal_and_never_steer_the_terminal(govern, logs):
    for name in HOSTILE:
        (logs / name).write_text(json.dumps(LOG | {"name": name}))
    code, found = audited_names(govern, logs)
    assert code == 0
    assert found == {"sound.json", *HOSTILE}
    _, page, _ = govern("audit", logs)
    assert not {"\x1b", "\u202e"} & set(page)


def audited_names(govern, folder):
    code, out, _ = govern("audit", folder, "--json")
    assert out.isascii()
    return code, {file["path"].removeprefix("logs/") for file in json.loads(out)["files"]}


@pytest.mark.parametrize("argument", ["*", "[ab].json", "https://example.org/x.jsonl", "s3://bucket/key", "~", "$HOME"])
@pytest.mark.parametrize("command", [("audit",), ("rounds", "import")])
def test_row_48_an_argument_is_a_literal_local_path(govern, logs, command, argument):
    code, out, _ = govern(*command, argument)
    assert (code, out) == (2, "")
    assert list(logs.parent.joinpath("home").iterdir()) == []


def test_row_41_an_import_writes_below_its_round_only(govern, logs, tmp_path):
    for name in HOSTILE:
        (logs / name).write_text(json.dumps(SESSION | {"sessionId": f"../../{name}", "cwd": "/etc"}))
    before = set(tmp_path.rglob("*"))
    code, out, _ = govern("rounds", "import", logs, "--json")
    assert code == 0
    rounds = {entry["round_id"] for entry in json.loads(out)["rounds"]}
    made = set(tmp_path.rglob("*")) - before
    landing = tmp_path / "home" / "data" / "rounds"
    assert {path.relative_to(landing).parts[0] for path in made if landing in path.parents} - rounds <= {
        ".importing.lock"
    }
    assert all(landing in path.parents or path in landing.parents or path == landing for path in made)
    assert sum(path.is_file() and path.parent.name == "logs" for path in made) == len(HOSTILE) + 1


@pytest.mark.parametrize("round_id", ["../up", "a..b", "a.", "/abs", "a\0b", "", "n" * 81, "\u202ea"])
def test_row_41_an_id_that_is_no_name_is_refused(govern, logs, round_id):
    code, _, err = govern("rounds", "import", logs, "--round", round_id)
    assert code == 2
    assert "no legal round id" in err
    assert "\u202e" not in err


def test_row_42_what_is_no_regular_file_is_listed_with_its_kind(govern, logs, tmp_path):
    (tmp_path / "outside").write_text(json.dumps(LOG))
    (logs / "symbolic").symlink_to(tmp_path / "outside")
    (logs / "folder").symlink_to(tmp_path)
    os.mkfifo(logs / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(logs / "socket"))
        code, found = audited(govern, logs)
    assert code == 3
    assert found == {"symbolic": "symlink", "folder": "symlink", "fifo": "fifo", "socket": "socket"}


def test_row_42_a_device_is_listed_and_never_opened(govern):
    code, out, _ = govern("audit", "/dev/zero", "--json")
    assert code == 3
    assert [file["reason"] for file in json.loads(out)["files"]] == ["device"]


def test_row_42_a_hard_link_is_read_where_a_user_points_and_refused_in_the_landing_area(govern, logs, tmp_path):
    (tmp_path / "outside.json").write_text(json.dumps(LOG | {"n": 1}))
    (logs / "hard.json").hardlink_to(tmp_path / "outside.json")
    assert audited_hard(govern, logs) is None
    assert govern("rounds", "import", logs, "--round", "r-1")[0] == 0
    landed = tmp_path / "home" / "data" / "rounds" / "r-1" / "logs"
    assert (landed / "hard.json").stat().st_nlink == 1
    (landed / "dropped.json").hardlink_to(tmp_path / "outside.json")
    _, out, _ = govern("rounds", "show", "r-1", "--json")
    reasons = {file["path"]: file["reason_code"] for file in json.loads(out)["files"]}
    assert reasons == {"logs/hard.json": None, "logs/sound.json": None, "logs/dropped.json": "hard_link"}


def audited_hard(govern, folder):
    _, out, _ = govern("audit", folder, "--json")
    (file,) = (file for file in json.loads(out)["files"] if file["path"] == "logs/hard.json")
    return file["reason"]


SOUND = json.dumps(SESSION).encode()
LINES = {
    "too_deep": b"[" * 100_000, "duplicate_member": b'{"a":1,"a":2}', "not_finite": b"[NaN]", "not_utf8": b'{"a":"\xff"}',
    "lone_surrogate": b'["\\udfff"]', "nul_byte": b'["\x00"]', "byte_order_mark": b"\xef\xbb\xbf{}",
    "line_too_long": b'"' + b"x" * (16 * 2**20) + b'"',
    "too_many_keys": b"{" + b",".join(b'"%d":1' % n for n in range(20_000)) + b"}",
}  # fmt: skip


def test_rows_43_to_46_a_bad_line_is_exit_3_with_its_reason_and_the_rest_is_read(govern, logs):
    for code, line in LINES.items():
        own = SOUND.replace(b"s-1", code.encode())
        (logs / f"{code}.jsonl").write_bytes(b"\n".join([own, line, own.replace(b'"u"', b'"v"')]))
    code, found = audited(govern, logs)
    assert code == 3
    assert found == {f"{reason}.jsonl": reason for reason in LINES}


def test_row_47_a_field_name_that_is_a_statement_is_stored_as_a_value(govern, logs, tmp_path):
    names = ['a"; DROP TABLE core_declared; --', "a", "A", "select"]
    folder = tmp_path / "home" / "data" / "rounds" / "r-1"
    folder.mkdir(parents=True)
    lines = [{"subject": name, "field": name, "value": 1, name: 2} for name in names]
    (folder / "declared.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "logs").mkdir()
    code, out, _ = govern("audit", folder, "--store", tmp_path / "store", "--json")
    assert json.loads(out)["counts"]["declared"] == len(names)
    assert govern("warehouse", "rebuild", "--lake", tmp_path / "store" / "lake")[0] == 0
    query = "select field from core_declared order by all"
    code, out, _ = govern("warehouse", "query", query, "--lake", tmp_path / "store" / "lake", "--json")
    assert (code, sorted(row[0] for row in json.loads(out)["rows"])) == (0, sorted(names))


def archive(*members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in (("header.json", json.dumps(HEADER)), *members):
            out.writestr(name, data)
    return stream.getvalue()


def test_row_49_archives_that_lie_are_exit_3_with_their_reasons(govern, logs):
    (logs / "bomb.eval").write_bytes(archive(("samples/1_epoch_1.json", b"0" * 30_000_000)))
    (logs / "up.eval").write_bytes(archive(("../../up.json", b"{}")))
    (logs / "torn.eval").write_bytes(archive()[:-10])
    (logs / "nested.eval").write_bytes(archive(("samples/1_epoch_1.json", archive())))
    code, found = audited(govern, logs)
    assert code == 3
    assert found == {
        "bomb.eval": "archive_ratio", "up.eval": "archive_bad_name", "torn.eval": "archive_malformed",
        "nested.eval": "nul_byte",
    }  # fmt: skip
