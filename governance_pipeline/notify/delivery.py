"""Handing a message to a service, through apprise.

What belongs here: the one call, and what it may not do: follow a redirect, write a file, log an address. What does not:
trying again and recording (`sending`). apprise is imported by a process that sends, and by no other.
"""

from __future__ import annotations

import logging
import re
import warnings
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.notify.message import body_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from apprise import NotifyBase

    from governance_pipeline.notify.outbox import Message
    from governance_pipeline.notify.targets import Target

    Deliver = Callable[[Target, Message], "Outcome"]

TIMEOUT_S: Final = 4.0
"""Seconds to connect, and to wait for an answer: three attempts on a few targets fit into one tick of a sensor."""
IDEMPOTENCY_HEADER: Final = "Idempotency-Key"

_STATUS: Final = re.compile(r"error=(\d{3})\b")


class Outcome(NamedTuple):
    """Whether a service took a message, and the HTTP status it named when it did not."""

    is_sent: bool
    http_status: int | None = None


class _Listener(logging.Handler):
    """Hears what apprise says and keeps the status alone: its sentences may hold an address."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.status: int | None = None

    def emit(self, record: logging.LogRecord) -> None:
        found = _STATUS.search(record.getMessage())
        self.status = int(found[1]) if found else self.status


def deliver(target: Target, message: Message) -> Outcome:
    """Hand a message over, once.

    Raises:
        UsageError: no service is known for the address of the target; says its name and nothing of the address.
    """
    plugin = _plugin(target)
    plugin.socket_connect_timeout = plugin.socket_read_timeout = TIMEOUT_S
    headers = getattr(plugin, "headers", None)  # of plain HTTP services (json, xml, form); others show the id as text
    if isinstance(headers, dict):
        headers[IDEMPOTENCY_HEADER] = message.id
    with _quiet() as listener:
        try:
            is_sent = bool(plugin.notify(body=body_text(message), title=message.title, body_format="text"))
        except Exception:  # noqa: BLE001 - whatever a service's plug-in does, it is an attempt that failed
            is_sent = False
    return Outcome(is_sent, None if is_sent else listener.status)


def _plugin(target: Target) -> NotifyBase:
    with warnings.catch_warnings():  # apprise loads a plug-in for every service there is, old ones among them
        warnings.simplefilter("ignore", DeprecationWarning)
        import apprise

        asset = apprise.AppriseAsset(
            plugin_paths=[],
            secure_logging=True,
            async_mode=False,
            storage_mode=apprise.PersistentStoreMode.MEMORY,
            http_redirects=False,
            interpret_emojis=False,
            app_id="govern",
            app_desc="governance-pipeline",
        )
        with _quiet():
            plugin = apprise.Apprise.instantiate(str(target.address), asset=asset, suppress_exceptions=True)
    if plugin is None:
        raise UsageError(f"target {target.name!r} ({target.scheme}) has an address no service is known for")
    return plugin


class _quiet:  # noqa: N801 - reads as a verb where it is used
    """Keeps what apprise logs away from every log while the block runs."""

    def __enter__(self) -> _Listener:
        self._logger = logging.getLogger("apprise")
        self._before = (self._logger.propagate, self._logger.level)
        self._listener = _Listener()
        self._logger.propagate = False
        self._logger.setLevel(logging.WARNING)
        self._logger.addHandler(self._listener)
        return self._listener

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self._listener)
        self._logger.propagate = self._before[0]
        self._logger.setLevel(self._before[1])
