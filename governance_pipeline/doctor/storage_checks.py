"""Can be written where it must: lake and ledger on a local disk with room, and nobody else's to write.

What belongs here: the folders. What does not: what is in them.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Final

from governance_pipeline.doctor.finding import Finding, Health
from governance_pipeline.errors import StorageError
from governance_pipeline.storage.lock import refuse_network

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from governance_pipeline.doctor.finding import Patient

LEAST_BYTES: Final = 200 * 2**20
"""Below this nothing should be begun: one large round needs as much for its copies and tables."""
FEW_BYTES: Final = 2 * 2**30
"""Below this somebody should make room."""

_MIB: Final = 2**20
_OTHERS_WRITE: Final = 0o022


def disks_have_room(patient: Patient) -> Iterator[Finding]:
    """Look at the folders of lake and ledger: there, local, writable, with room, and their owner's alone."""
    places = {"lake": patient.lake.root}
    if patient.verifier is not None:
        places["ledger"] = patient.verifier.config.ledger.parent
    for name, place in places.items():
        if not place.is_dir():
            message = "there is no such folder yet; the first audit that is kept makes it"
            yield Finding("disk", Health.OFF, f"{name} {place}", message, "govern audit --keep, or a run in Dagster")
        else:
            yield from _folder(name, place)


def _folder(name: str, place: Path) -> Iterator[Finding]:
    subject = f"{name} {place}"
    try:
        refuse_network(place)
    except StorageError as error:
        yield Finding("disk", Health.FAIL, subject, str(error), "move it to a local disk")
    if not os.access(place, os.W_OK | os.X_OK):
        yield Finding("permissions", Health.FAIL, subject, "this user cannot write there", f"chown or chmod {place}")
    status = place.stat()
    if status.st_mode & _OTHERS_WRITE:
        message = f"others may write there (mode {status.st_mode & 0o777:o}), and so exchange what is stored"
        yield Finding("permissions", Health.WARN, subject, message, f"chmod go-w {place}")
    free = shutil.disk_usage(place).free
    message = f"{free // _MIB} MiB are free"
    if free < LEAST_BYTES:
        yield Finding("disk", Health.FAIL, subject, message, "make room before the next run")
    elif free < FEW_BYTES:
        yield Finding("disk", Health.WARN, subject, message, "make room")
    else:
        yield Finding("disk", Health.OK, subject, message)
