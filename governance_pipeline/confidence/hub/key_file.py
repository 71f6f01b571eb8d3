"""The API key: one file of its owner's, and an object that never shows it.

What belongs here: keeping, reading and wrapping the key. What does not: using it (`api`). A key ring would be a new
dependency with a daemon behind it that servers and containers lack, so the key is a file only its owner can open
(decision 0012). Nothing else of this program ever holds the key: not the queue, the log, an answer or a message.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, final

from governance_pipeline.confidence.hub.states import HubRefused
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.trust.owned_files import private_bytes

if TYPE_CHECKING:
    from pathlib import Path

KEY_FILE: Final = "hub.key"
KEY_BYTES: Final = 512
"""Longest key that is taken; those of the public hub have some 45 characters."""

# What may stand in a header as it is: a key with a line feed would end the header, and the library's own message about
# it would quote the whole line.
_FORM: Final = re.compile(r"[A-Za-z0-9._~+/=:-]{8,512}", re.ASCII)


@final
class HubKey:
    """An API key. Its text, representation and pickled form do not exist; only `header` gives it away."""

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        if not isinstance(text, str) or not _FORM.fullmatch(text):
            raise HubRefused(
                "that is no API key: 8 to 512 letters, digits or ._~+/=:- without blanks; copy it again from the hub"
            )
        self.__text = text

    def header(self) -> dict[str, str]:
        """Give the header that authorises a request."""
        return {"Authorization": f"Bearer {self.__text}"}

    def is_in(self, text: str) -> bool:
        """Tell whether a text holds the key."""
        return self.__text in text

    def keep(self, folder: Path) -> None:
        """Write the key to its file, readable by its owner only, replacing the one before.

        Raises:
            StorageError: it could not be written.
        """
        AtomicWriter(folder).write(folder / KEY_FILE, self.__text.encode("ascii") + b"\n")

    def __repr__(self) -> str:
        return "HubKey(…)"

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("a key is never pickled")


def kept_key(folder: Path) -> HubKey:
    """Read the kept key.

    Raises:
        HubRefused: there is none, others than its owner may open the file, or it is none.
    """
    from governance_pipeline.errors import UsageError

    try:
        data = private_bytes(folder / KEY_FILE, "API key", KEY_BYTES + 1)
        return HubKey(data.decode("ascii").strip())
    except (UsageError, UnicodeDecodeError) as error:
        why = str(error) if isinstance(error, UsageError) else "it holds no ASCII text"
        raise HubRefused(f"the API key cannot be used ({why}); `govern confidence hub key` enters it again") from None


def forget_key(folder: Path) -> None:
    """Remove the key file, where there is one."""
    (folder / KEY_FILE).unlink(missing_ok=True)
