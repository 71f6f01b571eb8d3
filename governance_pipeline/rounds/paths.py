"""File paths as text: the one form in which two spellings of a path are the same file.

What belongs here: lexical rules, on text alone. What does not: any look at a disk; links and case are not resolved,
because the repository a log speaks of is rarely the one at hand. Source: spec/ingest.md §2.
"""

from __future__ import annotations

import re

OUTSIDE = "(outside)"
"""Module of a path that is absolute or climbs out of the repository."""

ROOT = "."
"""Normal form of the repository's own folder, and module of the files directly in it."""

# A drive ("C:/", "C:\") or a UNC share ("\\host") is absolute too: agents on Windows log such paths, and read as
# relative ones they would count as files in the root of the repository.
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[/\\]|\\\\")
_PLAIN = re.compile(r"(?!\.{0,2}(?:/|\Z))[^/]+(?:/(?!\.{0,2}(?:/|\Z))[^/]+)*+\Z")


def normal_form(path: str) -> str:
    """The path without ".", without empty segments and with inner ".." resolved.

    Idempotent. A path that climbs out keeps its leading ".."; an absolute path keeps its root and never climbs above
    it; what comes out empty is ".". Only "/" separates folders.

    >>> normal_form("./src/x/../a.py"), normal_form("a/../../b"), normal_form("/../b")
    ('src/a.py', '../b', '/b')
    """
    absolute = _ABSOLUTE.match(path)
    if absolute is None and _PLAIN.match(path):
        return path
    root = absolute[0] if absolute else ""
    kept: list[str] = []
    for segment in path[len(root) :].split("/"):
        if segment in {"", "."}:
            continue
        if segment != "..":
            kept.append(segment)
        elif kept and kept[-1] != "..":
            kept.pop()
        elif not root:
            kept.append(segment)
    return root + "/".join(kept) or ROOT


def is_outside(path: str) -> bool:
    """Tell whether the path is absolute or climbs out, and so lies outside every scope; judged on its normal form."""
    normal = normal_form(path)
    return normal == ".." or normal.startswith("../") or _ABSOLUTE.match(normal) is not None
