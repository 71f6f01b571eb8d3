"""Edits of sources: files that do not parse any more, public functions that accept less, and changes that do neither.

What belongs here: the edits of Python, JSON and TOML files as such. What does not: tests and dependencies.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from detector_plants import Files, Plant, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

BROKEN, NARROWED = "parse-failure", "public-signature-narrowed"
_DEF = re.compile(r"^(?P<lead>(?:async )?def )(?P<name>[a-z]\w*)\((?P<given>[^()]*)\)(?P<rest>.*:)$", re.MULTILINE)


class Function(NamedTuple):
    """A public function at the top of a module whose head is one line: its match and its plain parameters."""

    match: re.Match[str]
    given: list[str]


def parses(path: str, text: str) -> bool | None:
    """Tell whether the parsers of the standard library take a file; None where they have none for it."""
    readers: dict[str, Callable[[str], object]] = {"py": ast.parse, "json": json.loads, "toml": tomllib.loads}
    reader = readers.get(path.rpartition(".")[2])
    if reader is None:
        return None
    try:
        reader(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def source_plants() -> Iterator[Plant]:
    """Give every edit of a source."""
    for language in ("python", "json", "toml"):
        yield Plant("cut off in the middle", BROKEN, language, _cut)
        yield Plant("conflict markers left", BROKEN, language, _conflict)
        yield Plant("one bracket or quote lost", BROKEN, language, _lost)
    yield Plant("stray indent", BROKEN, "python", _indented)
    for language, note in (("python", "# a note"), ("toml", "# a note"), ("json", "")):
        yield Plant("layout only", None, language, partial(_layout, note))
    for kind, edit in (
        ("public function deleted", _deleted), ("last parameter dropped", _dropped),
        ("parameter added without a default", _demanded), ("default taken away", _undefaulted),
        ("parameter renamed", _renamed_parameter), ("parameter by keyword only", _keyword_only),
    ):  # fmt: skip
        yield Plant(kind, NARROWED, "python", partial(_one_function, edit))
    for kind, edit in (
        ("parameter added with a default", _offered), ("docstring line added", _documented),
        ("return annotated", _annotated), ("function moved and imported back", _imported),
        ("private name added", _private),
    ):  # fmt: skip
        yield Plant(kind, None, "python", partial(_one_function, edit))


def _cut(source: Source, dice: Random) -> Files:
    at = dice.randrange(len(source.after) // 4, max(len(source.after) // 4 + 1, 3 * len(source.after) // 4))
    return {source.path: source.after[:at]}


def _conflict(source: Source, dice: Random) -> Files:
    lines = source.after.split("\n")
    at = dice.randrange(len(lines))
    ours = ["<" * 7 + " ours", lines[at], "=" * 7, lines[at], ">" * 7 + " theirs"]
    return {source.path: "\n".join(lines[:at] + ours + lines[at + 1 :])}


def _lost(source: Source, dice: Random) -> Files | None:
    places = [at for at, sign in enumerate(source.after) if sign in "()[]{}\"'"]
    if not places:
        return None
    at = dice.choice(places)
    return {source.path: source.after[:at] + source.after[at + 1 :]}


def _indented(source: Source, dice: Random) -> Files | None:
    lines = source.after.split("\n")
    places = [at for at, line in enumerate(lines) if re.match(r"(?:import|from|def|class) ", line)]
    if not places:
        return None
    at = dice.choice(places)
    return {source.path: "\n".join([*lines[:at], "   " + lines[at], *lines[at + 1 :]])}


def _layout(note: str, source: Source, _: Random) -> Files:
    if note:
        return {source.path: f"{source.after.rstrip()}\n\n{note}\n"}
    return {source.path: json.dumps(json.loads(source.after), indent=7) + "\n"}


def _one_function(edit: Callable[[str, Function], str | None], source: Source, dice: Random) -> Files | None:
    before = {one.match["name"] + one.match["given"] for one in _functions(source.before)}
    known = [one for one in _functions(source.after) if one.match["name"] + one.match["given"] in before]
    dice.shuffle(known)
    for one in known:
        left = edit(source.after, one)
        if left is not None:
            return {source.path: left}
    return None


def _functions(text: str) -> list[Function]:
    found = []
    for match in _DEF.finditer(text):
        given = [part.strip() for part in match["given"].split(",") if part.strip()]
        is_plain = not any(part.startswith(("*", "/")) or "[" in part or "]" in part for part in given)
        if is_plain and not match["name"].startswith("test") and _decorators(text, match) == 0:
            found.append(Function(match, given))
    names = [one.match["name"] for one in found]
    return [one for one in found if names.count(one.match["name"]) == 1]


def _decorators(text: str, match: re.Match[str]) -> int:
    above = text[: match.start()].rstrip("\n").rpartition("\n")[2]
    return int(above.startswith(("@", ")")))


def _with(text: str, one: Function, given: list[str], rest: str | None = None) -> str:
    match = one.match
    head = f"{match['lead']}{match['name']}({', '.join(given)}){match['rest'] if rest is None else rest}"
    return text[: match.start()] + head + text[match.end() :]


def _body_end(text: str, one: Function) -> int:
    follows = re.compile(r"^(?=[^\s#)])", re.MULTILINE).search(text, one.match.end() + 1)
    return follows.start() if follows else len(text)


def _deleted(text: str, one: Function) -> str:
    return text[: one.match.start()] + text[_body_end(text, one) :]


def _dropped(text: str, one: Function) -> str | None:
    return _with(text, one, one.given[:-1]) if one.given else None


def _demanded(text: str, one: Function) -> str | None:
    return None if any("=" in part for part in one.given) else _with(text, one, [*one.given, "newly_needed"])


def _undefaulted(text: str, one: Function) -> str | None:
    with_default = [at for at, part in enumerate(one.given) if "=" in part]
    if not with_default:
        return None
    at = with_default[0]
    return _with(text, one, [*one.given[:at], one.given[at].partition("=")[0].strip(), *one.given[at + 1 :]])


def _renamed_parameter(text: str, one: Function) -> str | None:
    if not one.given:
        return None
    name = re.match(r"\w+", one.given[0])
    return None if name is None else _with(text, one, [f"other_{one.given[0]}", *one.given[1:]])


def _keyword_only(text: str, one: Function) -> str | None:
    return _with(text, one, ["*", *one.given]) if one.given else None


def _offered(text: str, one: Function) -> str:
    return _with(text, one, [*one.given, "offered=None"])


def _documented(text: str, one: Function) -> str:
    return text[: one.match.end()] + "\n    # what is said here changes nothing" + text[one.match.end() :]


def _annotated(text: str, one: Function) -> str | None:
    return _with(text, one, one.given, " -> object:") if one.match["rest"] == ":" else None


def _imported(text: str, one: Function) -> str:
    return _deleted(text, one).rstrip("\n") + f"\n\nfrom elsewhere import {one.match['name']}\n"


def _private(text: str, one: Function) -> str:
    return text.rstrip("\n") + f"\n\n\ndef _{one.match['name']}_inner():\n    return None\n"
