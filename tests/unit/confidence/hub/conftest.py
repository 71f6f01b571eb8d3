"""A hub that speaks the protocol on this machine, over real sockets, with faults on demand; and places beside it."""

from __future__ import annotations

import json
import threading
import time
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from governance_pipeline.confidence.hub import courier, registering, syncing
from governance_pipeline.confidence.hub.api import Patience
from governance_pipeline.confidence.hub.hub_file import HubPlace
from governance_pipeline.confidence.hub.hub_sync import current
from governance_pipeline.confidence.store import EventStore
from governance_pipeline.trust.instants import instant_text

RUNTIME = "claude-code/opus-4-6/high"
KEY = "aice_live_Zm9vYmFyLXNlY3JldC1rZXk"
PATIENCE = Patience(step_s=20, whole_s=30)
SHORT = Patience(step_s=0.3, whole_s=0.6)


class Hub(ThreadingHTTPServer):
    """The server: `faults` are used up one a request, then every request gets the answer of the protocol."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []
        self.faults: list[Any] = []
        self.is_active = True
        self.expires_at = "2026-03-02T09:15:00.000Z"
        self.more: dict[str, Any] = {}
        self.stop = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def bodies(self, path: str = "/api/events") -> list[Any]:
        return [json.loads(one["body"]) for one in self.requests if one["path"] == path]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what half of these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Hub

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _answer(self, body: bytes) -> None:
        hub = self.server
        hub.requests.append({"method": self.command, "path": self.path, "body": body, "headers": dict(self.headers)})
        fault = hub.faults.pop(0) if hub.faults else None
        if isinstance(fault, str):
            getattr(self, f"_{fault}")()
        elif fault is not None:
            status, document = fault if isinstance(fault, tuple) else (fault, {"error": f"Bearer {KEY}"})
            self._send(status, json.dumps(document).encode())
        else:
            self._send(*self._protocol())

    def _protocol(self) -> tuple[int, bytes]:
        state = {"agent": {"global": 51.5, "domains": {"TECH": {"score": 57.5, "streak": 4}}}, "team": 50}
        found = {
            "/api/register-intent": (201, {"intentId": "i-1", "apiKey": KEY, "runtimeId": "r-1", "expiresAt": self.server.expires_at}),
            "/api/verify": (200, {"message": "sent", "runtimeId": "r-1"}),
            "/api/resend-verification": (200, {"message": "sent"}),
            "/api/events": (200, {"accepted": True, "state": state}),
            "/api/import/state": (200, {"message": "taken"}),
            "/api/runtime/r-1/state": (200, {"state": state}) if self.server.is_active else (401, {}),
        }  # fmt: skip
        status, document = found.get(self.path, (404, {}))
        return status, json.dumps({**document, **self.server.more}).encode()

    def _send(self, status: int, data: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def _slow(self) -> None:
        self.server.stop.wait(3)
        self._send(*self._protocol())

    def _cut(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
        self.close_connection = True

    def _silent(self) -> None:
        self.close_connection = True

    def _drip(self) -> None:
        for _ in range(60):
            self.wfile.write(b"H" if _ == 0 else b"x")
            if self.server.stop.wait(0.1):
                return

    def _redirect(self) -> None:
        self._send(307, b"", Location=f"{self.server.url}/elsewhere")

    def _garbage(self) -> None:
        self._send(200, b"\xff\x00<html>not what you think</html>")

    def _packed(self) -> None:
        self._send(200, b"\x1f\x8b" + b"\x00" * 40, Content_Encoding="gzip")

    def _huge(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        block = b'{"state":' + b" " * 65_536
        until = time.monotonic() + 3
        while time.monotonic() < until:
            self.wfile.write(block)


@pytest.fixture
def hub():
    server = Hub()
    running = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    running.start()
    yield server
    server.stop.set()
    server.shutdown()
    server.server_close()
    running.join()


class Clock:
    """Time that only moves when it is told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, **span: float) -> None:
        self.now += timedelta(**span)

    def sleep(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock():
    return Clock()


class Place:
    """A folder with events of `ada`, its hub, and everything a command would do, in this process."""

    def __init__(self, folder: Any, hub: Hub, clock: Clock) -> None:
        self.hub, self.clock, self.folder = hub, clock, folder
        self.store = EventStore.create(folder)
        self.store.register({"pools": [RUNTIME, "codex/gpt-6/none"]})
        self.store.register(
            {"subjects": [{"role": "agent", "subject_id": "ada"}, {"role": "user", "subject_id": "kim"}]}
        )
        self.place = HubPlace(folder)
        self.patience = PATIENCE
        self.number = 0

    @property
    def sync(self):
        return current(self.place)

    def rate(self, event_type: str = "correct", **more: Any) -> str:
        """Record one event now; a member given as None is left out."""
        members = self._event(event_type, **more)
        self.store.append(members)
        return str(members["event_id"])

    def rate_many(self, number: int) -> None:
        """Record so many at once: half evaluations, which nothing limits."""
        self.store.append_all([self._event("implicit_continue") for _ in range(number)])

    def _event(self, event_type: str, **more: Any) -> dict[str, Any]:
        self.number += 1
        self.clock.pass_by(milliseconds=1)
        now = more.pop("at", self.clock())
        members = {
            "schema": "govern/confidence-event/v1",
            "event_id": f"e{self.number}",
            "ts": instant_text(now),
            "day": now.date().isoformat(),
            "session_id": "s1",
            "role": "agent",
            "subject_id": "ada",
            "runtime": RUNTIME,
            "domain": "TECH",
            "event_type": event_type,
            **more,
        }
        return {name: value for name, value in members.items() if value is not None}

    def be_impatient(self) -> None:
        """Give a request less time than a slow hub takes."""
        self.patience = SHORT

    def register(self):
        return registering.register(self.place, self.hub.url, RUNTIME, self.clock(), self.patience)

    def activate(self) -> Place:
        """Go through the whole registration."""
        self.register()
        registering.verify(self.place, "kim@example.org", "kim", self.clock(), self.patience)
        self.sync_now()
        assert self.sync.status == "active"
        self.hub.requests.clear()
        return self

    def send(self, session: str = "s1", occasion: str = "event", *, may_stay: bool = False) -> int:
        """What the process started by a command does; without `may_stay` it does not wait for a second try."""
        wait = self.clock.sleep if may_stay else self._stop
        errand = courier.Errand(self.place, session, courier.Occasion(occasion), self.clock, wait, self.patience)
        try:
            return courier.run(errand)
        except TimeoutError:
            return -1

    def _stop(self, _: float) -> None:
        raise TimeoutError

    def sync_now(self):
        return syncing.sync_now(self.place, self.clock, self.patience)

    def waiting(self) -> list[tuple[int, int]]:
        """(number, failures) of what waits."""
        with self.place.opened() as database:
            return database.execute("SELECT seq, failures FROM queue ORDER BY seq").fetchall()

    def log(self) -> list[tuple[str, int, int | None]]:
        with self.place.opened() as database:
            return database.execute("SELECT code, events, status FROM journal ORDER BY number").fetchall()

    def set(self, **members: Any) -> None:
        from governance_pipeline.confidence.hub.hub_sync import change_sync

        with self.place.opened(is_writing=True) as database:
            change_sync(database, **members)


@pytest.fixture
def place(tmp_path, hub, clock):
    return Place(tmp_path / "confidence", hub, clock)


@pytest.fixture
def active(place):
    """A place whose registration is active; the hub has forgotten the requests so far."""
    return place.activate()
