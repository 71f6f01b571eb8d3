"""What calls a function or method of a compiled language accepts, and whether another one accepts them too.

What belongs here: counts, positions and built-in types of parameters, for Go, Java, Rust, JavaScript and TypeScript.
What does not: Python, whose calls name parameters (signatures), and types other than the built-in ones: whether one
declared type takes the place of another needs a type checker, so such a change is a change and no narrowing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBERS: Final = ("byte", "short", "int", "long", "float", "double")
"""Built-in numbers of Java, each of which is taken where a later one is asked for (JLS 5.1.2)."""

_BUILT_IN: Final[dict[str, frozenset[str]]] = {
    "go": frozenset({
        "bool", "string", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64",
        "uintptr", "float32", "float64", "complex64", "complex128",
    }),
    "rust": frozenset({
        "bool", "char", "&str", "String", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128",
        "usize", "f32", "f64",
    }),
    "java": frozenset({"boolean", "char", "String", *_NUMBERS}),
    "javascript": frozenset({"string", "number", "boolean", "bigint", "symbol"}),
}  # fmt: skip
_SAME: Final = {"byte": "uint8", "rune": "int32"}
"""Names of Go that are other names of built-in types."""


class Parameter(NamedTuple):
    """One parameter: its name and its type as written, "" where there is none, and whether a call may omit it."""

    name: str
    type: str = ""
    is_optional: bool = False


class Shape(NamedTuple):
    """One function as its callers see it.

    Attributes:
        parameters: in their order, without the receiver and without what takes the rest.
        takes_rest: any number of further arguments is fine.
        results: values it gives; None where the language does not hold callers to a number.
        demands: what a call must bring besides: `await`, an unsafe block, an instance, an owned receiver.
    """

    parameters: tuple[Parameter, ...]
    takes_rest: bool = False
    results: int | None = None
    demands: frozenset[str] = frozenset()


def accepts(shape: Shape, before: Shape, language: str) -> bool:
    """Tell whether every call that fitted `before` fits `shape`."""
    most, needed = len(shape.parameters), sum(not one.is_optional for one in shape.parameters)
    if needed > sum(not one.is_optional for one in before.parameters):
        return False
    if not shape.takes_rest and (before.takes_rest or most < len(before.parameters)):
        return False
    if before.results and shape.results != before.results:
        return False
    return shape.demands <= before.demands and _fits_by_position(shape.parameters, before.parameters, language)


def _fits_by_position(parameters: Sequence[Parameter], before: Sequence[Parameter], language: str) -> bool:
    """Tell whether each argument still goes to what it went to: a known name elsewhere, or another built-in type."""
    places = {one.name: at for at, one in enumerate(parameters) if one.name.strip("_")}
    for at, (then, now) in enumerate(zip(before, parameters, strict=False)):
        if places.get(then.name, at) != at or not _is_taken(then.type, now.type, language):
            return False
    return all(places.get(one.name, at) == at for at, one in enumerate(before))


def _is_taken(given: str, wanted: str, language: str) -> bool:
    if language == "go":
        given, wanted = _SAME.get(given, given), _SAME.get(wanted, wanted)
    known = _BUILT_IN[language]
    if given == wanted or given not in known or wanted not in known:
        return True
    if language == "java" and wanted in _NUMBERS:
        numbers = _NUMBERS[_NUMBERS.index("int") :] if given == "char" else _NUMBERS
        return wanted in numbers and (given == "char" or given in _NUMBERS[: _NUMBERS.index(wanted)])
    return False


def written(name: str, shape: Shape) -> str:
    """Write a function for a person: `unsafe Reader.read(path: &str, size?, ...) -> 2 results`."""
    parts = [
        f"{one.name or '_'}{'?' if one.is_optional else ''}{f': {one.type}' if one.type else ''}"
        for one in shape.parameters
    ]
    parts += ["..."] if shape.takes_rest else []
    demands = "".join(f"{demand} " for demand in sorted(shape.demands))
    results = f" -> {shape.results} results" if shape.results is not None and shape.results > 1 else ""
    return f"{demands}{name}({', '.join(parts)}){results}"
