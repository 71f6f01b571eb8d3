r"""One gitignore glob as one regular expression that never backtracks its way into minutes.

What belongs here: the translation of a glob's body (without its `!`) and the faults in its spelling. What does not:
lists of globs and what decides among them (`rounds.globs`). Rules: spec/ingest.md §2 and gitignore(5); classes as in
git's wildmatch.c, with POSIX names for ASCII only.

Why not pathspec, which is kept for the tests as a second opinion: measured against `git check-ignore`, version 1.1.1
lets a negated class match "/", lets ``$`` match before a final line feed, stops ``src/*`` at the first folder, knows
neither POSIX names nor escapes inside a class, raises on ``[z-a]``, and takes 0.6 s for ``a*a*a*a*a*b`` on 120
characters, growing with the fifth power: both glob and path come from people an audit does not trust.

How the time is bounded: between two stars of a segment, and between two ``**``, the leftmost match is always as good
as any other, so each such part is an atomic group. What is left is at most quadratic in the length of the path.
"""

from __future__ import annotations

import re

_STAR = "*"
_DOUBLE = "**"
_NEVER = "(?!)"
_FOLDERS = "(?:[^/]++/)*?"
_UNCLOSED = r"a [ is never closed; add ] or write \[ for the character"
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r"\ \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": r"\ -~",
    "punct": r"!-/:-@\[-`{-\~",
    "space": r"\ \t-\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


def spelling_fault(glob: str) -> str | None:
    """What is wrong with a glob as written (with its `!`), as a phrase that says what to do; None when it is sound."""
    body = glob.removeprefix("!")
    if body in {"", "/"}:
        return "it names nothing; write what it should match, for example src/**"
    if glob != glob.strip():
        return "it begins or ends with a blank; remove it"
    if glob.startswith("#"):
        return r"a leading # is a comment in gitignore; write \# for a name that begins with it"
    if "//" in glob:
        return "it holds //, an empty folder name; write a single /"
    try:
        _segments(body.removesuffix("/"))
    except ValueError as error:
        return str(error)
    return None


def translate(body: str) -> str:
    """The regular expression of a sound glob body, for `re.match` on a path in normal form that lies inside.

    It matches when the glob matches the path itself or, for every glob, a folder above it.
    """
    is_folder = body.endswith("/")
    body = body.removesuffix("/")
    segments = _segments(body.removeprefix("/"))
    if "/" not in body:
        segments.insert(0, [_DOUBLE])
    groups: list[list[str]] = [[]]
    for segment in segments:
        if segment == [_DOUBLE]:
            groups.append([])
        else:
            groups[-1].append(_segment_regex(segment))
    # Two neighbouring ** say no more than one: the empty group between them goes.
    first, rest = groups[0], groups[1:]
    rest = [group for group in rest[:-1] if group] + rest[-1:]
    return _path_regex(first, rest, is_folder=is_folder)


def _path_regex(first: list[str], rest: list[list[str]], *, is_folder: bool) -> str:
    """Join groups of segments; a `**` stands before every group but the first."""
    end = "/" if is_folder else r"(?:/|\Z)"
    if not rest:
        return "/".join(first) + end
    parts = ["/".join(first) + "/"] if first else []
    parts += [f"(?>{_FOLDERS}{'/'.join(group)}/)" for group in rest[:-1]]
    if rest[-1]:
        parts.append(_FOLDERS + "/".join(rest[-1]) + end)
    elif is_folder:
        parts.append("[^/]++/")
    return "".join(parts)


def _segment_regex(tokens: list[str]) -> str:
    """Match one whole name; the caller adds the "/" or end of text that must follow."""
    pieces = [""]
    for token in tokens:
        if token == _STAR:
            pieces.append("")
        else:
            pieces[-1] += token
    if len(pieces) == 1:
        return pieces[0]
    middle = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1] if piece)
    last = f"[^/]*{pieces[-1]}" if pieces[-1] else "[^/]*+"
    return pieces[0] + middle + last


def _segments(body: str) -> list[list[str]]:
    """Split a body into names, each a list of tokens: a regular expression for one character, or a star.

    A name made of two or more stars alone is the one token `**`; stars beside anything else are a plain star, as in
    git. A "/" inside a class separates nothing.

    Raises:
        ValueError: an unclosed class, or a backslash with nothing after it.
    """
    segments: list[list[str]] = [[]]
    position = 0
    while position < len(body):
        character = body[position]
        position += 1
        if character == "\\":
            if position == len(body):
                raise ValueError(r"it ends with a lone backslash; write \\ for a backslash")
            character = body[position]
            position += 1
            token = re.escape(character)
        elif character == "[":
            token, position = _class(body, position)
        else:
            token = {"?": "[^/]", _STAR: _STAR}.get(character) or re.escape(character)
        if character == "/":
            segments.append([])
        else:
            segments[-1].append(token)
    return [[_DOUBLE] if len(s) > 1 and set(s) == {_STAR} else s for s in segments]


def _class(body: str, position: int) -> tuple[str, int]:
    """Read the class whose "[" ends at `position`: its regular expression, which never matches "/", and its end."""
    negated = body[position : position + 1] in {"!", "^"}
    position += negated
    start = position
    items: list[str] = []
    previous = ""  # lower end of a range that may follow
    close = -1  # the next "]", looked for once and not from every "[:"
    while body[position : position + 1] != "]" or position == start:
        if body.startswith("[:", position):
            close = _closing(body, position + 2) if close < position + 2 else close
            if close > position + 2 and body[close - 1] == ":":
                items.append(_POSIX.get(body[position + 2 : close - 1], _NEVER))
                previous, position = "", close + 1
                continue
        is_range = bool(previous) and body[position : position + 1] == "-" and body[position + 1 : position + 2] != "]"
        character, position = _class_character(body, position + is_range)
        if not is_range:
            items.append(re.escape(character))
            previous = character
            continue
        if previous <= character:
            items.append(f"{re.escape(previous)}-{re.escape(character)}")
        previous = ""
    if _NEVER in items or not (items or negated):
        return _NEVER, position + 1
    return (f"[^/{''.join(items)}]" if negated else f"(?!/)[{''.join(items)}]"), position + 1


def _closing(body: str, position: int) -> int:
    close = body.find("]", position)
    if close < 0:
        raise ValueError(_UNCLOSED)
    return close


def _class_character(body: str, position: int) -> tuple[str, int]:
    """Read one character of a class, escaped or not."""
    position += body[position : position + 1] == "\\"
    if position >= len(body):
        raise ValueError(_UNCLOSED)
    return body[position], position + 1
