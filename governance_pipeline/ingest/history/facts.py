"""What commits did to files, read from the blobs of a repository, and written into the lines of an export.

What belongs here: blobs in, facts out, and their form in `govern/git-log/v1`. What does not: what a fact means
(change_facts). The contents themselves stay in the repository; a fact names the test, package or public name it is
about, so that it can be looked up in the commit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.change_facts.fact import ChangeFact
from governance_pipeline.ingest.change_facts.facts import LARGEST_CONTENT, TOO_LARGE, facts, is_relevant, no_facts
from governance_pipeline.ingest.native.members import (
    UnusableRecord,
    is_text,
    members_of,
    optional_integer,
    optional_text,
    required_text,
)
from governance_pipeline.vocabulary import FactKind

if TYPE_CHECKING:
    import pygit2

NO_BLOB: Final = "0" * 40
"""Id that stands for no file."""
_LISTS: Final = ("removed", "added")


def facts_of_blobs(
    repository: pygit2.Repository, before: str, after: str, path: str, before_path: str
) -> tuple[ChangeFact, ...] | None:
    """Give the facts of one changed file, None where nothing is asked of it; `NO_BLOB` stands for no file.

    Raises:
        KeyError: a blob is not in the repository.
    """
    if not is_relevant(path) and not is_relevant(before_path):
        return None
    if before == after == NO_BLOB:
        return ()
    sizes = [repository[blob].size for blob in (before, after) if blob != NO_BLOB]  # type: ignore[attr-defined]
    if max(sizes, default=0) > LARGEST_CONTENT:
        return tuple(no_facts(path, TOO_LARGE))
    contents = [None if blob == NO_BLOB else repository[blob].data for blob in (before, after)]  # type: ignore[attr-defined]
    return tuple(facts(contents[0], contents[1], path, before_path))


def fact_members(fact: ChangeFact) -> dict[str, Any]:
    """Write a fact as a member of a line; what it lacks is left out."""
    written: dict[str, Any] = {"kind": str(fact.kind), "subject": fact.subject}
    written |= {name: value for name, value in (("before", fact.before), ("after", fact.after)) if value is not None}
    written |= {name: list(getattr(fact, name)) for name in _LISTS if getattr(fact, name)}
    return written | ({} if fact.file_line is None else {"line": fact.file_line})


def read_facts(value: Any) -> tuple[ChangeFact, ...] | None:
    """Read the facts of a file of a line; None when the line has none: nobody looked at the contents.

    Raises:
        UnusableRecord: a member has a value it cannot have.
    """
    if value is None:
        return None
    if not isinstance(value, list):
        raise UnusableRecord("bad_facts")
    return tuple(map(_fact, value))


def _fact(value: Any) -> ChangeFact:
    members = members_of(value)
    kind = required_text(members, "kind")
    if kind not in set(FactKind):
        raise UnusableRecord("bad_facts")
    return ChangeFact(
        FactKind(kind),
        required_text(members, "subject"),
        optional_text(members, "before"),
        optional_text(members, "after"),
        _texts(members.get("removed")),
        _texts(members.get("added")),
        optional_integer(members, "line", at_least=1),
    )


def _texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(map(is_text, value)):
        raise UnusableRecord("bad_facts")
    return tuple(value)
