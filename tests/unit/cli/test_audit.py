"""Claims about `govern audit`: exit codes, one document on stdout, stores that never forget, sources nobody touches."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from governance_pipeline import auditing
from governance_pipeline.cli.main import run
from governance_pipeline.ingest.formats import mini_swe_agent
from governance_pipeline.report.html import GENERATOR

SAMPLE = Path(__file__).parents[3] / "data" / "sample" / "rounds"
SCHEMA = json.loads((resources.files("governance_pipeline.report") / "schemas" / "audit-v1.json").read_text("utf-8"))
CLEAN, FALSE_NUMBER, FALSE_HASH = "parser-0001", "billing-0003", "billing-0008"
LOG = {
    "trajectory_format": "mini-swe-agent-1.1",
    "info": {"model_stats": {"instance_cost": 0.2, "api_calls": 2}},
    "messages": [{"role": "assistant", "content": "a", "extra": {"cost": 0.1, "actions": []}} for _ in range(2)],
}


@pytest.fixture
def govern(capsys):
    """Run `govern audit …`; gives exit code, stdout and stderr."""

    def _govern(*arguments):
        code = run(["audit", *map(str, arguments)])
        return code, *capsys.readouterr()

    return _govern


@pytest.fixture
def sample(tmp_path):
    """Return a function that copies a round of the sample."""
    return lambda name: Path(shutil.copytree(SAMPLE / name, tmp_path / "rounds" / name))


@pytest.fixture
def logs(tmp_path) -> Path:
    """Return a folder with one clean log."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.traj.json").write_text(json.dumps(LOG), "utf-8")
    return folder


