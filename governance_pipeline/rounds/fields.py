"""Typed values out of one table of a contract, each either sound or a fault with its line.

What belongs here: the kinds of values a round contract is made of and what is wrong with one. What does not: which
keys exist (`rounds.load`) and rules between them. Nothing is coerced: true is no integer, 1.0 is no integer, "1" is
no number. A value that has a fault is read as if it were absent, so that all faults of a document come out at once;
whoever assembles a contract does so only when there is none.
"""

from __future__ import annotations

import difflib
import math
from typing import TYPE_CHECKING, Any, TypeVar

from governance_pipeline.errors import Fault
from governance_pipeline.rounds.globs import glob_fault
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import StrEnum

    from governance_pipeline.rounds.toml_text import TomlText

    Place = tuple[str | int, ...]
    Choice = TypeVar("Choice", bound=StrEnum)

INTEGER_MIN, INTEGER_MAX = -(2**63), 2**63 - 1
"""Range of a TOML 1.0 integer, which Python's reader does not enforce."""

_TYPE_NAMES = {
    bool: "a boolean",
    int: "an integer",
    float: "a float",
    str: "a text",
    list: "a list",
    dict: "a table",
}
_QUOTED = 80  # characters of a value shown in a message


class TableReader:
    """One table being read. Every key asked for becomes known; `refuse_rest` refuses the others."""

    def __init__(self, text: TomlText, faults: list[Fault], place: Place, values: dict[str, Any]) -> None:
        """Read `values`, the table at `place`, appending what is wrong with it to `faults`."""
        self._text = text
        self._faults = faults
        self._place = place
        self._values = values
        self._asked: list[str] = []

    @classmethod
    def of(cls, text: TomlText, faults: list[Fault]) -> TableReader:
        """Read the document itself, its outermost table."""
        return cls(text, faults, (), text.value)

    @property
    def keys(self) -> list[str]:
        """Keys of the table, in the order written."""
        return list(self._values)

    def line(self, key: str) -> int:
        """Line of a key; of the table when it lacks the key."""
        return self._text.line((*self._place, key))

    def refuse(self, code: str, key: str, message: str, *below: int) -> None:
        """Add a fault at a key of this table, or at an element of its list."""
        name = ".".join([str(step) for step in self._place if isinstance(step, str)] + [excerpt(key, _QUOTED)])
        place = name + "".join(f"[{position}]" for position in below)
        self._faults.append(Fault(code, self._text.line((*self._place, key, *below)), f"{place} {message}"))

    def refuse_rest(self) -> None:
        """Refuse every key that was not asked for."""
        for key in self._values:
            if key not in self._asked:
                near = difflib.get_close_matches(key, self._asked, n=1)
                advice = f"did you mean {near[0]}?" if near else f"known are: {', '.join(self._asked)}"
                self.refuse("unknown_key", key, f"is no key of a round contract; {advice}")

    def text(self, key: str) -> str | None:
        """Return a text that is not blank."""
        value = self._typed(key, "a text", str)
        return value if value is None or not self._is_blank(value, key) else None

    def mandatory_text(self, key: str) -> str:
        """Return a text that must be there; "" when it is faulty."""
        if key not in self._values:
            self._asked.append(key)
            self.refuse("missing_key", key, "is missing; it is mandatory")
            return ""
        return self.text(key) or ""

    def choice(self, key: str, among: type[Choice]) -> Choice | None:
        """Return a text that is one of a closed list of values."""
        value = self._typed(key, "a text", str)
        if value is None:
            return None
        try:
            return among(value)
        except ValueError:
            self.refuse("unknown_value", key, f"is {_quoted(value)}; write {' or '.join(among)}")
            return None

    def flag(self, key: str, *, default: bool) -> bool:
        """Return a boolean."""
        value = self._typed(key, "true or false", bool)
        return default if value is None else value

    def threshold(self, key: str) -> int | None:
        """Return an integer of at least 1."""
        value: int | None = self._typed(key, "an integer", int)
        if value is None or self._is_beyond_64_bits(key, value):
            return None
        if value < 1:
            self.refuse("bad_threshold", key, f"is {value}; write an integer of at least 1")
            return None
        return value

    def weight(self, key: str, *, default: float) -> float:
        """Return a finite number of at least 0, written as a float or an integer."""
        value = self._typed(key, "a number", int, float)
        if value is None or (isinstance(value, int) and self._is_beyond_64_bits(key, value)):
            return default
        if not math.isfinite(value) or value < 0:
            self.refuse("bad_weight", key, f"is {value}; write a finite number of at least 0")
            return default
        return float(value) + 0.0  # -0.0 becomes 0.0

    def texts(self, key: str) -> tuple[str, ...] | None:
        """Return a list of texts, none of them blank; a faulty one keeps its position as ""."""
        return self._list(key, lambda text, position: not self._is_blank(text, key, position))

    def globs(self, key: str) -> tuple[str, ...] | None:
        """Return a list of sound globs; a faulty one keeps its position as ""."""
        return self._list(key, lambda text, position: self._is_glob(text, key, position))

    def table(self, key: str) -> TableReader | None:
        """Return a table."""
        value = self._typed(key, f"a table, [{key}]", dict)
        return None if value is None else self._below(value, key)

    def section(self, key: str) -> TableReader:
        """Return a table; an empty one when there is none."""
        return self.table(key) or self._below({}, key)

    def tables(self, key: str) -> list[TableReader] | None:
        """Return a list of tables; those elements that are none are faults and left out."""
        values = self._typed(key, f"a list of tables, each under [[{key}]]", list)
        if values is None:
            return None
        readers = []
        for position, value in enumerate(values):
            if isinstance(value, dict):
                readers.append(self._below(value, key, position))
            else:
                self.refuse("wrong_type", key, f"is {_type_name(value)}; write a table under [[{key}]]", position)
        return readers

    def _below(self, values: dict[str, Any], *steps: str | int) -> TableReader:
        return TableReader(self._text, self._faults, (*self._place, *steps), values)

    def _typed(self, key: str, expected: str, *types: type) -> Any:
        """Return the value of a key when its type is exactly one of `types`, else None."""
        self._asked.append(key)
        if key not in self._values:
            return None
        value = self._values[key]
        if type(value) in types:  # exactly: a bool is an int to isinstance
            return value
        self.refuse("wrong_type", key, f"is {_type_name(value)}; write {expected}")
        return None

    def _list(self, key: str, is_sound: Callable[[str, int], bool]) -> tuple[str, ...] | None:
        values = self._typed(key, "a list of texts", list)
        if values is None:
            return None
        texts = []
        for position, value in enumerate(values):
            if not isinstance(value, str):
                self.refuse("wrong_type", key, f"is {_type_name(value)}; write a text", position)
            texts.append(value if isinstance(value, str) and is_sound(value, position) else "")
        return tuple(texts)

    def _is_blank(self, text: str, key: str, *below: int) -> bool:
        blank = is_blank(text)
        if blank:
            self.refuse("blank_text", key, "is blank; write something or leave it out", *below)
        return blank

    def _is_glob(self, text: str, key: str, position: int) -> bool:
        fault = glob_fault(text)
        if fault is not None:
            self.refuse("bad_glob", key, fault, position)
        return fault is None

    def _is_beyond_64_bits(self, key: str, value: int) -> bool:
        beyond = not INTEGER_MIN <= value <= INTEGER_MAX
        if beyond:
            self.refuse("integer_out_of_range", key, "is an integer beyond 64 bits; write a smaller one")
        return beyond


def is_blank(text: str) -> bool:
    """Tell whether a text shows nothing: empty, or made of blanks and characters that do not print."""
    return not any(character.isprintable() and not character.isspace() for character in text)


def _type_name(value: object) -> str:
    return _TYPE_NAMES.get(type(value), "a date or time")


def _quoted(text: str) -> str:
    return f'"{excerpt(text, _QUOTED)}"'
