"""Edits of public functions in Go, Java, Rust and TypeScript, and changes of them that break no caller.

What belongs here: the edits, made on lines by the layout of a function's head and end and not by the readers that are
measured. What does not: Python, whose edits stand beside those of its sources.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from detector_plants import Files, Plant, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    Edit = Callable[[list[str], "Head", "Public"], list[str] | None]

NARROWED = "public-signature-narrowed"


class Public(NamedTuple):
    """How public functions of a language look: file, head on one line, what may be added, how it is hidden."""

    name: str
    is_source: re.Pattern[str]
    head: re.Pattern[str]
    needed: str
    offered: str
    shown: str
    hidden: str
    private: str


PUBLIC = (
    Public("go source", re.compile(r"(?<!_test)\.go$"),
           re.compile(r"^(?P<lead>func (?:\(\w+ \*?[A-Z]\w*\) )?)(?P<name>[A-Z]\w*)\((?P<given>[^()]*)\)"
                      r"(?P<rest>.*\{)$"),
           "extra int", "extra ...int", "", "", "func inner() int {\n\treturn 1\n}"),
    Public("java source", re.compile(r"src/main/.*\.java$"),
           re.compile(r"^(?P<lead>  (?:  )?public (?:static )?[\w.<>\[\]]+ )(?P<name>[a-z]\w*)\((?P<given>[^()]*)\)"
                      r"(?P<rest>.*\{)$"),
           "int extra", "", "public ", "private ", ""),
    Public("rust source", re.compile(r"^(?:.*/)?src/.*\.rs$"),
           re.compile(r"^(?P<lead> *pub (?:const )?fn )(?P<name>\w+)\((?P<given>[^()]*)\)(?P<rest>.*\{)$"),
           "extra: u8", "", "pub ", "pub(crate) ", "fn inner() -> u8 {\n    1\n}"),
    Public("typescript source", re.compile(r"^(?!.*(?:\.test|\.spec|\.d)\.)(?!.*(?:^|/)tests?/).*\.tsx?$"),
           re.compile(r"^(?P<lead>export (?:default )?(?:async )?function )(?P<name>\w+)\((?P<given>[^()]*)\)"
                      r"(?P<rest>.*\{)$"),
           "extra: string", "extra?: string", "export ", "", "function inner(): number {\n  return 1;\n}"),
)  # fmt: skip


class Head(NamedTuple):
    """A public function: the line of its head, its last line, and the match of the head."""

    first: int
    last: int
    match: re.Match[str]


def interface_plants() -> Iterator[Plant]:
    """Give every edit of a public function, by language."""
    for public in PUBLIC:
        for kind, code, edit in _KINDS:
            yield Plant(kind, code, public.name, partial(_one_function, public, edit))


def interface_language(path: str) -> str | None:
    """Give the language in whose public functions a path may be edited; None for all others."""
    return next((one.name for one in PUBLIC if one.is_source.search(path)), None)


def _one_function(public: Public, edit: Edit, source: Source, dice: Random) -> Files | None:
    lines = source.after.split("\n")
    before = {head.match[0] for head in _heads(source.before.split("\n"), public)}
    known = [head for head in _heads(lines, public) if head.match[0] in before]
    dice.shuffle(known)
    for head in known:
        left = edit(list(lines), head, public)
        if left is not None and left != lines:
            return {source.path: "\n".join(left)}
    return None


def _heads(lines: list[str], public: Public) -> list[Head]:
    """Public functions with a name of their own, and only where the file is not one nobody can import."""
    found = []
    if "package main" in lines or (public.name == "java source" and not any(_IS_PUBLIC.match(line) for line in lines)):
        return []
    for at, line in enumerate(lines):
        match = public.head.match(line)
        indent = line[: len(line) - len(line.lstrip())]
        last = next((end for end in range(at + 1, len(lines)) if lines[end] == f"{indent}}}"), None)
        if match is not None and last is not None:
            found.append(Head(at, last, match))
    names = [head.match["name"] for head in found]
    return [head for head in found if names.count(head.match["name"]) == 1]


_IS_PUBLIC = re.compile(r"public (?:final |abstract )*(?:class|interface|enum) ")


def _given(head: Head) -> list[str]:
    return [part.strip() for part in re.split(r",(?![^<]*>)", head.match["given"]) if part.strip()]


def _with(lines: list[str], head: Head, given: list[str]) -> list[str]:
    match = head.match
    lines[head.first] = f"{match['lead']}{match['name']}({', '.join(given)}){match['rest']}"
    return lines


def _deleted(lines: list[str], head: Head, _: Public) -> list[str]:
    return lines[: head.first] + lines[head.last + 1 :]


def _dropped(lines: list[str], head: Head, _: Public) -> list[str] | None:
    given = _given(head)
    return None if not given or "self" in given[-1] else _with(lines, head, given[:-1])


def _demanded(lines: list[str], head: Head, public: Public) -> list[str] | None:
    given = _given(head)
    if given and ("..." in given[-1] or "?" in given[-1] or "=" in given[-1]):
        return None
    return _with(lines, head, [*given, public.needed])


def _hidden(lines: list[str], head: Head, public: Public) -> list[str]:
    line = lines[head.first]
    if public.shown:
        lines[head.first] = line.replace(public.shown, public.hidden, 1).replace("default ", "", 1)
    else:
        name = head.match["name"]
        lines[head.first] = line.replace(f"{name}(", f"{name[0].lower()}{name[1:]}(", 1)
    return lines


def _offered(lines: list[str], head: Head, public: Public) -> list[str] | None:
    given = _given(head)
    is_taken = given and ("..." in given[-1] or "=" in given[-1])
    return None if not public.offered or is_taken else _with(lines, head, [*given, public.offered])


def _body_only(lines: list[str], head: Head, _: Public) -> list[str]:
    return [*lines[: head.first + 1], "// what is said here changes nothing", *lines[head.first + 1 :]]


def _private(lines: list[str], _: Head, public: Public) -> list[str] | None:
    return [*lines, public.private, ""] if public.private else None


_KINDS: tuple[tuple[str, str | None, Edit], ...] = (
    ("public function deleted", NARROWED, _deleted),
    ("last parameter dropped", NARROWED, _dropped),
    ("parameter added that is needed", NARROWED, _demanded),
    ("public function hidden", NARROWED, _hidden),
    ("parameter added that may be left out", None, _offered),
    ("comment in the body of a public function", None, _body_only),
    ("private function added", None, _private),
)
