"""What a stored table was made with, and the question that is asked before something made otherwise takes its place.

What belongs here: the stamp a pointer carries, and when the question is due. What does not: what goes into the stamp
and who may say yes (`framework.reprocessing`); storage knows neither code nor people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class InForce(NamedTuple):
    """What a pointer names: digest of the file, and the stamp of what made it; None where nobody has said."""

    digest: str
    made_by: str | None


class Making(NamedTuple):
    """What stores a table: its stamp (64 hex digits), and the question before other bytes made otherwise are replaced.

    `before_replacing` gets the table and the stamp that is replaced, and raises when it must stay.
    """

    made_by: str
    before_replacing: Callable[[str, str | None], None]

    def ask(self, table: str, in_force: InForce | None, digest: str) -> None:
        """Ask the question if it is due: there is something, it has other bytes, and it was made otherwise.

        Raises:
            Whatever the question raises; nothing may be written then.
        """
        if in_force is not None and in_force.digest != digest and in_force.made_by != self.made_by:
            self.before_replacing(table, in_force.made_by)
