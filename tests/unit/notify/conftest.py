"""A world with requests, a local HTTP receiver that fails as it is told, and a clock that is moved by hand."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from governance_pipeline.notify.delivery import deliver
from governance_pipeline.notify.sending import Means, send_due
from governance_pipeline.notify.targets import load_notifications


def _world_module():
    if "gate_world" not in sys.modules:
        path = Path(__file__).parents[1] / "gate" / "gate_world.py"
        spec = importlib.util.spec_from_file_location("gate_world", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["gate_world"] = module
        spec.loader.exec_module(module)
    return sys.modules["gate_world"]


gate_world = _world_module()


class Receiver:
    """A local HTTP service: answers with the statuses it was given, in order, then 200; 0 hangs until it is let go."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.seen: list[dict] = []
        self.let_go = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.seen.append({"path": self.path, "headers": dict(self.headers), "body": json.loads(body)})
                status = receiver.answers.pop(0) if receiver.answers else 200
                if status == 0:
                    receiver.let_go.wait(20)
                    return
                self.send_response(status)
                if status in (301, 302, 307):
                    self.send_header("Location", f"http://127.0.0.1:{receiver.port}/elsewhere")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    @property
    def url(self) -> str:
        return f"json://user:topsecret@127.0.0.1:{self.port}/hook"

    def lines(self) -> list[str]:
        return [line for one in self.seen for line in one["body"]["message"].splitlines() if " (publish): " in line]

    def close(self) -> None:
        self.let_go.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def receiver(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    receiver = Receiver()
    yield receiver
    receiver.close()


class Office:
    """A world whose people are told through a receiver."""

    def __init__(self, world, receiver) -> None:
        self.world, self.receiver = world, receiver
        self.now = gate_world.NOON
        self.slept: list[float] = []
        self.file = world.folder / "trust" / "notifications.toml"
        self.write()
        with world.config_path.open("a") as config:
            config.write(f'notifications = "{self.file}"\n')

    def write(self, *, kinds: str = "", more: str = "", url: str | None = None, reminder: int = 24) -> None:
        text = f'schema = "govern/notifications/v1"\nreminder_hours = {reminder}\n'
        text += f'[[target]]\nname = "ops"\nurl = "{url or self.receiver.url}"\n{kinds}\n{more}'
        self.file.write_text(text)
        self.file.chmod(0o600)

    def clock(self):
        return self.now

    def means(self, handing=deliver) -> Means:
        return Means(handing, self.clock, self.slept.append)

    @property
    def wanted(self):
        return load_notifications(self.world.config.notifications)

    def tick(self, hours: float = 0, handing=deliver):
        self.now += timedelta(hours=hours)
        return send_due(self.world.verifier(self.now), self.wanted, self.means(handing))

    def ended(self) -> list[dict]:
        return [event.body for event in self.world.ledger.events(types={"NOTICE_ENDED"})]


@pytest.fixture(scope="session")
def asked_world(tmp_path_factory):
    """A world in which a decision on r1 was asked for, made once because copying costs less."""
    world = gate_world.World.create(tmp_path_factory.mktemp("asked") / "world")
    world.make_round()
    world.request()
    return world.folder


@pytest.fixture
def office(asked_world, tmp_path, receiver):
    folder = tmp_path / "world"
    shutil.copytree(asked_world, folder)
    config = folder / "trust" / "gate.toml"
    config.write_text(config.read_text().replace(str(asked_world), str(folder)))
    world = gate_world.World(folder)
    world.stored = {("r1", table): rows for table, rows in gate_world.round_rows("r1").items()}
    world.id = world.history().requests[0].request_id
    return Office(world, receiver)
