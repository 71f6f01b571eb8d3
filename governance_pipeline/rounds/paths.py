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


def is_absolute(path: str) -> bool:
    """Tell whether the path starts at a root: that of a file system, a drive or a share."""
    return _ABSOLUTE.match(path) is not None


def below(path: str, folder: str | None) -> str:
    r"""The path relative to an absolute folder when it lies below that; else the path as it is.

    The root of a file system is nobody's project, so nothing counts as below it. Case counts; "\" separates folders
    too where the folder is one of Windows. Without a folder, or with a relative one, the path stays as it is.

    >>> below("/repo/src/a.py", "/repo"), below("/repository/a.py", "/repo"), below("/repo/../a.py", "/repo")
    ('src/a.py', '/repository/a.py', '/repo/../a.py')
    """
    root = None if folder is None else _ABSOLUTE.match(folder)
    if folder is None or root is None:
        return path
    is_posix = root[0] == "/"
    home, inner = (normal_form(text if is_posix else text.replace("\\", "/")) for text in (folder, path))
    if len(home) <= len(root[0]) or not inner.startswith(f"{home}/"):
        return path
    return inner[len(home) + 1 :]


def is_outside(path: str) -> bool:
    """Tell whether the path is absolute or climbs out, and so lies outside every scope; judged on its normal form."""
    normal = normal_form(path)
    return normal == ".." or normal.startswith("../") or _ABSOLUTE.match(normal) is not None
