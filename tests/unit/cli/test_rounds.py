"""The rounds commands: data on stdout, messages on stderr, exit codes and documents as promised."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

import governance_pipeline.ingest
from governance_pipeline.cli.rounds import rounds
from governance_pipeline.errors import UsageError
from governance_pipeline.ingest.round import read_round
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.storage.lake import Lake

SCHEMAS = Path(governance_pipeline.ingest.__file__).parent / "schemas"
SESSION = {"type": "user", "sessionId": "s-1", "uuid": "u", "message": {"role": "user", "content": "hi"}}


@pytest.fixture
def govern(tmp_path, monkeypatch):
    """Run `govern rounds …` in an empty folder; gives (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def _govern(*arguments):
        result = CliRunner().invoke(rounds, list(arguments), standalone_mode=False)
        if result.exception is not None:
            raise result.exception
        return result.return_value, result.stdout, result.stderr

    return _govern


@pytest.fixture
def document(govern):
    """Run a command with --json; gives its exit code and its document, checked against the shipped schema."""

    def _document(*arguments):
        code, stdout, _ = govern(*arguments, "--json")
        answer = json.loads(stdout)
        schema = json.loads((SCHEMAS / f"{answer['schema'].split('/')[1]}-v1.json").read_text())
        jsonschema.Draft202012Validator(schema).validate(answer)
        return code, answer

    return _document


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "s-1.jsonl").write_text(json.dumps(SESSION) + "\nbroken\n")
    return folder


def _store_raw(round_id):
    tables = read_round(Path("data/rounds") / round_id, round_id, ContentStore(Path("lake")))
    Lake(Path("lake")).put("raw_log_files", round_id, tables.frame("raw_log_files"))


def test_a_missing_path_is_a_usage_error_with_the_path(govern):
    with pytest.raises(UsageError, match="nowhere does not exist"):
        govern("import", "nowhere")


def test_a_round_that_is_not_there_is_a_usage_error(govern):
    with pytest.raises(UsageError, match="no such round"):
        govern("show", "../../etc")
    with pytest.raises(UsageError, match="no such round"):
        govern("verify", "r-1")


def test_refused_bytes_give_exit_2_and_name_the_file_on_stderr(govern, logs):
    govern("import", "logs")
    (logs / "s-1.jsonl").write_text(json.dumps(SESSION) + "\n")
    code, stdout, stderr = govern("import", "logs")
    assert code == 2
    assert "1 refused" in stdout
    assert "not imported: s-1/logs/s-1.jsonl" in stderr


def test_a_dry_run_copies_nothing(document, logs):
    code, answer = document("import", "logs", "--dry-run")
    assert (code, answer["dry_run"], answer["rounds"][0]["copied"]) == (0, True, ["logs/s-1.jsonl"])
    assert not Path("data").exists()


def test_a_dry_run_refuses_what_the_import_would_refuse(govern, logs):
    govern("import", "logs")
    assert "1 unchanged" in govern("import", "logs", "--dry-run")[1]
    (logs / "s-1.jsonl").write_text(json.dumps(SESSION) + "\n")
    assert govern("import", "logs", "--dry-run") == govern("import", "logs")
    assert govern("import", "logs", "--dry-run")[0] == 2


def test_an_import_says_what_was_copied_unchanged_and_left_out(document, govern, logs):
    (logs / "link").symlink_to("s-1.jsonl")
    assert document("import", "logs")[1]["rounds"][-1]["copied"] == ["logs/s-1.jsonl"]
    code, stdout, stderr = govern("import", "logs")
    assert code == 3
    assert "1 unchanged" in stdout
    assert "left out: " in stderr
    assert "symlink" in stderr
    assert Path("data/rounds/s-1/logs/s-1.jsonl").exists()


def test_a_copy_of_a_log_and_another_format_are_left_out_of_an_import_and_nothing_is_missing(govern, logs):
    (logs / "copy.jsonl").write_bytes((logs / "s-1.jsonl").read_bytes())
    code, _, stderr = govern("import", "logs")
    assert (code, "duplicate_file" in stderr) == (0, True)
    code, _, stderr = govern("import", "logs", "--format", "atif", "--landing", "other")
    assert (code, "other_format" in stderr) == (0, True)


def test_an_empty_landing_folder_lists_nothing(document):
    assert document("list") == (0, {"schema": "govern/rounds-list/v1", "rounds": [], "refused": []})


