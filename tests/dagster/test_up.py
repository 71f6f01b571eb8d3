"""What is served together: the address people get can change nothing, and everything ends together."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from click.testing import CliRunner

from assets_defs.up import LOOPBACK, Part, parts, supervise, up


def waiting(name: str) -> Part:
    return Part(name, name, (sys.executable, "-c", "import time; time.sleep(60)"))


def test_the_ui_people_are_given_is_read_only_and_everything_is_on_loopback(tmp_path):
    found = {part.name: part.command for part in parts(3000, 3001, tmp_path / "gate.toml", tmp_path)}
    assert set(found) == {"operator", "read-only"}
    assert "--read-only" in found["read-only"]
    assert "--read-only" not in found["operator"]
    assert all(command[command.index("-h") + 1] == LOOPBACK for command in found.values())


def test_the_inbox_is_served_where_a_gate_is_configured(tmp_path):
    (tmp_path / "gate.toml").touch()
    [inbox] = [part for part in parts(3000, 3001, tmp_path / "gate.toml", tmp_path / "lake") if part.name == "inbox"]
    assert inbox.command[-4:] == ("gate", "serve", "--lake", str(tmp_path / "lake"))


def test_one_process_that_ends_by_itself_ends_all_and_is_named(tmp_path, capsys):
    marked = tmp_path / "pid"
    code = f"import os, time; open({str(marked)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    short = Part("short", "", (sys.executable, "-c", f"import os\nwhile not os.path.exists({str(marked)!r}): pass"))
    assert supervise([Part("long", "", (sys.executable, "-c", code)), short]) == 1
    assert "short ended by itself" in capsys.readouterr().err
    with pytest.raises(ProcessLookupError):
        os.kill(int(marked.read_text()), 0)


def test_ctrl_c_ends_all_of_them_and_is_no_failure():
    before = signal.getsignal(signal.SIGINT)

    def interrupt():
        time.sleep(1)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    assert supervise([waiting("one"), waiting("two")]) == 0
    thread.join()
    assert signal.getsignal(signal.SIGINT) is before
    assert subprocess.run(["true"], check=False).returncode == 0


def test_a_port_that_is_taken_and_one_port_for_both_are_usage_errors():
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(up, ["--port", port, "--operator-port", "1025"])
    assert result.exit_code == 2
    assert f"port {port} is taken" in result.output
    assert CliRunner().invoke(up, ["--port", "3000", "--operator-port", "3000"]).exit_code == 2
