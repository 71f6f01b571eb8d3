"""The pages of published reports: one HTML file per digest, held to the rows that name them.

What belongs here: where a page lies, and pages that are missing, changed or nobody's. What does not: making one
(`publication`) and whether a row may be believed (`published`).
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import StorageError
from governance_pipeline.storage.atomic import TEMPORARY_PREFIX
from governance_pipeline.storage.versions import bytes_of
from governance_pipeline.strict.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

REPORTS: Final = "reports"
"""Folder of the lake that keeps reports by their digest."""
REPORT: Final = "published_round_report"
"""The gated asset whose rows name pages."""

_STRANGE: Final = "; find out who wrote it, unless a run died before it wrote the row: execute that run again"


def page_path(digest: str) -> str:
    """Give the place of a page below the root of the lake."""
    return f"{REPORTS}/{digest}.html"


def page_fault(lake_root: Path, row: Mapping[str, object]) -> str | None:
    """Say what is wrong with the page a row of a report names; None when it is the one that was published."""
    digest, path = str(row["html_sha256"]), str(row["html_path"])
    if path != page_path(digest):
        return f"it names the page {path!r}, not {page_path(digest)}"
    try:
        found = sha256_hex(bytes_of(lake_root / path))
    except FileNotFoundError:
        return f"its page {path} is gone; restore it"
    except StorageError as error:
        return f"its page {path} cannot be read ({error})"
    return None if found == digest else f"its page {path} was changed: its bytes have digest {found}; restore it"


def strange_pages(lake_root: Path, named: set[str]) -> Iterator[str]:
    """Give a sentence for everything in the folder of pages that no published report names.

    Args:
        lake_root: root of the lake.
        named: digests of the pages that are named.
    """
    folder = lake_root / REPORTS
    if not os.path.lexists(folder):
        return
    if not stat.S_ISDIR(folder.lstat().st_mode):
        yield f"{REPORTS} is no folder; find out who put it there"
        return
    for entry in sorted(folder.iterdir()):
        is_plain = stat.S_ISREG(entry.lstat().st_mode)
        is_page = is_plain and entry.suffix == ".html" and entry.stem in named
        if not is_page and not (is_plain and entry.name.startswith(TEMPORARY_PREFIX)):
            yield f"{REPORTS}/{entry.name} is no page of a published report{_STRANGE}"
