"""Claims about `govern`: every ending has its exit code, a crash never looks like a finding, help costs no imports."""

from __future__ import annotations

import errno
import importlib
import os
import subprocess
import sys
import types
from pathlib import Path

import click
import pytest

from governance_pipeline import errors
from governance_pipeline.cli.main import COMMANDS, SECTIONS, run
from governance_pipeline.errors import Fault

HOSTILE = "\x1b[2J\x9b31m\u202eevil\x07"
SECRET = "ghp_" + "A1b2" * 9
HEAVY = (
    "pandas",
    "numpy",
    "pandera",
    "pyarrow",
    "duckdb",
    "matplotlib",
    "sqlglot",
    "rich",
    "yaml",
    "jinja2",
    "dagster",
)


@pytest.fixture
def ends_with(monkeypatch, capsys):
    """Return a function that runs a command which ends in some way; gives exit code, stdout and stderr."""
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # click replaces it after a broken pipe

    def _ends_with(ending):
        def command():
            if isinstance(ending, BaseException):
                raise ending
            return ending

        module = types.ModuleType("ending")
        module.ending = click.command("ending")(command)
        monkeypatch.setitem(sys.modules, "ending", module)
        monkeypatch.setitem(COMMANDS, "ending", ("ending", "Ends."))
        code = run(["ending"])
        return code, *capsys.readouterr()

    return _ends_with


ENDINGS = [
    (errors.UsageError("no"), 2), (errors.PolicyError("no"), 2), (click.UsageError("no"), 2),
    (click.BadParameter("no"), 2), (click.ClickException("no"), 2), (click.FileError("f", "no"), 2),
    (errors.UnreadableError("no"), 3), (errors.RecordRefused("no", 1, "no"), 3), (errors.StorageError("no"), 3),
    (errors.ContractBreach("t", "no"), 3), (errors.GovernError("no"), 3), (errors.GateRefused("no"), 4),
]  # fmt: skip


@pytest.mark.parametrize(("ending", "expected"), ENDINGS, ids=[type(ending).__name__ for ending, _ in ENDINGS])
def test_an_error_of_ours_is_one_message_on_stderr_and_the_exit_code_of_its_kind(ends_with, ending, expected):
    code, out, err = ends_with(ending)
    assert (code, out) == (expected, "")
    assert "no" in err
    assert "Traceback" not in err


CRASHES = [
    ValueError("x"),
    KeyError("x"),
    RuntimeError("x"),
    MemoryError(),
    RecursionError(),
    AssertionError(),
    OSError(28, "x"),
]


@pytest.mark.parametrize("crash", CRASHES, ids=lambda crash: type(crash).__name__)
def test_a_crash_is_exit_3_with_its_traceback_on_stderr_never_1(ends_with, crash):
    code, out, err = ends_with(crash)
    assert (code, out) == (3, "")
    assert err.startswith("Traceback")
    assert type(crash).__name__ in err


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), EOFError(), click.Abort()], ids=repr)
def test_an_interruption_is_unknown_not_clean_and_not_a_finding(ends_with, interruption):
    code, out, err = ends_with(interruption)
    assert (code, out.strip()) == (3, "")
    assert "stopped" in err


def test_a_reader_that_closed_the_pipe_is_no_finding(ends_with):
    assert ends_with(BrokenPipeError(errno.EPIPE, "Broken pipe"))[0] == 3


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4])
def test_the_code_a_command_returns_is_the_exit_code(ends_with, code):
    assert ends_with(code) == (code, "", "")
    assert ends_with(click.exceptions.Exit(code))[0] == code


def test_a_command_that_returns_nothing_is_clean(ends_with):
    assert ends_with(None) == (0, "", "")


@pytest.mark.parametrize("kind", [ValueError, errors.UsageError, errors.StorageError, click.UsageError])
def test_no_message_brings_control_characters_or_credentials_to_the_terminal(ends_with, kind):
    _, _, err = ends_with(kind(f"{HOSTILE} {SECRET}"))
    assert all(character == "\n" or character.isprintable() for character in err)
    assert "\\u202eevil\\x07" in err
    assert "ghp_" not in err


def test_every_fault_of_a_refused_file_is_said_with_its_line(ends_with):
    faults = [Fault("unknown_key", 3, HOSTILE), Fault("bad_value", None, "second")]
    code, out, err = ends_with(errors.CheckSetError(f"checks{HOSTILE}.yaml", faults))
    assert (code, out) == (2, "")
    assert "line 3: unknown_key: \\x1b[2J" in err
    assert "\n  bad_value: second\n" in err
    assert "\x1b" not in err


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["--nonsense"], ["audit"], ["warehouse", "nonsense"], ["aud"]])
def test_a_wrong_command_line_is_exit_2_with_nothing_on_stdout(capsys, arguments):
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Usage: govern" in err


