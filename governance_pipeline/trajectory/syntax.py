"""Bytes of one file -> syntax tree, under bounds: whoever wrote the file is whom the audit is about.

What belongs here: parsing and its limits. What does not: what a tree means (`source_facts`, `symbol_parts`).

A grammar recovers from errors by trying alternatives, and hostile text can make it try for minutes: 90 KB of `a<a<a<`
took 47 s in one of them. So a parse ends after a number of its own progress reports that sound code stays far below,
or after seconds of processor time, whichever comes first; the file is then a gap, like any that cannot be read.
"""

from __future__ import annotations

import time
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import tree_sitter

    from governance_pipeline.trajectory.providers.language import Language

SOURCE_BYTES: Final = 2**20
"""Largest source file that is parsed, 1 MiB: larger ones are generated or data."""

REPORTS_AT_LEAST: Final = 500
BYTES_PER_REPORT: Final = 32
"""A parse may make 500 progress reports and one more per 32 bytes; 2.4 MB of this repository made one per 328."""

CPU_SECONDS: Final = 2.0
"""Processor time of one parse; 1 MiB of sound code takes a quarter of a second."""

_BLOCK: Final = 2**16


class SourceGap(StrEnum):
    """Why a file of a language with a provider was not read, or not whole."""

    TOO_LARGE = "too_large"
    BINARY = "binary"
    TOO_SLOW = "too_slow"
    SYNTAX_ERROR = "syntax_error"
    MISSING = "missing"


class Parsed(NamedTuple):
    """A tree and what is wrong with it: no tree with any gap but a syntax error, which a tree can hold."""

    tree: tree_sitter.Tree | None
    gap: SourceGap | None


def parse(language: Language, source: bytes) -> Parsed:
    """Parse a file; never raises for what is in it."""
    if len(source) > SOURCE_BYTES:
        return Parsed(None, SourceGap.TOO_LARGE)
    if is_binary(source):
        return Parsed(None, SourceGap.BINARY)
    tree = _bounded(language, source)
    if tree is None:
        return Parsed(None, SourceGap.TOO_SLOW)
    return Parsed(tree, SourceGap.SYNTAX_ERROR if tree.root_node.has_error else None)


def is_binary(source: bytes) -> bool:
    """Tell whether bytes are no text: a zero byte, or no UTF-8."""
    if b"\0" in source:
        return True
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _bounded(language: Language, source: bytes) -> tree_sitter.Tree | None:
    import tree_sitter

    most = REPORTS_AT_LEAST + len(source) // BYTES_PER_REPORT
    end = time.thread_time() + CPU_SECONDS
    reports = 0

    def read(offset: int, _point: tree_sitter.Point) -> bytes:
        return source[offset : offset + _BLOCK]

    def is_over(_offset: int, _has_error: bool) -> bool:
        nonlocal reports
        reports += 1
        return reports > most or time.thread_time() > end

    try:
        return tree_sitter.Parser(grammar_of(language)).parse(read, progress_callback=is_over)
    except ValueError:  # what the binding raises for a parse that was ended
        return None


@cache
def grammar_of(language: Language) -> tree_sitter.Language:
    """Give the grammar of a language; loaded once."""
    import tree_sitter

    return tree_sitter.Language(language.grammar())


@cache
def query_of(language: Language) -> tree_sitter.Query:
    """Give the query of a language; compiled once."""
    import tree_sitter

    return tree_sitter.Query(grammar_of(language), language.query)
