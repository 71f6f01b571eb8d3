"""The inbox: a decision made in it is one of the person whose passkey signed it, over the text that was on the page."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from datetime import timedelta
from importlib import resources

import jsonschema
import pytest

from governance_pipeline.gate.documents import document_fault
from governance_pipeline.gate.inbox.rendering import FILES
from governance_pipeline.trust.keys import fingerprint
from governance_pipeline.trust.passkeys import base64url, base64url_bytes
from governance_pipeline.trust.reasons import Refusal
from governance_pipeline.trust.root import Revocation


def test_without_its_link_a_browser_sees_nothing(outside, web):
    for path in ("/", f"/requests/{web.id}", "/rounds/r1", f"/evidence/{'0' * 64}/1"):
        answer = outside.get(path)
        assert answer.status_code == 401
        assert "r1" not in answer.text


def test_without_a_session_nothing_is_begun_and_nothing_finished(outside, web):
    for path in (f"/requests/{web.id}/decisions", "/ceremonies/x"):
        assert outside.post(path, {"token": "x"}).status_code == 401


def test_a_link_lets_one_browser_in(outside):
    link = outside.entrance.new_link().partition("#")[2]
    assert outside.post("/enter", {"link": link}).status_code == 200
    assert outside.post("/enter", {"link": link}).json()["code"] == "LINK_SPENT"


def test_its_cookie_is_for_this_site_and_no_script(outside):
    answer = outside.post("/enter", {"link": outside.entrance.new_link().partition("#")[2]})
    said = answer.headers["set-cookie"].lower()
    assert all(word in said for word in ("httponly", "samesite=strict", "path=/", "govern_inbox_8733="))


def test_an_approval_opens_the_gate_for_the_one_whose_passkey_signed(browser, web, ana):
    entry = browser.decide(web.id, ana)
    assert (entry["recorded"], entry["code"], entry["state"]) == (True, None, "APPROVED")
    (decision,) = web.history().decisions
    (event,) = (e for e in web.ledger.events(types={"APPROVED"}))
    assert (decision.actor, event.body["assurance"]) == ("ana", "presence")
    web.guard()


def test_an_approval_opens_a_gate_that_asks_for_presence(browser, web, ana, clock):
    web.write_policy(minimum_assurance="presence", version="2")
    web.request(now=clock())
    assert browser.decide(web.history().in_force("publish", "r1").request_id, ana)["code"] is None


def test_what_is_signed_is_the_text_on_the_page(browser, web, ana, clock):
    page = browser.get(f"/requests/{web.id}").text
    text = html.unescape(
        re.sub(r"<[^>]+>", "", re.search(r"<pre id=.display.[^>]*>\n(.*?)</pre>", page, re.DOTALL).group(1))
    )
    browser.decide(web.id, ana)
    (event,) = web.ledger.events(types={"APPROVED"})
    from governance_pipeline.gate.display import display_sha256
    from governance_pipeline.gate.shown import shown
    from governance_pipeline.trust import dsse

    statement = json.loads(dsse.parse_envelope(event.body["envelope"].encode()).payload)
    assert text == shown(web.verifier(), web.id, clock()).text
    assert statement["predicate"]["display_digest"]["sha256"] == display_sha256(text)


@pytest.mark.parametrize("verb", ["REJECT", "REVOKE"])
def test_a_rejection_and_a_revocation_close_the_gate(browser, web, ana, verb):
    if verb == "REVOKE":
        browser.decide(web.id, ana)
    entry = browser.decide(web.id, ana, verb, reason="wrong baseline", seen_sha256=None)
    assert (entry["recorded"], entry["code"]) == (True, "REVOKED")
    assert web.id not in browser.get("/").text
    with pytest.raises(Refusal):
        web.guard()


def test_a_rejection_is_taken_back_by_its_own_person_only(browser, web, ana, pia):
    browser.decide(web.id, ana, "REJECT", seen_sha256=None)
    assert browser.decide(web.id, pia)["recorded"] is False
    assert browser.decide(web.id, ana)["state"] == "APPROVED"


def test_who_wrote_the_work_is_refused_whatever_the_page_offers(browser, web, pia, clock):
    web.make_round(agents=("coder-pia",))
    request = web.request(now=clock())
    entry = browser.decide(request, pia)
    assert (entry["recorded"], entry["code"]) == (False, "SELF_APPROVAL")
    assert web.events("APPROVED") == []


def test_a_passkey_nobody_registered_is_refused(browser, web, software_passkey):
    entry = browser.decide(web.id, software_passkey.SoftwarePasskey("mallory"))
    assert (entry["recorded"], entry["code"]) == (False, "UNTRUSTED_KEY")


def test_a_passkey_that_claims_to_be_another_is_refused(browser, web, ana, software_passkey):
    mallory = software_passkey.SoftwarePasskey("mallory")
    begun = browser.begin(web.id)
    wanted = begun.json()["result"]
    made = mallory.assertion(base64url_bytes(wanted["challenge"]))._replace(credential_id=ana.credential_id)
    answer = browser.send(wanted["ceremony"], made, begun.json()["token"]).json()
    assert answer["result"]["results"]["results"][0]["code"] == "BAD_SIGNATURE"


def test_a_revoked_passkey_is_refused_at_once(browser, web, ana, scenario, clock):
    begun = browser.begin(web.id)
    revoked = Revocation(fingerprint(ana.public_key), clock(), "lost")
    web.write_root(*web.verifier().root.principals[1:], version=3, revocations=(revoked,), at=clock())
    answer = browser.finish(begun, ana).json()
    assert answer["result"]["results"]["results"][0]["code"] == "REVOKED_KEY"
    assert browser.begin(web.id).json()["code"] is None, "pia still has a passkey"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        pytest.param({"flags": 0x01}, "NO_USER_PRESENCE", id="touched_but_not_verified"),
        pytest.param({"flags": 0x04}, "NO_USER_PRESENCE", id="verified_but_not_touched"),
        pytest.param({"flags": 0x00}, "NO_USER_PRESENCE", id="neither"),
        pytest.param({"origin": "http://localhost:3000"}, "BAD_SIGNATURE", id="signed_on_another_page"),
        pytest.param({"origin": "http://evil.example"}, "BAD_SIGNATURE", id="signed_elsewhere"),
        pytest.param({"rp_id": "evil.example"}, "BAD_SIGNATURE", id="another_relying_party"),
        pytest.param({"client": {"challenge": base64url(bytes(32))}}, "BAD_SIGNATURE", id="another_challenge"),
        pytest.param({"client": {"crossOrigin": True}}, "BAD_SIGNATURE", id="from_a_frame"),
    ],
)
def test_an_assertion_that_is_not_a_person_on_this_page_over_these_bytes_is_refused(browser, web, ana, changed, code):
    entry = browser.decide(web.id, replace(ana, **changed))
    assert (entry["recorded"], entry["code"]) == (False, code)
    assert web.events("APPROVED") == []


def test_an_assertion_is_used_once(browser, web, ana):
    begun = browser.begin(web.id)
    wanted = begun.json()["result"]
    made = ana.assertion(base64url_bytes(wanted["challenge"]))
    first = browser.send(wanted["ceremony"], made, begun.json()["token"])
    again = browser.send(wanted["ceremony"], made, first.json()["token"])
    assert (again.status_code, again.json()["code"]) == (409, "REPLAYED")
    other = browser.begin(web.id, "REJECT", seen_sha256=None)
    moved = browser.send(other.json()["result"]["ceremony"], made, other.json()["token"])
    assert moved.json()["result"]["results"]["results"][0]["code"] == "BAD_SIGNATURE"


def test_a_ceremony_is_over_after_five_minutes_and_is_of_its_browser(browser, web, ana, clock):
    begun = browser.begin(web.id)
    stranger = type(browser)(browser.entrance, browser.application).enter()
    made = ana.assertion(base64url_bytes(begun.json()["result"]["challenge"]))
    token, _ = stranger.view(web.id)
    assert stranger.send(begun.json()["result"]["ceremony"], made, token).json()["code"] == "REPLAYED"
    clock.now += timedelta(minutes=5)
    assert browser.finish(begun, ana).json()["code"] == "REPLAYED"


def test_a_text_that_changed_while_it_was_read_is_not_approved(browser, web, clock):
    answer = browser.begin(web.id, seen_sha256="0" * 64)
    assert (answer.status_code, answer.json()["code"]) == (409, "DIGEST_MISMATCH")
    assert browser.begin(web.id, seen_sha256=None).json()["code"] == "DIGEST_MISMATCH"


def test_work_that_changed_between_reading_and_signing_is_not_approved(browser, web, ana, clock):
    begun = browser.begin(web.id)
    web.make_round(surface=4.0)
    entry = browser.finish(begun, ana).json()["result"]["results"]["results"][0]
    assert (entry["recorded"], entry["code"]) == (False, "DIGEST_MISMATCH")


@pytest.mark.parametrize(
    ("members", "code"),
    [
        pytest.param({"verb": "PUBLISH"}, "MALFORMED", id="another_verb"),
        pytest.param({"approver": "ben"}, "MALFORMED", id="a_field_that_names_the_person"),
        pytest.param({"token": "x"}, "MALFORMED", id="a_token_of_nobody"),
        pytest.param({"reason": ""}, "USAGE", id="no_reason"),
        pytest.param({"reason": "\u200b"}, "USAGE", id="a_reason_nobody_sees"),
        pytest.param({"reason": "x" * 2001}, "USAGE", id="a_long_reason"),
        pytest.param({"reason": 7}, "MALFORMED", id="no_text"),
        pytest.param({"verb": None}, "MALFORMED", id="no_verb"),
    ],
)
def test_a_request_that_is_not_exactly_one_is_refused(browser, web, members, code):
    assert browser.begin(web.id, **members).json()["code"] == code
    assert web.events("APPROVED", "REJECTED") == []


def test_a_token_is_used_once(browser, web):
    token, digest = browser.view(web.id)
    members = {"verb": "APPROVE", "reason": "x", "token": token, "seen_sha256": digest}
    path = f"/requests/{web.id}/decisions"
    assert [browser.post(path, members).json()["code"] for _ in range(2)] == [None, "MALFORMED"]


def test_a_request_nobody_made_is_not_found(browser):
    assert browser.get("/requests/ffff").status_code == 404
    assert browser.get("/cases/r1/case-ffff").status_code == 404
    assert browser.get("/nowhere").status_code == 404


def test_a_trust_root_that_cannot_be_used_shuts_the_pages_and_says_why(browser, web):
    web.config.root.write_bytes(b"{}")
    answer = browser.get("/")
    assert answer.status_code == 503
    assert "MALFORMED" in answer.text


def test_what_is_decided_leaves_the_list_and_its_round_keeps_the_history(browser, web, ana):
    assert web.id in browser.get("/").text
    browser.decide(web.id, ana, reason="read <b>all</b>")
    assert web.id not in browser.get("/").text
    history = browser.get("/rounds/r1").text
    assert "read &lt;b&gt;all&lt;/b&gt;" in history
    assert "presence" in history


def test_what_ran_out_and_what_was_replaced_leave_the_list(browser, web, clock):
    web.make_round(surface=5.0)
    newer = web.request(now=clock())
    assert (web.id in browser.get("/").text, newer in browser.get("/").text) == (False, True)
    clock.now += timedelta(hours=80)
    assert newer not in browser.enter().get("/").text


def test_the_list_shows_both_values_who_may_act_and_where_to_look(browser, web, clock):
    web.make_round("r2", mismatch=True)
    web.request("r2", now=clock())
    page = browser.get("/").text
    case = re.search(r'href="(/cases/r2/case-[0-9a-f]{64})"', page).group(1)
    for shown in ("10", "9", "0.005", "ana, ben", "logs/a.jsonl:1", "in 3 days", "mismatch"):
        assert shown in page
    assert "half a cent" in browser.get(case).text


def test_a_hostile_text_stays_text(browser, web, clock):
    web.make_round("r3", message='<script>alert(1)</script>"\u202e\x1b[2J<img src=//evil.example/x>')
    page = browser.get(f"/requests/{web.request('r3', now=clock())}").text
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_pages_hold_no_inline_script_style_or_foreign_address(browser, web):
    for path in ("/", f"/requests/{web.id}", "/rounds/r1", "/enter", "/nowhere"):
        page = browser.get(path).text
        assert re.findall(r"<style|style=|\son[a-z]+=|<script(?! src=\"/static/)|https?://(?!localhost)", page) == []


def test_only_files_of_the_package_are_served(lobby):
    assert [lobby.get(f"/static/{name}").status_code for name in FILES] == [200] * len(FILES)
    for name in ("", "..%2fpages.py", "../pages.py", "base.html"):
        assert lobby.get(f"/static/{name}").status_code == 404


def test_every_answer_of_an_action_keeps_its_schema(browser, web, ana):
    begun = browser.begin(web.id)
    schema = json.loads((resources.files("governance_pipeline.gate") / "schemas/inbox-answer-v1.json").read_text())
    answers = [begun, browser.finish(begun, ana), browser.begin(web.id, verb="?"), browser.get("/", {"host": "x"})]
    for answer in answers:
        jsonschema.validate(answer.json(), schema)
        assert document_fault("inbox-answer-v1", answer.json()) is None


def test_an_error_of_ours_tells_nothing(browser, monkeypatch):
    monkeypatch.setattr("governance_pipeline.gate.inbox.pages.list_page", lambda *_: 1 / 0)
    answer = browser.get("/")
    assert (answer.status_code, answer.json()["code"]) == (500, "INTERNAL")
    assert "ZeroDivision" not in answer.text
