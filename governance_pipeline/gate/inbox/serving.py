"""Serving the inbox until somebody stops it.

What belongs here: the web server and its bounds. What does not: addresses (`site`) and pages (`application`).
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import socket

    import uvicorn

HEAD_BYTES: Final = 16 * 1024
"""Largest head of a request."""
MOST_REQUESTS: Final = 64
"""Requests at once; one person has a few tabs."""
GRACE_S: Final = 3
"""How long answers in progress may take once the server is told to stop."""


def server(application: Any) -> uvicorn.Server:
    """Give a server for an application: no proxy is believed, no web sockets, nothing said of itself."""
    import uvicorn

    return uvicorn.Server(
        uvicorn.Config(
            application, log_config=None, access_log=False, server_header=False, proxy_headers=False, ws="none",
            lifespan="off", http="h11", loop="asyncio", h11_max_incomplete_event_size=HEAD_BYTES,
            limit_concurrency=MOST_REQUESTS, timeout_graceful_shutdown=GRACE_S,
        )
    )  # fmt: skip


def serve(serving: uvicorn.Server, sockets: list[socket.socket]) -> None:
    """Serve on sockets until the process is interrupted, or `serving.should_exit` is set; gives the sockets back."""
    try:
        with suppress(KeyboardInterrupt):  # what Ctrl-C asks for has happened by then
            asyncio.run(serving.serve(sockets))
    finally:
        for taken in sockets:
            taken.close()
