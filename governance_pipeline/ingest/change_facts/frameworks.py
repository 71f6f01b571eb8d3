"""The table of test frameworks: what a test, a disabled test and an assertion look like in each language.

What belongs here: reading `frameworks.yaml` and which language a path is of. What does not: reading a file with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any, Final

import yaml

FILE: Final = "frameworks.yaml"
_ANY: Final = "(?!)"


@dataclass(frozen=True)
class FragmentPatterns:
    """What single lines of a language mean; each is matched at the first character of the line that is no blank."""

    comment: re.Pattern[str]
    test: re.Pattern[str]
    other: re.Pattern[str]
    suite: re.Pattern[str]
    disabled: re.Pattern[str]
    first: re.Pattern[str]
    assertion: re.Pattern[str]


@dataclass(frozen=True)
class Language:
    """One language of the table.

    Attributes:
        name: as in the table.
        words: its members that are lists of words.
        patterns: its members that are patterns.
        fragment: what single lines mean.
    """

    name: str
    words: dict[str, frozenset[str]] = field(hash=False)
    patterns: dict[str, re.Pattern[str]] = field(hash=False)
    fragment: FragmentPatterns = field(hash=False)

    def may_hold_tests(self, path: str) -> bool:
        """Tell whether a file of this language is one the frameworks look into, by its name or one of its folders."""
        if not self.words["files"] and not self.words["folders"]:
            return True
        folders = path.replace("\\", "/").split("/")[:-1]
        return self.is_named_test(path) or bool(self.words["folders"].intersection(folders))

    def is_named_test(self, path: str) -> bool:
        """Tell whether the name of a file says that it holds tests; a helper in a folder of tests need not."""
        name = path.replace("\\", "/").rpartition("/")[2]
        return any(fnmatchcase(name, glob) for glob in self.words["files"])


def language_of(path: str) -> Language | None:
    """Give the language of a path by its ending; None when the table has none."""
    return _by_extension().get(f".{path.rpartition('.')[2]}" if "." in path.rpartition("/")[2] else "")


def is_test_file(path: str) -> bool:
    """Tell whether tests may be in a file, by its path."""
    language = language_of(path)
    return language is not None and language.may_hold_tests(path)


@cache
def languages() -> tuple[Language, ...]:
    """Give every language of the table."""
    text = (resources.files(__package__) / FILE).read_text("utf-8")
    document: dict[str, Any] = yaml.safe_load(text)
    return tuple(_language(name, entry) for name, entry in document.items() if name != "schema")


@cache
def _by_extension() -> dict[str, Language]:
    return {extension: language for language in languages() for extension in language.words["extensions"]}


def _language(name: str, entry: dict[str, Any]) -> Language:
    words = {key: frozenset(value) for key, value in entry.items() if isinstance(value, list)}
    patterns = {key: re.compile(value) for key, value in entry.items() if isinstance(value, str)}
    given = entry["fragment"]
    lines = {key: re.compile(given.get(key) or _ANY) for key in FragmentPatterns.__dataclass_fields__}
    return Language(name, {"files": frozenset(), "folders": frozenset(), **words}, patterns, FragmentPatterns(**lines))
