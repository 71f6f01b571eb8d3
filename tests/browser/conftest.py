"""A stage for the browser: a world with a trust root of now, the commands as processes, and Chromium."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

TESTS = Path(__file__).parents[1]
GOVERN = (sys.executable, "-m", "governance_pipeline.cli")


def load(name: str, path: Path):
    """Import a module of the tests by its file."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


chromium = load("chromium", TESTS / "browser" / "chromium.py")
gate_world = load("gate_world", TESTS / "unit" / "gate" / "gate_world.py")


class Stage:
    """A world, one port for its inbox, and one browser."""

    def __init__(self, folder: Path) -> None:
        now = datetime.now(UTC)
        self.folder = folder
        self.world = gate_world.World.create(
            folder / "world", gate_world.person("ana"), gate_world.person("pia", aliases=("coder-pia",)),
            at=now - timedelta(hours=1), expires=now + timedelta(days=30),
        )  # fmt: skip
        pem = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        self.root_key = folder / "root-key.pem"
        self.root_key.write_bytes(gate_world.NamedSigner("owner").private_key.private_bytes(*pem))
        self.root_key.chmod(0o600)
        with closing(socket.create_server(("127.0.0.1", 0))) as taken:
            self.port = taken.getsockname()[1]
        self.origin = f"http://localhost:{self.port}"
        self.browser = chromium.Chromium(
            folder / "profile", "--host-resolver-rules=MAP evil.example 127.0.0.1, MAP rebound.example 127.0.0.1"
        )

    def ask(self, *round_ids: str, **changes) -> list[str]:
        """Make rounds and ask about them; gives the requests."""
        for round_id in round_ids:
            self.world.make_round(round_id, **changes)
        return [self.world.request(round_id, now=datetime.now(UTC)) for round_id in round_ids]

    def command(self, *arguments: str) -> subprocess.Popen:
        """Start a command of ours."""
        return subprocess.Popen(
            [*GOVERN, *arguments, "--config", str(self.world.config_path), "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1, cwd=self.folder,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip

    def adding(self, name: str) -> tuple[subprocess.Popen, str]:
        """Start to add a passkey of somebody; gives the process and its link."""
        process = self.command(
            "trust", "add", name, "--kind", "human", "--role", "approver", "--passkey", "--port", str(self.port),
            "--root-key", str(self.root_key),
        )  # fmt: skip
        line = next(line for line in process.stderr if "/enter#" in line)
        return process, line.split()[-1]

    def serving(self) -> tuple[subprocess.Popen, str]:
        """Start the inbox; gives the process and its link."""
        process = self.command("gate", "serve", "--port", str(self.port), "--lake", str(self.world.lake.root))
        return process, json.loads(process.stdout.readline())["url"]

    def close(self) -> None:
        """End the browser."""
        self.browser.close()


def stopped(process: subprocess.Popen) -> int:
    """Press Ctrl-C at a process of ours; gives its exit code."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    return process.returncode


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    """Give the stage of a module."""
    if chromium.PROGRAM is None:
        pytest.skip("no Chromium on this machine")
    pytest.importorskip("webauthn", reason="the extra webauthn is not installed")
    made = Stage(tmp_path_factory.mktemp("stage"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Give the port of a page of somebody else on this machine."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "index.html").write_text("<!DOCTYPE html><title>elsewhere</title><p>elsewhere</p>")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join()
