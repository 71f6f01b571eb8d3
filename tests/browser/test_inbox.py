"""The web inbox as a person meets it: the commands as processes, Chromium, and virtual authenticators."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

import pytest

from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.shown import shown
from governance_pipeline.trust import dsse

pytestmark = pytest.mark.long

OUTCOME = "document.getElementById('outcome').dataset.kind"
ENDED = f"['done', 'closed', 'refused'].includes({OUTCOME})"


def _enrol(stage, name, page):
    process, link = stage.adding(name)
    page.open(link, "document.getElementById('enrolment') !== null")
    page.click("button.approve")
    page.wait(ENDED)
    return process, page.text("#outcome")


def _enter(page, link):
    page.open(link, "location.pathname === '/' && document.querySelector('h1') !== null")


def _see(page, stage, request):
    page.open(f"{stage.origin}/requests/{request}", "document.getElementById('decision') !== null")


def _decide(page, stage, request, verb, reason="I read all of it"):
    _see(page, stage, request)
    page.click("#reason")
    page.type(reason)
    page.click(f"button[data-verb={verb}]")
    page.wait(ENDED)
    return page.text("#outcome")


@pytest.fixture(scope="module")
def people(stage):
    """Ana and pia with a passkey each, made through the page; each has a browser tab with her own authenticator."""
    pages = {}
    for name in ("ana", "pia"):
        page = pages[name] = stage.browser.page()
        page.device = page.authenticator()
        process, said = _enrol(stage, name, page)
        out, _ = process.communicate(timeout=60)
        assert (process.returncode, said) == (0, "Done. Go on at the terminal; this page can be closed.")
        (person,) = (p for p in json.loads(out)["principals"] if p["id"] == name)
        assert [key["passkey"] for key in person["keys"]][-1] == {"rp_id": "localhost", "origin": stage.origin}
        assert page.problems() == []
    return pages


@pytest.fixture(scope="module")
def inbox(stage, people):
    """The inbox, open in ana's tab."""
    process, link = stage.serving()
    _enter(people["ana"], link)
    process.next_link = json.loads(process.stdout.readline())["url"]  # printed once the first was used
    yield process
    assert process.poll() is None
    process.send_signal(2)
    assert process.wait(60) == 0, "Ctrl-C is how it ends"
    process.communicate()


@pytest.fixture
def ana(people, inbox):
    return people["ana"]


def test_an_authenticator_that_verifies_nobody_makes_no_passkey(stage):
    page = stage.browser.page()
    page.authenticator(verifies=True, is_verified=False)
    before = stage.world.config.root.read_bytes()
    process, said = _enrol(stage, "mallory", page)
    process.send_signal(2)
    process.communicate(timeout=60)
    assert "did not sign" in said
    assert (process.returncode, stage.world.config.root.read_bytes()) == (3, before)


