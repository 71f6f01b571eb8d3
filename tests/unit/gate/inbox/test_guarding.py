"""Other pages, other hosts and large requests are kept out before anything is looked at, and told nothing."""

from __future__ import annotations

import asyncio

import pytest

from governance_pipeline.gate.inbox.guarding import BODY_BYTES, HEADERS, Guarded, refusal
from governance_pipeline.gate.inbox.site import Site

OWN = {"origin": "http://localhost:8733", "sec-fetch-site": "same-origin"}
SITE = Site(8733)


@pytest.mark.parametrize(
    "host",
    ["evil.example:8733", "evil.example", "127.0.0.1:8733", "[::1]:8733", "localhost", "localhost:8734",
     "localhost:8733.evil.example", "localhost.:8733", "LOCALHOST:8733", ""],
)  # fmt: skip
def test_a_name_that_was_rebound_to_this_machine_is_answered_by_nobody(lobby, host):
    answer = lobby.get("/", {"host": host})
    assert (answer.status_code, answer.json()["code"]) == (421, "WRONG_HOST")


@pytest.mark.parametrize("hosts", [[], ["localhost:8733", "localhost:8733"], ["localhost:8733", "evil.example"]])
def test_a_request_has_one_host(hosts):
    scope = {"method": "GET", "query_string": b"", "headers": [(b"host", host.encode()) for host in hosts]}
    assert refusal(scope, SITE).code == "WRONG_HOST"


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="no_origin"),
        pytest.param({"origin": "http://evil.example"}, id="another_site"),
        pytest.param({"origin": "null"}, id="a_sandboxed_frame"),
        pytest.param({"origin": "http://localhost:3000"}, id="another_port_of_this_machine"),
        pytest.param({"origin": "https://localhost:8733"}, id="another_scheme"),
        pytest.param({"origin": OWN["origin"], "sec-fetch-site": "cross-site"}, id="cross_site"),
        pytest.param({"origin": OWN["origin"], "sec-fetch-site": "same-site"}, id="same_site_only"),
        pytest.param({"origin": OWN["origin"], "sec-fetch-site": "none"}, id="typed"),
    ],
)
def test_a_post_from_another_page_has_no_effect(browser, web, headers):
    token, digest = browser.view(web.id)
    members = {"verb": "APPROVE", "reason": "x", "token": token, "seen_sha256": digest}
    answer = browser.post(f"/requests/{web.id}/decisions", members, headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "CROSS_SITE")
    assert browser.post(f"/requests/{web.id}/decisions", members).status_code == 200, "the token was not spent"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_what_a_form_can_send_is_no_request(lobby, kind):
    answer = lobby.ask("POST", "/enter", {**OWN, "content-type": kind}, content=b'{"link":"x"}')
    assert answer.status_code == 415


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_get_and_post_are_answered(lobby, method):
    assert lobby.ask(method, "/", OWN).status_code == 405


def test_a_get_has_no_effect_on_addresses_that_act(browser, web):
    assert browser.get(f"/requests/{web.id}/decisions").status_code == 405
    assert browser.get("/ceremonies/x").status_code == 405
    assert web.events("APPROVED", "REJECTED", "REVOKED") == []


def test_a_large_body_is_refused_by_its_announced_and_by_its_real_length(lobby):
    body = b" " * (BODY_BYTES + 1)
    announced = lobby.ask("POST", "/enter", {**OWN, "content-type": "application/json"}, content=body)

    async def parts():
        for _ in range(5):
            yield body[: BODY_BYTES // 4]

    streamed = lobby.ask("POST", "/enter", {**OWN, "content-type": "application/json"}, content=parts())
    assert [answer.status_code for answer in (announced, streamed)] == [413, 413]


def test_a_long_address_is_refused(lobby):
    assert lobby.get("/requests/" + "a" * 2000).status_code == 414


@pytest.mark.parametrize("path", ["/", "/enter", "/nowhere", "/static/inbox.js", "/requests/none"])
def test_every_answer_forbids_scripts_frames_and_other_origins(lobby, path):
    headers = lobby.get(path).headers
    assert {name: headers[name] for name, _ in HEADERS} == dict(HEADERS)
    assert "unsafe" not in headers["content-security-policy"]


def test_refusals_have_the_same_headers(lobby):
    headers = lobby.get("/", {"host": "evil.example"}).headers
    assert {name: headers[name] for name, _ in HEADERS} == dict(HEADERS)


def test_a_web_socket_is_not_answered():
    async def nothing(*_):
        raise AssertionError("it was handed on")

    asyncio.run(Guarded(nothing, SITE)({"type": "websocket", "headers": []}, nothing, nothing))
