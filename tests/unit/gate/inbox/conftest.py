"""A browser without a window: it keeps cookies, sends the headers a browser sends, and has passkeys in software."""

from __future__ import annotations

import asyncio
import re

import httpx
import pytest

from governance_pipeline.errors import StorageError
from governance_pipeline.gate.inbox.application import Inbox
from governance_pipeline.gate.inbox.entrance import Entrance
from governance_pipeline.gate.inbox.opening import opened
from governance_pipeline.gate.inbox.site import Site
from governance_pipeline.trust.passkeys import base64url, base64url_bytes

SITE = Site(8733)
OWN = {"origin": SITE.origin, "sec-fetch-site": "same-origin"}


class Browser:
    """Talks to one inbox."""

    def __init__(self, entrance, application):
        self.entrance = entrance
        self.application = application
        self.cookies = httpx.Cookies()

    def ask(self, method, path, headers=None, **more):
        async def asked():
            transport = httpx.ASGITransport(app=self.application, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=SITE.origin, cookies=self.cookies) as client:
                answer = await client.request(method, path, headers=headers, **more)
                self.cookies.update(client.cookies)
                return answer

        return asyncio.run(asked())

    def get(self, path, headers=None):
        return self.ask("GET", path, headers)

    def post(self, path, members, headers=None):
        return self.ask("POST", path, OWN if headers is None else headers, json=members)

    def enter(self):
        link = self.entrance.new_link().partition("#")[2]
        assert self.post("/enter", {"link": link}).status_code == 200
        return self

    def view(self, request_id):
        """Load the page of a request; gives the token and the digest of the text that is on it."""
        page = self.get(f"/requests/{request_id}").text
        digest = re.search(r'data-sha256="([0-9a-f]{64})"', page).group(1)
        return re.search(r'data-token="([^"]+)"', page).group(1), digest

    def begin(self, request_id, verb="APPROVE", reason="I read it", **changed):
        token, digest = self.view(request_id)
        members = {"verb": verb, "reason": reason, "token": token, "seen_sha256": digest, **changed}
        return self.post(f"/requests/{request_id}/decisions", {k: v for k, v in members.items() if v is not None})

    def finish(self, begun, passkey):
        """Sign what a begun decision asks with a passkey and send it."""
        wanted = begun.json()["result"]
        made = passkey.assertion(base64url_bytes(wanted["challenge"]))
        return self.send(wanted["ceremony"], made, begun.json()["token"])

    def send(self, ceremony, made, token):
        members = {name: base64url(value) for name, value in made._asdict().items()}
        return self.post(f"/ceremonies/{ceremony}", {**members, "token": token})

    def decide(self, request_id, passkey, verb="APPROVE", **changed):
        """Decide as a person does; gives the entry of the result."""
        answer = self.finish(self.begin(request_id, verb, **changed), passkey).json()
        return answer["result"]["results"]["results"][0]


class Clock:
    """A clock a test moves."""

    def __init__(self, now):
        self.now = now

    def __call__(self):
        return self.now


def _browser(open_now, clock):
    entrance = Entrance(SITE, clock)
    return Browser(entrance, Inbox(entrance, open_now, clock).application())


@pytest.fixture
def browser_of():
    """Give the maker of browsers."""
    return Browser


@pytest.fixture
def ana(software_passkey):
    return software_passkey.SoftwarePasskey("ana")


@pytest.fixture
def pia(software_passkey):
    return software_passkey.SoftwarePasskey("pia")


@pytest.fixture
def web(asked, scenario, ana, pia):
    """A world in which a request waits and ana and pia have passkeys; pia writes code as coder-pia."""
    people = (
        scenario.person("ana", keys=(ana.key(),)),
        scenario.person("ben"),
        scenario.person("pia", keys=(pia.key(),), aliases=("coder-pia",)),
    )
    asked.write_root(*people, version=2)
    return asked


@pytest.fixture
def clock(scenario):
    return Clock(scenario.NOON + scenario.HOUR)


@pytest.fixture
def lobby(clock):
    """A browser inside of an inbox that opens nothing: for what is refused before anything is looked at."""

    def shut(_):
        raise StorageError("nothing is here")

    return _browser(shut, clock).enter()


@pytest.fixture
def outside(web, clock):
    """A browser that has not used the link."""
    return _browser(opened(web.config_path, web.lake.root), clock)


@pytest.fixture
def browser(outside):
    """A browser inside."""
    return outside.enter()
