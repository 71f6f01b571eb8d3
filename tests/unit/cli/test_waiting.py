"""Claims about the sign of life: it is for a person at a terminal, and it goes away."""

from __future__ import annotations

import io
import sys

import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.cli.waiting import waiting


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Return a function that makes stderr a terminal; called by the test, because pytest sets stderr after a fixture."""
    monkeypatch.setenv("TERM", "xterm")

    def _terminal():
        monkeypatch.setattr(sys, "stderr", Terminal())
        return sys.stderr

    return _terminal


def test_the_end_of_the_work_is_not_hidden_by_its_sign(terminal):
    shown = terminal()
    with pytest.raises(ZeroDivisionError), waiting("looking at files"):
        raise ZeroDivisionError
    assert "looking at files" in shown.getvalue()


def test_a_quiet_command_shows_nothing(terminal):
    shown = terminal()
    with waiting("looking at files", quiet=True):
        pass
    assert shown.getvalue() == ""


def test_nothing_is_shown_where_nobody_looks(capsys):
    with waiting("looking at files"):
        pass
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("arguments", [
    ("audit", "logs"), ("rounds", "import", "logs"), ("rounds", "list"), ("rounds", "show", "r-1"),
    ("warehouse", "rebuild"), ("warehouse", "query", "select 1"),
])  # fmt: skip
def test_work_that_may_take_long_says_so_before_it_starts(arguments, terminal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lake").mkdir()
    (tmp_path / "data" / "rounds" / "r-1").mkdir(parents=True)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.txt").write_text("no log")
    shown = terminal()
    run(arguments)
    quiet = terminal()
    run([*arguments, "--json"])
    assert ("…" in shown.getvalue(), "…" in quiet.getvalue()) == (True, False)
