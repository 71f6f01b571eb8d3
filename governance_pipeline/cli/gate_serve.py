"""`govern gate serve`: the web inbox on this machine, until Ctrl-C.

What belongs here: arguments and what is printed. What does not: the inbox itself (`gate.inbox`).
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import click

from governance_pipeline.cli.signing import AS_JSON, CONFIG, LAKE, answer, clock, open_trusted
from governance_pipeline.gate.inbox.site import DEFAULT_PORT

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

PORT = click.option(
    "--port", type=click.IntRange(1024, 65535), default=DEFAULT_PORT, show_default=True,
    help="Port of the inbox; passkeys count only on the one they were made for.",
)  # fmt: skip


@click.command(epilog="\b\nExample: govern gate serve\nThen open the link it prints; Ctrl-C stops it.")
@PORT
@LAKE
@CONFIG
@AS_JSON
def serve(port: int, lake: Path, config_path: Path | None, as_json: bool) -> None:
    """Serve the web inbox on this machine: look, approve and reject with a passkey.

    It answers on http://localhost only. The link it prints lets one browser in, once; when it was used another one is
    printed. With --json each link is one JSON document on a line of its own.
    """
    import json

    from governance_pipeline.gate.inbox.application import Inbox
    from governance_pipeline.gate.inbox.entrance import Entrance
    from governance_pipeline.gate.inbox.opening import opened
    from governance_pipeline.gate.inbox.serving import serve as serve_until_stopped
    from governance_pipeline.gate.inbox.serving import server
    from governance_pipeline.gate.inbox.site import Site, loopback_sockets

    root = open_trusted(config_path, lake, clock()).root  # whatever is wrong is said before anything is served
    sockets = loopback_sockets(port)
    site = Site(port)

    def print_link() -> None:
        document = {
            "schema": "govern/gate-serve/v1", "origin": site.origin, "url": entrance.new_link(),
            "is_throwaway": root.is_throwaway,
        }  # fmt: skip
        if as_json:
            click.echo(json.dumps(document))
        else:
            answer(document, [f"inbox      {document['url']}"], as_json=False)

    entrance = Entrance(site, clock, print_link)
    serving = server(Inbox(entrance, opened(config_path, lake), clock).application())
    print_link()
    click.echo("the link lets one browser in, once; Ctrl-C stops the inbox", err=True)
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        serve_until_stopped(serving, sockets)
    finally:
        signal.signal(signal.SIGTERM, before)


def _stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the shape of a handler
    raise KeyboardInterrupt
