"""Whether a file parses: Python, JSON and TOML, whose parsers are exact.

What belongs here: the question and what may be said. What does not: other languages; a grammar of tree-sitter that does
not know a construct is no proof of an error. Python is asked twice: what this interpreter refuses but the grammar
reads (a newer syntax, Python 2) is unknown, not broken. JSON with comments is no JSON, so only a file that was JSON
before can stop being it, or one whose name says that a tool will read it.
"""

from __future__ import annotations

import ast
import json
import tomllib
import warnings
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import RecordRefused
from governance_pipeline.ingest.change_facts.fact import ChangeFact, short, unjudged
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.vocabulary import ChangeAspect, FactKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Parser

DEEPEST_BRACKETS: Final = 150
"""Open brackets one inside the other that are read: below the 200 at which CPython's tokenizer gives up, so that no
tree is deeper than what walks it."""

UNKNOWN_DIALECT: Final = "dialect_unknown"
NOT_UTF8: Final = "not_utf8"
SUBJECT: Final = "file"
_ENDINGS: Final = (".py", ".json", ".toml")
_STRICT_JSON: Final = frozenset({"package.json", "composer.json"})
_OPENING: Final = frozenset(b"([{")
_CLOSING: Final = frozenset(b")]}")


def is_parsed(path: str) -> bool:
    """Tell whether files at this path are parsed."""
    return path.endswith(_ENDINGS)


def parse_state(before: bytes | None, after: bytes | None, path: str) -> Iterator[ChangeFact]:
    """Tell whether a file that was written parses; a file that did not before is not blamed on the change."""
    if after is None or not is_parsed(path):
        return
    error = _error(after, path)
    if error is None:
        yield ChangeFact(FactKind.PARSED, SUBJECT)
    elif error in (UNKNOWN_DIALECT, NOT_UTF8):
        yield unjudged(ChangeAspect.PARSING, error)
    elif before is not None and not _did_parse(before, path):
        yield unjudged(ChangeAspect.PARSING, "not_parsed_before")
    elif path.endswith(".json") and before is None and path.rpartition("/")[2] not in _STRICT_JSON:
        yield unjudged(ChangeAspect.PARSING, UNKNOWN_DIALECT)
    else:
        line = _line_of(after) if path.endswith(".py") else None
        yield ChangeFact(FactKind.PARSE_FAILED, SUBJECT, None, short(error), file_line=line)


def _did_parse(before: bytes, path: str) -> bool:
    """Tell whether a file parsed before; JSON that a reader only refuses for what it says was JSON all the same."""
    error = _error(before, path)
    return error is None or (error == UNKNOWN_DIALECT and path.endswith(".json") and _is_json(before))


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content.decode("utf-8-sig"), parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True


@lru_cache(maxsize=32)
def python_tree(content: bytes) -> ast.Module | None:
    """Parse a Python file; None when it does not parse, or is too deep to be looked at."""
    parsed = _python(content)
    return parsed if isinstance(parsed, ast.Module) else None


@lru_cache(maxsize=32)
def _python(content: bytes) -> ast.Module | SyntaxError | None:
    """Parse; None when nobody can tell."""
    if _is_too_deep(content):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape is the author's business
        try:
            return ast.parse(content)
        except SyntaxError as error:
            return error
        except (ValueError, RecursionError, MemoryError, UnicodeError):
            return None


def _error(content: bytes, path: str) -> str | None:
    if path.endswith(".py"):
        return _python_error(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return NOT_UTF8
    try:
        if path.endswith(".json"):
            parse_json(text.encode())
        else:
            tomllib.loads(text)
    except RecordRefused as refusal:
        return str(refusal) if refusal.code in _BROKEN_JSON else UNKNOWN_DIALECT
    except tomllib.TOMLDecodeError as error:
        return str(error)
    except RecursionError:
        return UNKNOWN_DIALECT
    return None


_BROKEN_JSON: Final = frozenset({"malformed_json", "trailing_data", "empty"})


def _python_error(content: bytes) -> str | None:
    parsed = _python(content)
    if isinstance(parsed, ast.Module):
        return None
    is_in_every_dialect = isinstance(parsed, IndentationError) and not isinstance(parsed, TabError)
    if parsed is None or not (is_in_every_dialect or _grammar_refuses(content)):
        return UNKNOWN_DIALECT
    return f"line {parsed.lineno}: {parsed.msg}"


def _line_of(content: bytes) -> int | None:
    parsed = _python(content)
    return parsed.lineno if isinstance(parsed, SyntaxError) and (parsed.lineno or 0) > 0 else None


def _grammar_refuses(content: bytes) -> bool:
    """Ask the grammar, which also reads Python 2 and syntax newer than this interpreter."""
    return _grammar().parse(content).root_node.has_error


@cache
def _grammar() -> Parser:
    import tree_sitter
    import tree_sitter_python

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))


def _is_too_deep(content: bytes) -> bool:
    depth = 0
    for byte in content.translate(None, delete=_OTHERS):
        depth = depth + 1 if byte in _OPENING else max(0, depth - 1)
        if depth > DEEPEST_BRACKETS:
            return True
    return False


_OTHERS: Final = bytes(byte for byte in range(256) if byte not in _OPENING | _CLOSING)
