"""Edits of manifests: packages that come, versions that are no longer one, and changes that do neither.

What belongs here: the edits, on text. Whether a manifest still reads is checked where they are planted.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from detector_plants import Files, Plant, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

ADDED, UNPINNED = "dependency-added", "dependency-unpinned"
NAME = "zz-not-there-before"

MANIFESTS = {
    "requirements": re.compile(r"(?:^|/)[\w-]*requirements[\w-]*\.(?:txt|in)$"),
    "pyproject": re.compile(r"(?:^|/)pyproject\.toml$"),
    "package.json": re.compile(r"(?:^|/)package\.json$"),
    "go.mod": re.compile(r"(?:^|/)go\.mod$"),
    "Cargo.toml": re.compile(r"(?:^|/)Cargo\.toml$"),
    "pom.xml": re.compile(r"(?:^|/)pom\.xml$"),
}
_INSERTED = {
    "requirements": (r"\Z", f"\n{NAME}==1.0\n"),
    "pyproject": (r"^dependencies = \[\n", rf'\g<0>    "{NAME}>=1.0",\n'),
    "go.mod": (r"^require \(\n", r"\g<0>" + f"\tgithub.com/example/{NAME} v1.0.0\n"),
    "Cargo.toml": (r"^\[dependencies\]\n", rf'\g<0>{NAME} = "1.0"\n'),
    "pom.xml": (
        r"^( *)<dependencies>\n",
        (
            rf"\g<0>\1  <dependency><groupId>org.example</groupId><artifactId>{NAME}</artifactId>"
            r"<version>1.0</version></dependency>\n"
        ),
    ),
}
_LOOSER = {
    "requirements": (r"^([\w.\[\]-]+)==(\d[\w.]*)", r"\1>=\2"),
    "pyproject": (r"(\"[\w.\[\]-]+)==(\d[\w.]*)", r"\1>=\2"),
    "package.json": (r"(?<!\"version)(\": \")(\d+\.\d+\.\d+\")", r"\1^\2"),
    "Cargo.toml": (r"(\w+ = \")=(\d)", r"\1\2"),
}
_NEWER = {
    "requirements": (r"^([\w.\[\]-]+==)\d[\w.]*", r"\g<1>99.1"),
    "pyproject": (r"(\"[\w.\[\]-]+(?:==|>=))\d[\w.]*", r"\g<1>99.1"),
    "package.json": (r"(\": \"[\^~]?)\d+\.\d+\.\d+", r"\g<1>99.1.0"),
    "go.mod": (r"(\t\S+ )v\d+\.\d+\.\d+$", r"\g<1>v9.9.9"),
    "Cargo.toml": (r"^([\w-]+ = \"=?)\d[\d.]*", r"\g<1>99.1.0"),
    "pom.xml": (r"(<version>)\d[\d.]*(</version>\s*\n\s*(?:<scope>|</dependency>))", r"\g<1>99.1\2"),
}


def manifest_plants() -> Iterator[Plant]:
    """Give every edit of a manifest, by its kind."""
    for kind in MANIFESTS:
        if kind == "package.json":
            yield Plant("package added", ADDED, kind, _added_json)
            yield Plant("moved to development", None, kind, _moved_json)
            yield Plant("sorted anew", None, kind, _sorted_json)
        else:
            yield Plant("package added", ADDED, kind, partial(_replaced, *_INSERTED[kind]))
        if kind in _LOOSER:
            yield Plant("pin loosened", UNPINNED, kind, partial(_replaced, *_LOOSER[kind]))
        yield Plant("another version", None, kind, partial(_replaced, *_NEWER[kind]))


def _replaced(old: str, new: str, source: Source, dice: Random) -> Files | None:
    pattern = re.compile(old, re.MULTILINE)
    places = [match for match in pattern.finditer(source.after) if match[0] in source.before]
    if not places:
        return None
    match = dice.choice(places)
    return {source.path: source.after[: match.start()] + match.expand(new) + source.after[match.end() :]}


def _json(change: Callable[[dict[str, Any]], bool], source: Source) -> Files | None:
    try:
        document = json.loads(source.after)
    except ValueError:
        return None
    if not isinstance(document, dict) or not change(document):
        return None
    return {source.path: json.dumps(document, indent=2) + "\n"}


def _added_json(source: Source, _: Random) -> Files | None:
    def change(document: dict[str, Any]) -> bool:
        document.setdefault("dependencies", {})[NAME] = "^1.0.0"
        return True

    return _json(change, source)


def _moved_json(source: Source, dice: Random) -> Files | None:
    def change(document: dict[str, Any]) -> bool:
        packages = document.get("dependencies", {})
        if not packages:
            return False
        name = dice.choice(sorted(packages))
        document.setdefault("devDependencies", {})[name] = packages.pop(name)
        return True

    return _json(change, source)


def _sorted_json(source: Source, _: Random) -> Files | None:
    def change(document: dict[str, Any]) -> bool:
        for group in ("dependencies", "devDependencies", "scripts"):
            document[group] = dict(sorted(document.get(group, {}).items(), reverse=True))
        return True

    return _json(change, source)
