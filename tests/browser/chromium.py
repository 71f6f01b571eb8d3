"""The system's Chromium, driven over its debugging protocol: pages, keys, screenshots and virtual authenticators."""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import subprocess
import time
import urllib.request
from typing import TYPE_CHECKING, Any

import websocket

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-extensions", "--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-port=0",
)  # fmt: skip
DEADLINE_S = 60


class Chromium:
    """One browser with a profile of its own."""

    def __init__(self, profile: Path, *more: str) -> None:
        self._process = subprocess.Popen(
            [PROGRAM, *ARGUMENTS, *more, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        port = profile / "DevToolsActivePort"
        wait_for(lambda: port.exists() and port.read_text().count("\n") >= 1)
        self._port = int(port.read_text().split("\n")[0])
        self._pages: list[Page] = []

    def page(self) -> Page:
        """Open another page."""
        request = urllib.request.Request(f"http://127.0.0.1:{self._port}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
            self._pages.append(Page(json.load(answer)["webSocketDebuggerUrl"]))
        return self._pages[-1]

    def close(self) -> None:
        """End this browser and everything that talks to it."""
        for page in self._pages:
            page.close()
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Page:
    """One page of a browser."""

    def __init__(self, url: str) -> None:
        self._socket = websocket.create_connection(url, timeout=DEADLINE_S, suppress_origin=True)
        self._ids = itertools.count(1)
        self.said: list[dict[str, Any]] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """Stop talking to the page."""
        self._socket.close()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call one method of the protocol and wait for its answer."""
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.said.append(message)

    def run(self, script: str) -> Any:
        """Evaluate JavaScript in the page, promises included, and give its value."""
        result = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:800])
        return result["result"].get("value")

    def open(self, url: str, until: str = "location.href !== 'about:blank'") -> None:
        """Go to an address and wait for a condition."""
        self.call("Page.navigate", url=url)
        self.wait(f"document.readyState === 'complete' && ({until})")

    def wait(self, condition: str) -> None:
        """Wait until a condition holds in the page, whichever page it is by then."""

        def holds() -> bool:
            try:
                return bool(self.run(condition))
            except RuntimeError:  # the page went away while it was asked
                return False

        wait_for(holds, condition)

    def text(self, selector: str = "body") -> str:
        """Give the text of an element."""
        return self.run(f"document.querySelector({json.dumps(selector)}).innerText")

    def click(self, selector: str) -> None:
        """Click the middle of an element as a mouse does."""
        place = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def type(self, text: str) -> None:
        """Type into whatever has the focus."""
        self.call("Input.insertText", text=text)

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press one key."""
        base = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **base, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **base)

    def authenticator(self, *, verifies: bool = True, is_verified: bool = True) -> str:
        """Plug a virtual authenticator in; gives its id."""
        self.call("WebAuthn.enable", enableUI=False)
        options = {
            "protocol": "ctap2", "transport": "internal" if verifies else "usb", "hasResidentKey": True,
            "hasUserVerification": verifies, "isUserVerified": is_verified, "automaticPresenceSimulation": True,
        }  # fmt: skip
        return self.call("WebAuthn.addVirtualAuthenticator", options=options)["authenticatorId"]

    def screenshot(
        self, path: Path, width: int = 1280, height: int = 900, *, dark: bool = False, whole: bool = False
    ) -> None:
        """Take a picture of the page."""
        self.call("Page.bringToFront")  # a page behind another is never painted
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        time.sleep(0.2)
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def problems(self) -> list[str]:
        """Give what the console has complained about: errors of scripts and breaches of the content policy."""
        entries = [m["params"]["entry"] for m in self.said if m["method"] == "Log.entryAdded"]
        found = [entry["text"] for entry in entries if entry["level"] == "error" and entry["source"] != "network"]
        found += [json.dumps(m["params"])[:400] for m in self.said if m["method"] == "Runtime.exceptionThrown"]
        return found

    def requested(self) -> list[str]:
        """Give every address the page has asked for."""
        return [m["params"]["request"]["url"] for m in self.said if m["method"] == "Network.requestWillBeSent"]


def wait_for(holds: Any, what: str = "the browser") -> None:
    """Wait until something holds; fails after a deadline."""
    ends = time.monotonic() + DEADLINE_S
    while not holds():
        if time.monotonic() > ends:
            raise TimeoutError(f"waited {DEADLINE_S} s for {what}")
        time.sleep(0.05)
