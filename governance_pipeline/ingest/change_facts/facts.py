"""What a change to one file did: from its whole content before and after, or from the parts a log shows.

What belongs here: which reader answers which question about which file. What does not: the readers, and where contents
come from (edit). Pure functions of bytes. What cannot be judged is said (`unjudged`), never guessed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.ingest.change_facts.dependency import compare_dependencies
from governance_pipeline.ingest.change_facts.fact import ChangeFact, unjudged
from governance_pipeline.ingest.change_facts.fragment_outline import fragment_outline
from governance_pipeline.ingest.change_facts.frameworks import is_test_file, language_of
from governance_pipeline.ingest.change_facts.manifests import reader_of, reads_lines
from governance_pipeline.ingest.change_facts.outline import WHOLE_FILE, Outline, compare
from governance_pipeline.ingest.change_facts.parsing import is_parsed, parse_state, python_tree
from governance_pipeline.ingest.change_facts.python_manifests import (
    UnreadableManifestError,
    is_generated,
    read_requirements,
)
from governance_pipeline.ingest.change_facts.python_outline import python_outline
from governance_pipeline.ingest.change_facts.signatures import compare_signatures, public_names
from governance_pipeline.ingest.change_facts.tree_interface import has_tree_interface, tree_signature_facts
from governance_pipeline.ingest.change_facts.tree_outline import tree_outline
from governance_pipeline.vocabulary import ChangeAspect, FactKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LARGEST_CONTENT: Final = 2**20
"""Bytes of the largest file that is read for facts: a source file of 20,000 lines; a syntax tree takes 100 times it."""

TOO_LARGE: Final = "too_large"
NOT_PARSED: Final = "not_parsed"
NOT_READ: Final = "unreadable_manifest"
ONLY_PART: Final = "only_part_shown"
CLIPPED: Final = "part_inside_a_text"
NO_CONTENT: Final = "no_content"


class Part(NamedTuple):
    """A part of a file that was replaced: whole lines before and after, and the line a diff shows above them."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    context: str = ""


def facts(before: bytes | None, after: bytes | None, path: str, before_path: str | None = None) -> list[ChangeFact]:
    """Tell what a change did to a file whose whole content is known.

    Args:
        before: its content before; None when there was no such file.
        after: its content after; None when it was deleted.
        path: its path, after a rename the new one; the language, and whether tests may be in it, follow from it.
        before_path: its path before a rename.
    """
    if before == after and before_path in (None, path):
        return []
    if max(len(before or b""), len(after or b"")) > LARGEST_CONTENT:
        return no_facts(path, TOO_LARGE)
    old = before_path or path
    found = list(parse_state(before, after, path))
    found += _test_facts(before, after, old, path)
    found += _signature_facts(before, after, path)
    found += _dependency_facts(before, after, old, path)
    return found


def part_facts(parts: Sequence[Part], path: str) -> list[ChangeFact]:
    """Tell what a change did to a file of which only the replaced parts are known."""
    found = [unjudged(ChangeAspect.PARSING, ONLY_PART)] if is_parsed(path) else []
    found += [unjudged(ChangeAspect.SIGNATURES, ONLY_PART)] if _has_signatures(path) else []
    language = language_of(path)
    if language is not None and is_test_file(path):
        before: Outline = {}
        after: Outline = {}
        for number, part in enumerate(parts):
            then = fragment_outline(part.before, language, part.context)
            now = fragment_outline(part.after, language, part.context)
            if then is None or now is None:
                found.append(unjudged(ChangeAspect.TESTS, CLIPPED))
                continue
            _merge(before, then, number)
            _merge(after, now, number)
        found += compare(before, after)
    if reader_of(path) is not None:
        found += _line_dependencies(parts, path)
    return found


@lru_cache(maxsize=4096)
def _questions(path: str) -> tuple[ChangeAspect, ...]:
    aspects = [ChangeAspect.PARSING] if is_parsed(path) else []
    aspects += [ChangeAspect.TESTS] if is_test_file(path) else []
    aspects += [ChangeAspect.SIGNATURES] if _has_signatures(path) else []
    aspects += [ChangeAspect.DEPENDENCIES] if reader_of(path) is not None else []
    return tuple(aspects)