def test_the_list_says_of_each_round_whether_it_was_read(document, govern, logs):
    govern("import", "logs")
    Path("data/rounds/bad name").mkdir()
    Path("data/rounds/r-2").mkdir()
    Path("data/rounds/r-2/round.toml").write_text("broken")
    _store_raw("s-1")
    _, answer = document("list")
    rows = {row["round_id"]: (row["files"], row["contract"], row["is_read"]) for row in answer["rounds"]}
    assert rows == {"r-2": (1, "invalid", False), "s-1": (1, "absent", True)}
    assert [folder["name"] for folder in answer["refused"]] == ["bad name"]
    code, stdout, stderr = govern("list")
    assert code == 0
    assert stdout.splitlines()[0].split() == ["round", "files", "bytes", "contract", "read"]
    assert "no round: bad name" in stderr


def test_show_gives_the_account_of_every_file_and_writes_nothing(document, govern, logs):
    govern("import", "logs")
    code, answer = document("show", "s-1")
    assert (code, answer["contract"]["state"], answer["started_at"]) == (0, "absent", None)
    (file,) = answer["files"]
    assert (file["lines_in"], file["accepted"], file["quarantined"]) == (2, 1, 1)
    assert [row["reason_code"] for row in answer["quarantine"]] == ["malformed_json"]
    assert "1 quarantined" in govern("show", "s-1")[1]
    assert not Path("lake").exists()


def test_hostile_names_and_texts_are_escaped_on_the_terminal(govern, tmp_path):
    folder = tmp_path / "r-1"
    folder.mkdir()
    (folder / "declared.jsonl").write_text("\x1b[31mred\n")
    (folder / "\x1b]0;title\x07.txt").write_text("x")
    govern("import", "r-1")
    for command in (("show", "r-1"), ("list",), ("import", "r-1", "--dry-run")):
        assert "\x1b" not in "".join(govern(*command)[1:])


def test_verify_knows_nothing_of_a_round_that_was_not_read(document, govern, logs):
    govern("import", "logs")
    code, answer = document("verify")
    assert (code, answer["rounds"][0]["state"]) == (3, "not_read_yet")


def test_verify_finds_a_changed_byte(document, govern, logs):
    govern("import", "logs")
    _store_raw("s-1")
    assert document("verify", "s-1")[0] == 0
    copy = Path("data/rounds/s-1/logs/s-1.jsonl")
    copy.write_bytes(copy.read_bytes()[:-1] + b" ")
    code, answer = document("verify")
    assert (code, answer["rounds"][0]["state"], answer["rounds"][0]["files"][0]["state"]) == (1, "changed", "changed")
    assert "logs/s-1.jsonl" in govern("verify")[1]


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_nothing_a_round_says_steers_the_terminal_or_shows_a_credential(govern, options):
    folder = Path("data/rounds/r-1")
    folder.mkdir(parents=True)
    folder.joinpath("round.toml").write_text(
        f'schema = "govern/round/v1"\n[round]\nobjective = "\u202e\u009b2J sk-ant-api03-{"x" * 95}"\n', "utf-8"
    )
    shown = govern("show", "r-1", *options)[1]
    assert shown.isascii()
    assert "u202e" in shown
    assert "[masked:" in shown


def test_the_formats_are_listed_native_ones_first(document, govern):
    code, answer = document("formats")
    names = [row["name"] for row in answer["formats"]]
    assert code == 0
    assert names[0] == "native_declared"
    assert {"native_audit_log", "claude_code"} <= set(names)
    assert len(govern("formats")[1].splitlines()) == len(names)


def test_the_page_of_the_formats_says_what_can_be_recomputed(govern, document):
    for row, line in zip(document("formats")[1]["formats"], govern("formats")[1].splitlines(), strict=True):
        _, declared, recomputed = line.replace("declares", "|").replace("recomputes", "|").split("|")
        assert declared.strip() == (", ".join(row["declares"]) or "nothing")
        assert recomputed.strip() == (", ".join(row["recomputable"]) or "nothing")


@pytest.mark.parametrize("command", ["import", "list", "show", "verify", "formats"])
def test_every_command_shows_an_example(command):
    result = CliRunner().invoke(rounds, [command, "--help"])
    assert result.exit_code == 0
    assert f"Example: govern rounds {command}" in result.output


def test_every_schema_is_one(root):
    for path in SCHEMAS.glob("*.json"):
        schema = json.loads(path.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["$id"] == f"govern/{path.stem.replace('-v1', '')}/v1"