def test_help_lists_every_command_and_every_exit_code(capsys):
    assert run(["--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    unwrapped = " ".join(out.split())
    for name, (_, text) in COMMANDS.items():
        assert f"  {name} " in out
        assert text in unwrapped
    for line in ("0  clean", "1  findings", "2  usage", "3  could not analyze", "4  refused by a gate"):
        assert line in out


def test_version_is_that_of_the_package(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("govern, version ")


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_says_what_it_does_with_an_example(capsys, name):
    module = importlib.import_module(COMMANDS[name][0])
    command = getattr(module, name.replace("-", "_"))
    assert command.name == name
    for arguments in [[name], *([name, sub] for sub in getattr(command, "commands", ()))]:
        assert run([*arguments, "--help"]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        assert out.startswith(f"Usage: govern {' '.join(arguments)}")
        assert len(arguments) == 1 or "Example" in out


HELP = """
import contextlib, io, sys
from governance_pipeline.cli.main import COMMANDS, run
for arguments in [["--help"], *([name, "--help"] for name in COMMANDS)]:
    with contextlib.redirect_stdout(io.StringIO()):
        assert run(arguments) == 0, arguments
    heavy = sorted(set(sys.modules) & set({heavy!r}))
    assert not heavy, (arguments, heavy)
"""


def test_help_imports_nothing_heavy():
    subprocess.run([sys.executable, "-c", HELP.format(heavy=HEAVY)], check=True)


def test_a_closed_pipe_gives_exit_3_and_no_traceback():
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "governance_pipeline.cli", "--help"], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (3, b"")


FULL = Path("/dev/full")
NEEDS_FULL = pytest.mark.skipif(not FULL.is_char_device(), reason="this system has no /dev/full")


def said(arguments, **streams):
    """Run the command line with its streams somewhere else; gives exit code and stderr."""
    command = [sys.executable, "-m", "governance_pipeline.cli", *arguments]
    done = subprocess.run(command, stderr=subprocess.PIPE, check=False, **streams)
    return done.returncode, done.stderr.decode()


@NEEDS_FULL
@pytest.mark.parametrize("arguments", [["--version"], ["rounds", "formats"], ["rounds", "formats", "--json"]])
def test_a_full_disk_under_stdout_is_exit_3_and_one_message(arguments):
    with FULL.open("w") as full:
        code, err = said(arguments, stdout=full)
    assert code == 3
    assert err.startswith("govern: the answer is not complete, stdout cannot be written: No space left on device")
    assert err.count("\n") == 1


@NEEDS_FULL
def test_a_full_disk_under_both_streams_is_not_taken_for_a_finding(tmp_path):
    with FULL.open("w") as full:
        command = [sys.executable, "-m", "governance_pipeline.cli", "audit", str(tmp_path / "none")]
        assert subprocess.run(command, stdout=full, stderr=full, check=False).returncode == 2


def test_a_closed_stdout_is_exit_3_and_no_traceback():
    script = f"exec {sys.executable} -m governance_pipeline.cli --version >&-"
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (3, b"")


def test_an_error_of_the_system_that_is_not_about_printing_keeps_its_traceback(ends_with):
    code, _, err = ends_with(OSError(errno.ENOSPC, "No space left on device"))
    assert code == 3
    assert "Traceback" in err


@pytest.mark.parametrize("places", [("a/history",), ("a/history", None, "b/history")])
def test_an_error_of_the_system_about_a_place_is_one_message_that_names_it(ends_with, places):
    code, out, err = ends_with(OSError(errno.ENOTDIR, "Not a directory", *places))
    assert (code, out) == (3, "")
    assert all(place in err for place in places if place)
    assert "Not a directory; look at what is there" in err
    assert "Traceback" not in err


def test_text_that_is_not_utf8_is_a_usage_error_that_quotes_it(ends_with):
    with pytest.raises(UnicodeEncodeError) as caught:
        "phase=\udcff\udcfe".encode()
    code, out, err = ends_with(caught.value)
    assert (code, out) == (2, "")
    assert "phase=\\udcff\\udcfe' is no UTF-8 text" in err
    assert "Traceback" not in err


def test_every_command_stands_once_in_the_help_below_what_it_is_for():
    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(COMMANDS)
