"""Makes hostile logs of small sound ones: values of the wrong kind, bytes that break off, files that repeat each other.

A mutant is a round again: file names below its folder, and bytes. Everything follows from the seed number alone, so a
mutant that breaks something is made again by its number.
"""

from __future__ import annotations

import base64
import copy
import json
import random
import re
from pathlib import Path

SEEDS = Path(__file__).parent / "seeds"

RAW = re.compile(r'"@raw:([^"]*)"')
HOSTILE = [
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 1767607200, 1767607200000, 10**15,
    "", " ", "0", "-1", "1e5", "1.50", "NaN", "true", "null", "a/b", "../../etc/passwd", "/", "\\", "C:\\x", "~",
    "2026-01-05T10:00:00Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-13-45", "\u0000", "\x1b[2J",
    "\u202e", "\U0001f600", "x" * 5000, "é" * 300, "diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n", "*** Begin Patch\n***",
    "@@ -0,0 +99999999999999999999 @@", "--- a\n+++ b\n@@ -1,9 +1 @@", "rm -rf /; cat <<'EOF' > a", "'", '"; DROP TABLE x',
    [], {}, [[]], [{}], [None], {"": None}, {"a": {"b": [1]}}, [1, "x", None, {}], [[[[[1]]]]], {"value": []},
    "@raw:1e400", "@raw:-0", "@raw:-0.0", "@raw:1E-400", "@raw:0.1e1", "@raw:18446744073709551616", "@raw:1.0",
    "@raw:" + "9" * 400, "@raw:0." + "3" * 60, "@raw:NaN", "@raw:-Infinity", "@raw:1e5000000000",
    "@raw:123456789012345678901234567890.123456789",
]  # fmt: skip
SNIPPETS = [
    b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00", b"\xef\xbb\xbf", b"\r", b"\n", b"\n\n", b"\r\n", b" ", b"{", b"}", b"[",
    b"]", b'"', b"\\", b",", b":", b"\\ud800", b"\xe2\x80\xa8", b"\x0c", b"[" * 70, b'{"a":' * 70, b"1e999", b"NaN",
    b'{"a":1,"a":2}', b"null", b"[]\n", b"{}\n", b"PK\x03\x04", b"diff --git a/x b/x\n", b"- a: 1\n", b"\xf0\x9f\x98\x80",
]  # fmt: skip
NAMES = ["", "type", "id", "role", "A", 'a"b;--', "a\nb", "select", "\u202e", "__class__", "timestamp", "content", "0"]


def seeds(name):
    """Give the sound rounds of a format: file name -> bytes."""
    rounds = json.loads((SEEDS / f"{name}.json").read_text("utf-8"))
    return [{path: _bytes(content) for path, content in files.items()} for files in rounds]


def _bytes(content):
    return content.encode() if isinstance(content, str) else base64.b64decode(content["base64"])


def mutant(rounds, number):
    """Give the mutant with this number of one of some sound rounds."""
    chance = random.Random(number)
    files = dict(chance.choice(rounds))
    for _ in range(chance.randint(1, 3)):
        paths = [path for path in files if files[path]]
        if not paths:
            break
        path = chance.choice(paths)
        if chance.random() < 0.75:
            files[path] = _in_values(chance, files[path])
        elif chance.random() < 0.75:
            files[path] = _in_bytes(chance, files[path], chance.choice(list(files.values())))
        else:
            _in_files(chance, files, path)
    return files


def _in_values(chance, data):
    """Change something in the values of a document or of lines; bytes that are neither are changed as bytes."""
    lines = data.split(b"\n")
    try:
        document, is_document = json.loads(data), True
    except (ValueError, RecursionError):
        document, is_document = [], False
        for line in lines:
            try:
                document.append(json.loads(line))
            except (ValueError, RecursionError):
                document.append(None)
        if all(value is None for value in document):
            return _in_bytes(chance, data, data)
    places = list(_places(document))
    if not is_document:
        places = [path for path in places if document[path[0]] is not None or len(path) > 1]
    if places:
        _change(chance, document, places)
    if is_document:
        return _written(document)
    kept = [_written(value) if value is not None else line for value, line in zip(document, lines, strict=False)]
    return b"\n".join(kept + [_written(value) for value in document[len(lines) :]])


def _written(value):
    return RAW.sub(r"\1", json.dumps(value)).encode()


def _places(value, path=()):
    """Give the path of every value inside another one."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in inner:
        yield (*path, key)
        yield from _places(member, (*path, key))


def _at(value, path):
    for key in path:
        value = value[key]
    return value


def _change(chance, document, places):
    path = chance.choice(places)
    holder, key = _at(document, path[:-1]), path[-1]
    kind = chance.randrange(9)
    if kind <= 2:
        holder[key] = copy.deepcopy(chance.choice(HOSTILE))
    elif kind == 3:
        del holder[key]
    elif kind == 4:  # what stands elsewhere: an id that is taken, a list where a text belongs
        holder[key] = copy.deepcopy(_at(document, chance.choice(places)))
    elif kind == 5:
        holder[key] = [holder[key]] if chance.random() < 0.5 else {"x": holder[key]}
    elif kind == 6 and isinstance(holder, dict):
        holder[chance.choice([*NAMES, *holder])] = holder.pop(key)
    elif kind == 7 and isinstance(holder, list):
        chance.shuffle(holder)
    elif isinstance(holder, list):  # what is there again, often
        holder[key:key] = [copy.deepcopy(holder[key]) for _ in range(chance.choice([1, 1, 2, 40]))]
    else:
        _swap(chance, document, path, chance.choice(places))


def _swap(chance, document, first, second):
    one, other = copy.deepcopy(_at(document, first)), copy.deepcopy(_at(document, second))
    if first[: len(second)] == second or second[: len(first)] == first:
        return  # one holds the other
    _at(document, first[:-1])[first[-1]] = other
    _at(document, second[:-1])[second[-1]] = one


def _in_bytes(chance, data, other):
    at = chance.randint(0, len(data))
    until = min(len(data), at + chance.choice([1, 1, 2, 8, 64, 100_000]))
    lines = data.split(b"\n")
    shuffled = chance.sample(lines, len(lines))
    repeated = [chance.choice(lines)] * chance.choice([1, 3, 60])
    ways = [
        data[:at],
        data[:at] + data[until:],
        data[:at] + chance.choice(SNIPPETS) + data[at:],
        data[:at] + chance.randbytes(until - at) + data[until:],
        data[:at] + other[chance.randint(0, len(other)) :],
        data + b"\n" * chance.randint(0, 2) + other,
        b"\n".join(shuffled),
        b"\n".join([*lines, *repeated]),
    ]
    return chance.choice(ways)


def _in_files(chance, files, path):
    kind = chance.randrange(4)
    if kind == 0:
        files[f"logs/again/{path.rpartition('/')[2]}"] = files[path]
    elif kind == 1:
        folder, _, name = path.rpartition("/")
        files[f"{folder}/x{name}".lstrip("/")] = files.pop(path)
    elif kind == 2:
        files.pop(path)
    else:
        one, other = chance.choice(list(files)), chance.choice(list(files))
        files[one], files[other] = files[other], files[one]
