"""The allow-list of a governed folder: what agents may do without asking, parsed and held to its columns.

What belongs here: the two tables of `agent_allowlist.md` as typed rows, and which rows count at a moment. What does
not: the critical list, which no row of this file replaces (`critical_actions`), and the answer (`authorize`). A row
that cannot be checked is a fault of the whole file, and a faulty file allows nothing. Source: spec/framework.md §5.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import Fault, FaultyFileError
from governance_pipeline.framework.allowlist_tables import STANDING, TEMPORARY, TableRow, read_tables
from governance_pipeline.framework.folder import ALLOWLIST
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import open_regular
from governance_pipeline.trust.instants import instant_of, instant_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from governance_pipeline.framework.folder import GovernedFolder

ALLOWLIST_BYTES: Final = 1024 * 1024
"""Largest allow-list that is read; the template has 2 KiB."""
ANY: Final = "*"
"""Scope or agent that stands for every one."""

ACTION: Final = re.compile(r"[a-z][a-z0-9_]{0,79}", re.ASCII)
"""What names an action: lower-case letters, digits and underscores."""

_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_CLOSING_PATH: Final = re.compile(r"`([^`]+)`")
_BELOW: Final = "/**"
_NO_REASON: Final = "the reason is empty; say why, so that somebody can tell when it is no longer needed"


class Standing(StrEnum):
    """Whether a row counts: only an active one allows anything."""

    ACTIVE = "active"
    NOT_STARTED = "not_started"
    EXPIRED = "expired"
    CLOSED = "closed"


class Permission(NamedTuple):
    """One row of the allow-list.

    Attributes:
        line: physical line in the file, from 1.
        agent: who may; `*` for every agent.
        action: what.
        scope: on what, exactly; `FOLDER/**` for everything below a folder, `*` for everything.
        why: the reason.
        start: from when (UTC); None for a permanent row.
        end: until when, exclusive (UTC); None where only a closing condition ends it, or nothing does.
        closes_with: path below the project whose existence closes it; None when there is none.
        is_temporary: it stands in the table of temporary extensions.
    """

    line: int
    agent: str
    action: str
    scope: str
    why: str
    start: datetime | None = None
    end: datetime | None = None
    closes_with: str | None = None
    is_temporary: bool = False

    def covers(self, agent: str, action: str, scope: str | None) -> bool:
        """Tell whether the row is about this agent, action and scope; an action without a scope needs scope `*`."""
        if self.agent not in (ANY, agent) or self.action != action:
            return False
        if self.scope == ANY or scope is None:
            return self.scope == ANY
        below = self.scope.removesuffix(_BELOW)
        is_below = below != self.scope and scope.startswith(f"{below}/") and ".." not in scope.split("/")
        return scope == self.scope or is_below

    def standing(self, now: datetime, root: Path) -> Standing:
        """Tell whether the row counts now.

        Args:
            now: the time.
            root: the governed folder, below which the closing path is looked for.
        """
        if self.start is not None and now < self.start:
            return Standing.NOT_STARTED
        if self.end is not None and now >= self.end:
            return Standing.EXPIRED
        if self.closes_with is not None and _is_there(root / self.closes_with):
            return Standing.CLOSED
        return Standing.ACTIVE

    @property
    def words(self) -> str:
        """The row in words, for an answer or a report."""
        until = [] if self.end is None else [instant_text(self.end)]
        until += [] if self.closes_with is None else [f"{self.closes_with} exists"]
        window = f" until {' or '.join(until)}" if until else ""
        kind = "temporary extension" if self.is_temporary else "standing permission"
        return f"{kind} in line {self.line} of {ALLOWLIST}: {self.agent} may {self.action} on {self.scope}{window}"


class Allowlist(NamedTuple):
    """Every row of an allow-list, in the order of the file."""

    rows: tuple[Permission, ...]

    def active(self, now: datetime, root: Path) -> list[Permission]:
        """Give the rows that count now."""
        return [row for row in self.rows if row.standing(now, root) is Standing.ACTIVE]

    def inactive(self, now: datetime, root: Path) -> list[tuple[Permission, Standing]]:
        """Give the extensions that are over, with why: they allow nothing, and somebody should remove them."""
        found = [(row, row.standing(now, root)) for row in self.rows]
        return [(row, standing) for row, standing in found if standing in (Standing.EXPIRED, Standing.CLOSED)]


def load_allowlist(folder: GovernedFolder) -> Allowlist:
    """Read the allow-list of a governed folder.

    Raises:
        FileRefused: it is missing, a link, or cannot be read.
        FaultyFileError: it is no UTF-8 text, a table is missing, or a row cannot be used; every fault with its line.
    """
    with open_regular(folder.path(ALLOWLIST)) as stream:
        data = stream.read(ALLOWLIST_BYTES + 1)
    if len(data) > ALLOWLIST_BYTES:
        raise FaultyFileError(ALLOWLIST, [Fault("too_large", None, f"more than {ALLOWLIST_BYTES} bytes")])
    try:
        return allowlist_of(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise FaultyFileError(ALLOWLIST, [Fault("not_utf8", None, f"byte {error.start} is no UTF-8")]) from None


def allowlist_of(text: str) -> Allowlist:
    """Parse the text of an allow-list, in English or Spanish.

    Raises:
        FaultyFileError: a table is missing, or a row cannot be used; every fault with its line.
    """
    faults: list[Fault] = []
    tables = read_tables(text, faults)
    rows = list(_rows(tables[STANDING], faults)) + list(_rows(tables[TEMPORARY], faults))
    if faults:
        raise FaultyFileError(ALLOWLIST, sorted(faults, key=lambda fault: fault.line or 0))
    return Allowlist(tuple(rows))


def _rows(cut: Iterable[TableRow], faults: list[Fault]) -> Iterable[Permission]:
    for row in cut:
        try:
            yield _permission(row)
        except ValueError as error:
            faults.append(Fault("unusable_row", row.line, str(error)))


def _permission(row: TableRow) -> Permission:
    """Make a permission of the cells of a row.

    Raises:
        ValueError: a cell is empty or cannot be checked; says what would do.
    """
    agent, action, scope = (row.cells[name].strip("`") for name in ("agent", "action", "scope"))
    if not agent:
        raise ValueError("the agent is empty; name one, or * for every agent")
    if not ACTION.fullmatch(action):
        raise ValueError(f"{excerpt(action, 60)!r} names no action; use lower-case letters, digits and underscores")
    if not scope:
        raise ValueError("the scope is empty; say on what exactly, or * for everything")
    if not row.cells["why"]:
        raise ValueError(_NO_REASON)
    plain = Permission(row.line, agent, action, scope, row.cells["why"])
    if "start" not in row.cells:
        return plain
    start, _ = _window(row.cells["start"], "start")
    end, closes_with = _end(row.cells["end"])
    if end is not None and end <= start:
        raise ValueError(f"it ends before it starts ({row.cells['start']} → {row.cells['end']})")
    return plain._replace(start=start, end=end, closes_with=closes_with, is_temporary=True)


def _end(text: str) -> tuple[datetime | None, str | None]:
    """Read the end of an extension: a day, an instant, a path whose existence closes it, or a time and a path.

    Raises:
        ValueError: nothing of it can be checked.
    """
    found = _CLOSING_PATH.search(text)
    path = None if found is None else found.group(1)
    if path is not None and (path.startswith("/") or ".." in path.split("/")):
        raise ValueError(f"the closing path {excerpt(path, 60)!r} leaves the project; name one below it")
    day = re.search(r"\d{4}-\d\d-\d\d\S*", _CLOSING_PATH.sub("", text))
    if day is None and path is None:
        raise ValueError(
            f"{excerpt(text, 60)!r} cannot be checked; an extension ends at a day (2026-12-01), at an instant "
            "(2026-12-01T06:00:00Z), or when a file exists (`03_state/checkpoints/NIGHT_COMPLETED.json`)"
        )
    return (None if day is None else _window(day.group(0), "end")[1]), path


def _window(text: str, what: str) -> tuple[datetime, datetime]:
    """Give the first instant of a day or instant, and the first one after it.

    Raises:
        ValueError: it is neither.
    """
    try:
        if _DAY.fullmatch(text):
            start = datetime.fromisoformat(text).replace(tzinfo=UTC)
            return start, start + timedelta(days=1)
        instant = instant_of(text)
    except (ValueError, OverflowError):  # the last day of the calendar has no day after it
        raise ValueError(
            f"the {what} {excerpt(text, 40)!r} is no day (2026-12-01) and no instant (2026-12-01T06:00:00Z)"
        ) from None
    return instant, instant


def _is_there(path: Path) -> bool:
    """Tell whether something lies at a closing path; what cannot be looked at counts as there, and closes."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):  # no rights, a name too long, a NUL: nobody can tell, so nothing is allowed
        return True
    return True
