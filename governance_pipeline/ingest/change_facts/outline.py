"""The tests of one file, and what became of them in another version of it.

What belongs here: the shape and the comparison, for every language. What does not: reading a language.

A test counts as gone only when nothing carries it on. It is carried on by a test of the same name in the round (the
detectors see to that) or, within one change, by a test that came or grew and holds at least half of its assertions,
half of its statements, or is alike by its name. An assertion that was rewritten, merged into another or
moved is not removed. Thresholds: half, the share at which git calls two files one renamed file.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.fact import ChangeFact, short, sorted_digests
from governance_pipeline.strict.name_words import alike
from governance_pipeline.vocabulary import FactKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

CARRIED_SHARE: Final = 0.5
"""Share of assertions, statements or words two tests must have in common to be one."""

WHOLE_FILE: Final = "(whole file)"
"""Subject of a marker that disables every test of a file."""

_WORD: Final = re.compile(r"[A-Za-z_]\w*|\d+")
_HOW: Final = re.compile(
    r"_*(?:assert|expect|check|verify|ensure|should|fail|require|to[A-Z]|equal)\w*|self|none|true|false|null|not",
    re.IGNORECASE,
)
"""Words that say how something is asserted, not what."""


@dataclass
class TestCase:
    """One test, or the suite around some.

    Attributes:
        name: its name with those of the suites around it.
        line: where it begins, from 1.
        marker: what disables it; None when it runs.
        assertions: text of each assertion.
        statements: text of each line or statement.
        is_suite: it only holds tests.
        is_helper: it is no test but a function tests may call.
    """

    __test__ = False

    name: str
    line: int
    marker: str | None = None
    assertions: list[str] = field(default_factory=list)
    statements: set[str] = field(default_factory=set)
    is_suite: bool = False
    is_helper: bool = False


Outline = dict[str, TestCase]
"""Name -> test or suite, in the order of the file."""


def put(outline: Outline, case: TestCase) -> None:
    """Add a test under its name, or under the next free one when there are several of that name."""
    name, count = case.name, 1
    while case.name in outline:
        count += 1
        case.name = f"{name}#{count}"
    outline[case.name] = case


def compare(before: Mapping[str, TestCase], after: Mapping[str, TestCase]) -> Iterator[ChangeFact]:
    """Tell what became of the tests of a file, in the order of their names.

    A disabled suite is one fact, not one for each of its tests. A test whose mark goes while its function stays is
    gone, unless a test calls it now; a function that gets the mark is a test that came.
    """
    gone = [case for name, case in before.items() if _is_test(case) and not _is_test_in(after, name)]
    gone = [case for case in gone if case.name not in after or not _is_called(case, before, after)]
    new = [case for name, case in after.items() if _is_test(case) and not _is_test_in(before, name)]
    both = [
        (case, after[name])
        for name, case in before.items()
        if name in after and not case.is_helper and not after[name].is_helper
    ]
    helpers = [_last(name) for name, case in after.items() if name not in before and case.is_helper]
    grown = [(then, surplus(now.assertions, then.assertions)) for then, now in both if not then.is_suite]
    carriers = [(case.name, case.assertions, case.statements) for case in new]
    carriers += [(case.name, texts, set()) for case, texts in grown if texts]
    for case in sorted(gone, key=lambda case: case.name):
        if not any(_carries(case, *carrier) for carrier in carriers):
            yield _fact(FactKind.TEST_REMOVED, case, removed=case.assertions)
    for case in sorted(new, key=lambda case: case.name):
        yield _fact(FactKind.TEST_ADDED, case, added=case.assertions)
    for then, now in sorted(both, key=lambda pair: pair[0].name):
        yield from _same_test(then, now, helpers)


def _is_test(case: TestCase) -> bool:
    return not case.is_suite and not case.is_helper


def _is_test_in(outline: Mapping[str, TestCase], name: str) -> bool:
    return name in outline and not outline[name].is_helper


def _is_called(case: TestCase, before: Mapping[str, TestCase], after: Mapping[str, TestCase]) -> bool:
    """Tell whether a test calls what was one itself, and did not before."""
    call = f"{_last(case.name)}("
    return any(
        call in statement
        for name, other in after.items()
        if _is_test(other)
        for statement in other.statements - (before[name].statements if name in before else set())
    )


def _same_test(then: TestCase, now: TestCase, helpers: Sequence[str]) -> Iterator[ChangeFact]:
    if then.marker is None and now.marker is not None:
        yield ChangeFact(FactKind.TEST_DISABLED, short(now.name), None, short(now.marker), file_line=now.line)
    if then.marker is not None and now.marker is None:
        yield ChangeFact(FactKind.TEST_ENABLED, short(now.name), short(then.marker), None, file_line=now.line)
    gone, came = surplus(then.assertions, now.assertions), surplus(now.assertions, then.assertions)
    removed, added = unabsorbed(gone, came)
    is_anew = bool(came) and len(gone) == len(then.assertions)
    fresh = "\n".join(now.statements - then.statements)
    if is_anew or any(f"{name}(" in fresh for name in helpers):
        removed = []  # the test was written anew, or asserts through a helper that came with the change
    if removed or added:
        yield ChangeFact(
            FactKind.ASSERTIONS_CHANGED,
            short(now.name),
            removed=sorted_digests(removed),
            added=sorted_digests(added),
            before=short(removed[0]) if removed else None,
            file_line=now.line,
        )


def _fact(kind: FactKind, case: TestCase, removed: Iterable[str] = (), added: Iterable[str] = ()) -> ChangeFact:
    return ChangeFact(
        kind, short(case.name), removed=sorted_digests(removed), added=sorted_digests(added), file_line=case.line
    )


def surplus(left: Iterable[str], right: Iterable[str]) -> list[str]:
    """Texts of `left` that `right` does not have as often, blanks left out, in their order."""
    rest = Counter("".join(text.split()) for text in right)
    kept = []
    for text in left:
        key = "".join(text.split())
        if rest[key]:
            rest[key] -= 1
        else:
            kept.append(text)
    return kept


def unabsorbed(removed: list[str], added: list[str]) -> tuple[list[str], list[str]]:
    """Leave out the assertions that were rewritten, or merged into one.

    Each that came takes the place of any whose words it mostly holds; what is left takes the place of one each.

    Returns:
        those that nothing takes the place of, and those that take the place of none.
    """
    words = [_what(text) for text in added]
    used = [False] * len(added)
    rest = []
    for text in removed:
        own = _what(text)
        alike = [at for at, other in enumerate(words) if own and len(own & other) / len(own) >= CARRIED_SHARE]
        if not alike:
            rest.append(text)
            continue
        used[next((at for at in alike if not used[at]), alike[0])] = True
    free = [text for text, is_used in zip(added, used, strict=True) if not is_used]
    replaced = min(len(rest), len(free))
    return rest[replaced:], free[replaced:]


def _what(text: str) -> set[str]:
    return {word for word in _WORD.findall(text) if not _HOW.fullmatch(word)}


def _carries(case: TestCase, name: str, assertions: Iterable[str], statements: set[str]) -> bool:
    if case.assertions and assertions:
        kept = len(case.assertions) - len(surplus(case.assertions, assertions))
        if kept / len(case.assertions) >= CARRIED_SHARE:
            return True
    if statements and case.statements:
        common = len(case.statements & statements)
        if common / max(1, len(case.statements | statements)) >= CARRIED_SHARE:
            return True
    return alike(_last(case.name), _last(name))


def _last(name: str) -> str:
    return name.rpartition(" > ")[2].rpartition(".")[2]
