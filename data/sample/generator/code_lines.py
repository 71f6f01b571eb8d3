"""Lines of invented source code and the diffs made of them, long enough to look like work, never meant to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from generator.dice import Dice

_NOUNS = ("cursor", "token", "row", "item", "amount", "offset", "record", "window", "entry", "total")
_VERBS = ("take", "expect", "merge", "split", "round_to", "lookup", "advance", "collect", "guard", "carry")
_COLUMNS = ("station_id", "read_at", "level_mm", "datum", "quality", "run_id", "sensor_id")


def code_lines(dice: Dice, path: str, count: int) -> list[str]:
    """Write `count` lines in the language of `path`."""
    writer = _sql if path.endswith(".sql") else _test if "test_" in path else _python
    lines = [writer(dice, index) for index in range(count)]
    if count > 1 and lines[-1].startswith("def "):
        lines[-1] = "    total = None"  # a file that ends with an empty function does not parse
    return lines


def diff_text(path: str, removed: list[str], added: list[str], start: int) -> str:
    """Write a unified diff with one hunk that replaces `removed` by `added` at line `start`."""
    old = f"a/{path}" if removed else "/dev/null"
    old_start, new_start = (start if removed else 0), (start if added else 0)
    head = [
        f"diff --git a/{path} b/{path}",
        f"--- {old}",
        f"+++ {f'b/{path}' if added else '/dev/null'}",
        f"@@ -{old_start},{len(removed)} +{new_start},{len(added)} @@",
    ]
    return "\n".join([*head, *(f"-{line}" for line in removed), *(f"+{line}" for line in added)]) + "\n"


def _python(dice: Dice, index: int) -> str:
    noun, other = dice.pick(_NOUNS), dice.pick(_NOUNS)
    if index % 5 == 0:
        return f"    if {noun} is None:"
    if index % 5 == 1:
        return f"        raise ValueError(f'no {noun} at {{{other}!r}}')"
    return f"    {noun} = {dice.pick(_VERBS)}({other}, {dice.between(1, 48)})"


def _test(dice: Dice, index: int) -> str:
    noun = dice.pick(_NOUNS)
    if index % 4 == 0:
        return f"def test_{noun}_{dice.pick(_VERBS)}_{dice.between(1, 99)}():"
    if index % 4 == 1:
        return f"    assert {noun} == {dice.between(1, 4000)}"
    return f"    {noun} = {dice.pick(_VERBS)}({dice.pick(_NOUNS)!r}, {dice.between(1, 48)})"


def _sql(dice: Dice, index: int) -> str:
    column, other = dice.pick(_COLUMNS), dice.pick(_COLUMNS)
    if index % 4 == 0:
        return f"select {column}, {other}, count(*) as n"
    if index % 4 == 1:
        return f"from readings where {column} is not null and {other} >= {dice.between(1, 900)}"
    return f"  and {column} <> {other} -- {dice.pick(_NOUNS)} {dice.between(1, 60)}"