def _has_signatures(path: str) -> bool:
    return has_tree_interface(path) or (path.endswith(".py") and not is_test_file(path))


def no_facts(path: str, reason: str) -> list[ChangeFact]:
    """Say of every question the path raises that it cannot be answered."""
    return [unjudged(aspect, reason) for aspect in _questions(path)]


def _merge(whole: Outline, part: Outline, number: int) -> None:
    """Put the tests of one part beside those of the others; what has no name is told apart by its part."""
    for name, case in part.items():
        key = f"{name}@{number}" if name.startswith("(") else name
        if key in whole:
            whole[key].assertions += case.assertions
            whole[key].statements |= case.statements
            whole[key].marker = whole[key].marker or case.marker
        else:
            whole[key] = case


def _test_facts(before: bytes | None, after: bytes | None, old: str, path: str) -> Iterator[ChangeFact]:
    if not is_test_file(path) and not is_test_file(old):
        return
    then = _outline(before, old) if is_test_file(old) else {}
    now = _outline(after, path) if is_test_file(path) else {}
    language = language_of(old)
    if then is None and after is None and language is not None and language.is_named_test(old):
        yield ChangeFact(FactKind.TEST_REMOVED, WHOLE_FILE)
    elif then is None or now is None:
        yield unjudged(ChangeAspect.TESTS, NOT_PARSED)
    else:
        yield from compare(then, now)


@lru_cache(maxsize=32)
def _outline(content: bytes | None, path: str) -> Outline | None:
    language = language_of(path)
    if content is None or language is None:
        return {}
    if language.name != "python":
        return tree_outline(content, language, path)
    tree = python_tree(content)
    try:
        return None if tree is None else python_outline(tree, language)
    except RecursionError:  # a chain of attributes or operators longer than what writes it again can follow
        return None


def _signature_facts(before: bytes | None, after: bytes | None, path: str) -> Iterator[ChangeFact]:
    if has_tree_interface(path):
        yield from tree_signature_facts(before, after, path)
    elif _has_signatures(path) and before is not None:
        yield from _python_signatures(before, after)


def _python_signatures(before: bytes, after: bytes | None) -> Iterator[ChangeFact]:
    then, now = python_tree(before), python_tree(after or b"")
    names = None if then is None else public_names(then)
    others = None if now is None else public_names(now)
    if names is None or others is None:
        yield unjudged(ChangeAspect.SIGNATURES, NOT_PARSED)
        return
    yield from compare_signatures(names, others)


def _dependency_facts(before: bytes | None, after: bytes | None, old: str, path: str) -> Iterator[ChangeFact]:
    read, read_before = reader_of(path), reader_of(old)
    if read is None and read_before is None:
        return
    try:
        texts = [None if content is None else content.decode() for content in (before, after)]
        if reads_lines(path) and any(text is not None and is_generated(text) for text in texts):
            return
        then = read_before(texts[0]) if texts[0] is not None and read_before is not None else {}
        now = read(texts[1]) if texts[1] is not None and read is not None else {}
    except (UnreadableManifestError, UnicodeDecodeError):
        yield unjudged(ChangeAspect.DEPENDENCIES, NOT_READ)
        return
    yield from compare_dependencies(then, now)


def _line_dependencies(parts: Sequence[Part], path: str) -> Iterator[ChangeFact]:
    if not reads_lines(path):
        yield unjudged(ChangeAspect.DEPENDENCIES, ONLY_PART)
        return
    then = read_requirements("\n".join(line for part in parts for line in part.before))
    now = read_requirements("\n".join(line for part in parts for line in part.after))
    yield from (fact._replace(file_line=None) for fact in compare_dependencies(then, now))


def is_relevant(path: str) -> bool:
    """Tell whether any question is asked of a file at this path."""
    return bool(_questions(path))


__all__ = ["ChangeFact", "FactKind", "Part", "facts", "is_relevant", "no_facts", "part_facts"]