def state_of(folder: Path) -> dict[str, tuple]:
    """Return what must not change of every file and folder: bytes, mode, times, inode."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None,
            (status := path.lstat()).st_mode, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_nlink,
        )
        for path in [folder, *sorted(folder.rglob("*"))]
    }  # fmt: skip


def test_a_path_that_is_not_there_is_exit_2_and_says_which(govern, tmp_path):
    code, out, err = govern(tmp_path / "none")
    assert (code, out) == (2, "")
    assert "none" in err


@pytest.mark.parametrize(
    "wrong", [["--fail-on", "always"], ["--by", "week"], ["--lang", "fr"], ["--format", "nonsense"]]
)
def test_a_wrong_option_is_exit_2_with_nothing_on_stdout(govern, logs, wrong):
    code, out, err = govern(logs, *wrong)
    assert (code, out) == (2, "")
    assert err


def test_an_empty_folder_is_unknown_and_not_clean(govern, tmp_path):
    code, out, err = govern(tmp_path)
    assert (code, err) == (3, "")
    assert "Nothing was audited" in out


def test_a_folder_of_unsupported_files_only_is_unknown_with_every_file_listed(govern, tmp_path):
    (tmp_path / "notes.txt").write_text("hello", "utf-8")
    (tmp_path / "empty").touch()
    code, out, _ = govern(tmp_path)
    assert code == 3
    assert "Nothing was audited" in out
    assert "notes.txt" in out
    assert "(empty)" in out


def test_a_broken_json_file_is_exit_3_and_the_other_files_go_on(govern, logs):
    (logs / "broken.traj.json").write_text('{"messages": [', "utf-8")
    code, out, _ = govern(logs)
    assert code == 3
    assert "not readable in full" in out
    assert "broken.traj.json" in out


def test_a_log_this_user_may_not_read_is_accounted_for_with_and_without_a_store(govern, logs, tmp_path, monkeypatch):
    refused, really = logs / "secret.jsonl", os.open
    refused.write_text("{}", "utf-8")
    refused.chmod(0)

    def opened(path, *arguments, **named):  # root may read anything
        if os.fspath(path) == str(refused):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return really(path, *arguments, **named)

    monkeypatch.setattr(os, "open", opened)
    answers = [govern(path, "--json", *more) for path in (logs, refused) for more in ([], ["--store", tmp_path / "s"])]
    assert answers[0] == answers[1]
    assert answers[2] == answers[3]
    for code, out, _ in answers:
        files = {file["path"]: file for file in json.loads(out)["files"]}
        assert (code, files["logs/secret.jsonl"]["reason"]) == (3, "permission_denied")


def test_a_truncated_last_line_is_exit_3_whatever_was_verified(govern, sample):
    folder = sample(CLEAN)
    with (folder / "changes.jsonl").open("ab") as stream:
        stream.write(b'{"step": 9')
    assert govern(folder)[0] == 3


ENDINGS = [
    (CLEAN, "warn", 0), (FALSE_NUMBER, "warn", 1), (FALSE_NUMBER, "block", 0), (FALSE_HASH, "block", 1),
    (FALSE_HASH, "never", 0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "fail_on", "expected"), ENDINGS)
def test_the_exit_code_is_that_of_the_worst_finding_at_or_above_fail_on(govern, name, fail_on, expected):
    code, out, _ = govern(SAMPLE / name, "--fail-on", fail_on)
    assert code == expected
    assert f"(exit code {expected})" in out


def test_a_crash_of_ours_is_exit_3_with_a_traceback_never_a_finding(govern, logs, monkeypatch):
    def crash(*_, **__):
        raise ZeroDivisionError("a bug of ours \x1b[2J")

    monkeypatch.setattr(auditing, "audit_plan", crash)
    code, out, err = govern(logs, "--json")
    assert (code, out) == (3, "")
    assert "Traceback" in err
    assert "ZeroDivisionError: a bug of ours \\x1b[2J" in err


def test_a_round_that_cannot_be_analyzed_is_said_on_stderr_and_the_others_are_reported(govern, logs, monkeypatch):
    def crash(*_):
        raise KeyError("a bug of ours \x1b[2J")

    monkeypatch.setattr(mini_swe_agent, "read", crash)
    code, out, err = govern(logs, SAMPLE / CLEAN, "--json")
    document = json.loads(out)
    jsonschema.validate(document, SCHEMA)
    reasons = {file["path"]: file["reason"] for file in document["files"] if file["reason"]}
    assert (code, reasons) == (3, {"logs/a.traj.json": "not_analyzed"})
    assert document["counts"]["match"] > 0
    assert "could not be analyzed" in err
    assert "KeyError: 'a bug of ours" in err
    assert "\x1b" not in err


def test_json_is_one_document_on_stdout_that_keeps_its_schema_and_nothing_else(govern):
    code, out, err = govern(SAMPLE / FALSE_NUMBER, SAMPLE / CLEAN, "--json")
    document = json.loads(out)
    jsonschema.validate(document, SCHEMA)
    assert (code, err) == (1, "")
    assert [verdict["round_id"] for verdict in document["rounds"]] == [FALSE_NUMBER, CLEAN]
    wrong = [record for record in document["cross_checks"] if record["status"] == "mismatch"]
    assert [(record["declared"], record["computed"], record["delta"]) for record in wrong] == [(9, 8, 1)]


def test_the_page_goes_to_stdout_and_messages_to_stderr(govern, logs, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    report = tmp_path / "out" / "audit.html"
    code, out, err = govern(logs, "--report", report, "--lang", "es")
    assert code == 0
    assert "Limpio: 2" in out
    assert err == f"report: {report}\n"
    page = report.read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert 'lang="es"' in page
    assert list((tmp_path / "scratch").iterdir()) == [], "what was copied is thrown away"


def test_hostile_names_reach_stdout_escaped_in_the_page_and_as_ascii_in_the_document(govern, logs):
    name = "\x1b[2J\u202e<script>alert(1)</script>[red]x.traj.json".replace("/", "_")
    (logs / "a.traj.json").rename(logs / name)
    for arguments in ([], ["--json"]):
        _, out, _ = govern(logs, *arguments)
        assert all(character == "\n" or character.isprintable() for character in out)
    assert json.loads(out)["files"][0]["path"] == f"logs/{name}"


def test_the_same_file_under_two_names_is_audited_once_and_listed_twice(govern, logs):
    shutil.copy(logs / "a.traj.json", logs / "b.traj.json")
    code, out, _ = govern(logs, "--json")
    assert code == 0
    assert [file["reason"] for file in json.loads(out)["files"]] == [None, "duplicate_file"]
    assert json.loads(out)["counts"]["match"] == 2


def test_a_format_that_was_not_asked_for_is_left_out_and_listed(govern, logs):
    code, out, _ = govern(logs, "--format", "claude_code", "--json")
    assert (code, [file["reason"] for file in json.loads(out)["files"]]) == (3, ["other_format"])


def test_sources_are_the_same_to_the_last_bit_and_stamp_after_an_audit(govern, sample, tmp_path):
    folder = sample(FALSE_HASH)
    before = state_of(folder.parent)
    govern(folder, "--json", "--store", tmp_path / "store")
    assert state_of(folder.parent) == before


def test_a_folder_nobody_may_write_can_be_audited(govern, logs):
    (logs / "a.traj.json").chmod(0o400)
    logs.chmod(0o500)
    before = state_of(logs)
    assert govern(logs)[0] == 0
    assert state_of(logs) == before
    logs.chmod(0o700)


def test_a_store_keeps_rounds_and_tables_and_gives_the_same_document_again(govern, sample, logs, tmp_path):
    (logs / "link.traj.json").symlink_to("a.traj.json")
    shutil.copy(logs / "a.traj.json", logs / "copy.traj.json")
    given = (sample(FALSE_NUMBER), logs, "--json", "--store", tmp_path / "store")
    first, second = govern(*given), govern(*given)
    assert first == second
    assert (tmp_path / "store" / "landing" / FALSE_NUMBER / "declared.jsonl").is_file()
    assert (tmp_path / "store" / "lake" / "audit_cross_checks" / f"round={FALSE_NUMBER}" / "current").is_file()
    with_store, without = (json.loads(out) for _, out, _ in (first, govern(*given[:3])))
    for member in ("files", "cross_checks", "hashes", "not_checkable", "quarantine_reasons", "counts"):
        assert with_store[member] == without[member], member
    assert {file["reason"] for file in with_store["files"]} == {None, "symlink", "duplicate_file"}


def test_a_log_that_has_grown_since_it_was_stored_is_refused_and_nothing_is_overwritten(govern, sample, tmp_path):
    folder, store = sample(CLEAN), tmp_path / "store"
    assert govern(folder, "--store", store)[0] == 0
    before = state_of(store / "landing" / CLEAN)
    with (folder / "declared.jsonl").open("ab") as stream:
        stream.write(b'{"subject": "parser-0001", "field": "run_count", "value": 5}\n')
    code, out, err = govern(folder, "--store", store)
    assert (code, out) == (2, "")
    assert err.startswith(f"govern: round {CLEAN} is stored with other bytes: declared.jsonl")
    assert "another --store" in err
    assert state_of(store / "landing" / CLEAN) == before


@pytest.mark.parametrize("inside", [".", "store", "deep/er"])
def test_a_store_inside_what_is_audited_is_refused_before_anything_is_written(govern, logs, inside):
    before = state_of(logs)
    code, out, err = govern(logs, "--store", logs / inside)
    assert (code, out) == (2, "")
    assert "lies inside" in err
    assert state_of(logs) == before


@pytest.mark.parametrize("link", ["", "symbolic", "hard"])
def test_a_report_never_overwrites_a_source_by_any_name(govern, logs, tmp_path, link):
    report = logs / "a.traj.json"
    if link:
        report = tmp_path / "report.html"
        (os.symlink if link == "symbolic" else os.link)(logs / "a.traj.json", report)
    before = (logs / "a.traj.json").read_bytes()
    code, out, err = govern(logs, "--report", report)
    assert (code, out) == (2, "")
    assert "no source is written" in err
    assert (logs / "a.traj.json").read_bytes() == before


def test_an_earlier_report_beside_the_logs_may_be_written_anew(govern, logs):
    (logs / "audit.html").write_text(f'<!DOCTYPE html><meta name="generator" content="{GENERATOR}">', "utf-8")
    code, _, err = govern(logs, "--report", logs / "audit.html")
    assert (code, err) == (0, f"report: {logs / 'audit.html'}\n")
    assert "<svg" in (logs / "audit.html").read_text("utf-8")


def test_a_report_that_cannot_be_written_is_exit_2_and_says_why(govern, logs, tmp_path):
    (tmp_path / "file").touch()
    code, out, err = govern(logs, "--report", tmp_path / "file" / "audit.html")
    assert (code, out) == (2, "")
    assert "--report" in err
    assert "Traceback" not in err


def test_a_price_file_with_a_bad_line_is_exit_2_with_line_and_reason(govern, logs, tmp_path):
    prices = tmp_path / "prices-of-ours.jsonl"
    prices.write_text('{"model": "m", "input": -1, "output": 2, "source": "s"}\n', "utf-8")
    code, out, err = govern(logs, "--prices", prices)
    assert (code, out) == (2, "")
    assert "line 1: bad_input" in err


def test_prices_of_a_user_price_the_model_nobody_else_knows(govern, logs, tmp_path):
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 0}}
    log = json.loads(json.dumps(LOG))
    log["info"]["config"] = {"model": {"model_name": "acme/one"}}
    for message in log["messages"]:
        message["extra"]["response"] = {"usage": usage}
    (logs / "a.traj.json").write_text(json.dumps(log), "utf-8")
    prices = tmp_path / "prices-of-ours.jsonl"
    prices.write_text('{"model": "acme/one", "input": 900, "output": 1000, "source": "contract"}\n', "utf-8")
    without = json.loads(govern(logs, "--json")[1])
    document = json.loads(govern(logs, "--json", "--prices", prices)[1])
    jsonschema.validate(document, SCHEMA)
    statuses = {record["check_id"]: (record["computed"], record["status"]) for record in document["cross_checks"]}
    assert statuses.pop("mini_swe_agent_instance_cost_at_list_price") == (0.2, "match")
    assert statuses == {
        record["check_id"]: (record["computed"], record["status"]) for record in without["cross_checks"]
    }