def test_an_approval_by_keyboard_alone_opens_the_gate_for_the_text_on_the_page(ana, stage):
    (request,) = stage.ask("r-keyboard")
    _see(ana, stage, request)
    text = ana.run("document.getElementById('display').textContent")
    ana.run("document.getElementById('display').focus()")
    ana.press("Tab", 9)
    assert ana.run("document.activeElement.id") == "reason"
    ana.type("read with the keyboard")
    ana.press("Tab", 9)
    assert ana.run("document.activeElement.dataset.verb") == "APPROVE"
    ana.press("Enter", 13, "\r")
    ana.wait(ENDED)
    assert "The gate is open for exactly these bytes" in ana.text("#outcome")
    assert ana.run("document.activeElement.id") == "outcome"
    verifier = stage.world.verifier(_now())
    assert text == shown(verifier, request, _now()).text
    decision = read_history(verifier.ledger).decisions[-1]
    assert (decision.actor, decision.request_id) == ("ana", request)
    statement = json.loads(dsse.parse_envelope(decision.envelope).payload)["predicate"]
    assert statement["display_digest"]["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert (statement["assurance"], statement["reason"]) == ("presence", "read with the keyboard")
    stage.world.guard("published_features", "r-keyboard", now=_now())
    ana.open(stage.origin)
    assert "r-keyboard" not in ana.text()


def test_a_rejection_closes_the_gate_and_its_person_takes_it_back(ana, stage):
    (request,) = stage.ask("r-reject")
    assert "rejected" in _decide(ana, stage, request, "REJECT", "wrong baseline")
    ana.open(f"{stage.origin}/rounds/r-reject")
    assert "wrong baseline" in ana.text()
    assert "approved" in _decide(ana, stage, request, "APPROVE")


def test_who_wrote_the_work_is_refused(people, inbox, stage):
    (request,) = stage.ask("r-own", agents=("coder-pia",))
    pia = people["pia"]
    # Her tab is in the same browser, so the session of the inbox is hers as well; a session is nobody.
    assert "SELF_APPROVAL" in _decide(pia, stage, request, "APPROVE")
    assert not read_history(stage.world.ledger).approvals(read_history(stage.world.ledger).in_force("publish", "r-own"))


def test_an_authenticator_that_does_not_verify_who_is_there_signs_nothing(ana, stage):
    (request,) = stage.ask("r-unverified")
    ana.call("WebAuthn.setUserVerified", authenticatorId=ana.device, isUserVerified=False)
    try:
        assert "did not sign" in _decide(ana, stage, request, "APPROVE")
    finally:
        ana.call("WebAuthn.setUserVerified", authenticatorId=ana.device, isUserVerified=True)
    assert "approved" in _decide(ana, stage, request, "APPROVE"), "the page goes on after a refusal"


def test_a_signature_is_not_used_twice(ana, stage):
    first, second = stage.ask("r-once", "r-twice")
    _see(ana, stage, first)
    told = ana.run("""(async () => {
        const form = document.getElementById('decision');
        const seen = await Passkeys.sha256(document.getElementById('display').textContent);
        const begun = await Passkeys.send(`/requests/${form.dataset.request}/decisions`,
            {verb: 'APPROVE', reason: 'x', seen_sha256: seen, token: form.dataset.token});
        const made = await Passkeys.assertion(begun.result);
        const once = await Passkeys.send(`/ceremonies/${begun.result.ceremony}`, {...made, token: begun.token});
        const again = await Passkeys.send(`/ceremonies/${begun.result.ceremony}`, {...made, token: once.token});
        return {made, token: again.token, first: once.result.results.results[0].recorded, again: again.code};
    })()""")
    assert (told["first"], told["again"]) == (True, "REPLAYED")
    _see(ana, stage, second)
    moved = ana.run(f"""(async () => {{
        const form = document.getElementById('decision');
        const seen = await Passkeys.sha256(document.getElementById('display').textContent);
        const begun = await Passkeys.send(`/requests/${{form.dataset.request}}/decisions`,
            {{verb: 'APPROVE', reason: 'x', seen_sha256: seen, token: form.dataset.token}});
        const sent = await Passkeys.send(`/ceremonies/${{begun.result.ceremony}}`,
            {{...{json.dumps(told["made"])}, token: begun.token}});
        return sent.result.results.results[0];
    }})()""")
    assert (moved["recorded"], moved["code"]) == (False, "BAD_SIGNATURE")


def test_another_page_of_this_machine_gets_a_signature_that_counts_for_nothing(ana, stage, elsewhere):
    (request,) = stage.ask("r-phished")
    _see(ana, stage, request)
    begun = ana.run("""(async () => {
        const form = document.getElementById('decision');
        const seen = await Passkeys.sha256(document.getElementById('display').textContent);
        return Passkeys.send(`/requests/${form.dataset.request}/decisions`,
            {verb: 'APPROVE', reason: 'x', seen_sha256: seen, token: form.dataset.token});
    })()""")
    helpers = ana.run("fetch('/static/passkeys.js').then((answer) => answer.text())")
    ana.open(f"http://localhost:{elsewhere}/", "document.title === 'elsewhere'")
    ana.run(f"{helpers}; window.made = Passkeys.assertion({json.dumps(begun['result'])}); 0")
    made = ana.run("window.made")
    _see(ana, stage, request)
    sent = ana.run(f"""Passkeys.send('/ceremonies/{begun["result"]["ceremony"]}',
        {{...{json.dumps(made)}, token: '{begun["token"]}'}})""")
    entry = sent["result"]["results"]["results"][0]
    assert (entry["recorded"], entry["code"]) == (False, "BAD_SIGNATURE")


@pytest.mark.parametrize("host", ["evil.example", "localhost"])
def test_a_post_from_another_page_has_no_effect(ana, stage, elsewhere, host):
    (request,) = stage.ask(f"r-from-{host}")
    _see(ana, stage, request)
    members = {"verb": "REJECT", "reason": "x", "token": ana.run("document.getElementById('decision').dataset.token")}
    size = stage.world.ledger.size()
    ana.open(f"http://{host}:{elsewhere}/", "document.title === 'elsewhere'")
    target = f"{stage.origin}/requests/{request}/decisions"
    told = ana.run(f"""(async () => {{
        const body = {json.dumps(json.dumps(members))}, results = [];
        for (const [mode, type] of [['cors', 'application/json'], ['no-cors', 'text/plain']]) {{
            try {{
                const answer = await fetch('{target}', {{method: 'POST', mode, credentials: 'include', body,
                    headers: {{'Content-Type': type}}}});
                results.push(answer.type === 'opaque' ? 'opaque' : answer.status);
            }} catch (error) {{ results.push('blocked'); }}
        }}
        return results;
    }})()""")
    assert told == ["blocked", "blocked"], "no answer is readable, and the form below is refused by the inbox itself"
    ana.run(f"""(() => {{ const form = document.createElement('form'); form.method = 'POST'; form.action = '{target}';
        form.enctype = 'text/plain'; document.body.append(form); form.submit(); }})()""")
    ana.wait("document.body !== null && document.body.innerText.includes('CROSS_SITE')")
    assert stage.world.ledger.size() == size
    assert "approved" in _decide(ana, stage, request, "APPROVE")


def test_no_page_can_frame_the_inbox(ana, stage, elsewhere):
    ana.open(f"http://localhost:{elsewhere}/", "document.title === 'elsewhere'")
    ana.run(f"""(() => {{ const frame = document.createElement('iframe'); frame.src = '{stage.origin}/';
        frame.onload = () => {{ window.framed = true; }}; document.body.append(frame); }})()""")
    ana.wait("window.framed === true")
    tree = ana.call("Page.getFrameTree")["frameTree"]
    assert [child["frame"]["url"] for child in tree["childFrames"]] == ["chrome-error://chromewebdata/"]


def test_a_name_that_was_rebound_to_this_machine_sees_nothing(ana, stage):
    ana.open(f"http://rebound.example:{stage.port}/", "document.body.innerText.includes('WRONG_HOST')")
    assert "r-keyboard" not in ana.text()
    ana.open(f"http://127.0.0.1:{stage.port}/", "document.body.innerText.includes('WRONG_HOST')")


def test_a_browser_that_has_not_used_the_link_sees_nothing(ana, inbox, stage):
    ana.call("Network.clearBrowserCookies")
    ana.open(stage.origin, "document.body.innerText.includes('closed to this browser')")
    ana.open(f"{stage.origin}/enter#guessed", "document.body.innerText.includes('LINK_SPENT')")
    assert "guessed" not in ana.run("location.href")
    ana.open("about:blank#", "true")
    _enter(ana, inbox.next_link)


def test_hostile_text_runs_nothing_and_asks_for_nothing(ana, stage):
    hostile = (
        "<script>window.hit=1</script><img src=http://evil.example/x onerror=window.hit=1>\u202e javascript:alert(1)"
    )
    (request,) = stage.ask("r-hostile", message=hostile)
    _see(ana, stage, request)
    assert ana.run("window.hit") is None
    assert "<script>window.hit=1</script>" in ana.text("#display")
    assert [url for url in ana.requested() if "evil.example/x" in url] == []
    assert ana.run("document.querySelectorAll('#display img, #display script, #display a').length") == 0


def test_every_page_is_read_whole_on_a_telephone_and_a_script_complains_of_nothing(ana, stage, tmp_path):
    (request,) = stage.ask("r-narrow", mismatch=True)
    ana.said.clear()
    for path in ("/", f"/requests/{request}", "/rounds/r-narrow"):
        ana.open(stage.origin + path)
        for width in (390, 1280):
            ana.screenshot(tmp_path / f"{width}.png", width, 900)
            assert ana.run("document.documentElement.scrollWidth <= window.innerWidth"), (path, width)
    ana.call("Emulation.clearDeviceMetricsOverride")
    assert ana.problems() == []
    assert {url.split("/")[2] for url in ana.requested() if "://" in url} == {f"localhost:{stage.port}"}


def _now():
    return datetime.now(UTC)
