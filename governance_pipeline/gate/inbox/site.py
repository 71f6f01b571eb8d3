"""Where the inbox is: one origin on this machine, and nothing else answers to it.

What belongs here: names and sockets. What does not: what is served (`application`).

Browsers know passkeys of the host `localhost` and of no address in digits, so that is its name. A browser tries `::1`
before `127.0.0.1`: both are taken, or neither, so that nobody else on this machine can answer in its place.
"""

from __future__ import annotations

import errno
import socket
from typing import Final, NamedTuple

from governance_pipeline.errors import UsageError

RP_ID: Final = "localhost"
"""Host passkeys of the inbox are bound to (WebAuthn Level 2, 4 "RP ID")."""
DEFAULT_PORT: Final = 8733
"""Port of the inbox; a passkey counts only on the port it was made for, so it should not change."""
_BACKLOG: Final = 64


class Site(NamedTuple):
    """The origin of the inbox by its port."""

    port: int

    @property
    def host(self) -> str:
        """What the Host of every request must be."""
        return f"{RP_ID}:{self.port}"

    @property
    def origin(self) -> str:
        """What the Origin of every request with an effect must be, and the client data of every assertion."""
        return f"http://{self.host}"


def loopback_sockets(port: int) -> list[socket.socket]:
    """Take a port on every loopback address of this machine.

    Args:
        port: the port; 0 takes one that is free.

    Raises:
        UsageError: somebody has it on one of them; none is kept then.
    """
    first = _taken(socket.AF_INET, "127.0.0.1", port)
    number = int(first.getsockname()[1])
    try:
        return [first, _taken(socket.AF_INET6, "::1", number)]
    except UsageError:
        first.close()
        raise
    except OSError:  # no IPv6 on this machine: then nobody else answers there either
        return [first]


def _taken(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    taken = socket.socket(family, socket.SOCK_STREAM)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family is socket.AF_INET6:
            taken.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        taken.bind((address, port))
        taken.listen(_BACKLOG)
    except OSError as error:
        taken.close()
        if error.errno == errno.EADDRINUSE:
            what = "stop whoever has it (another inbox?), or give another --port, for which passkeys are made anew"
            raise UsageError(f"port {port} of {address} is taken; {what}") from None
        if error.errno == errno.EACCES:
            raise UsageError(f"port {port} is not for this account; give one above 1023 with --port") from None
        raise
    return taken
