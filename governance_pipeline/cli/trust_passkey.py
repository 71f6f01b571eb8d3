"""Having a passkey made: a page on the origin of the inbox, served until the passkey is there or Ctrl-C.

What belongs here: serving that page and what is printed. What does not: the ceremony (`gate.inbox.enrolment`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from governance_pipeline.cli.signing import clock

if TYPE_CHECKING:
    from governance_pipeline.gate.inbox.enrolment import Enrolled
    from governance_pipeline.ledger.root_keeping import Kept


def made_passkey(principal: str, current: Kept, port: int) -> Enrolled:
    """Serve the page on which a passkey of a principal is made, and wait.

    Raises:
        UsageError: the port is taken, or the extra `webauthn` is not installed.
        click.Abort: it was stopped before the passkey was made.
    """
    from governance_pipeline.gate.inbox.enrolment import Enrolment
    from governance_pipeline.gate.inbox.entrance import Entrance
    from governance_pipeline.gate.inbox.serving import serve, server
    from governance_pipeline.gate.inbox.site import Site, loopback_sockets

    def print_link() -> None:
        click.echo(f"passkey    {entrance.new_link()}", err=True)

    def stop() -> None:
        serving.should_exit = True

    keys = [key for p in current.root.principals for key in p.keys]
    known = [key.passkey.credential_id for key in keys if key.passkey is not None]
    entrance = Entrance(Site(port), clock, print_link)
    enrolment = Enrolment(entrance, principal, current.config.root_fingerprint, known, stop)
    serving = server(enrolment.application())
    sockets = loopback_sockets(port)
    print_link()
    click.echo("open the link in the browser of that person; Ctrl-C gives up", err=True)
    serve(serving, sockets)
    if enrolment.enrolled is None:
        raise click.Abort
    return enrolment.enrolled
