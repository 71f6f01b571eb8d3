"""Tables of what was measured, in Markdown: shares with their 95 % intervals, counts beside each.

What belongs here: sums and their form. What does not: measuring, and the words of the page.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from detector_intervals import Interval, paired_difference, wilson
from detector_rounds import CODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

LABELS = Path(__file__).with_name("detector_labels.csv")
PEER = "unasked"
BOOTSTRAP_SEED = 20261130
NOT_MEASURED = "Not measured yet."


def planted_table(histories: Mapping[str, Any]) -> str:
    """One row per detector: recall over its faults, precision, and false alarms on changes that break nothing."""
    rows = list(_planted(histories))
    controls = sum(row["cases"] for row in rows if row["code"] is None)
    alarms: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for row in rows:
        wrong.update(row["others"])
        if row["code"] is None:
            alarms.update(row["others"])
    lines = []
    for code in CODES:
        own = [row for row in rows if row["code"] == code]
        cases, found = sum(row["cases"] for row in own), sum(row["found"] for row in own)
        ruled = [row for row in own if not row["why"]]
        lines.append((
            f"`{code}`", _share(found, cases),
            _share(sum(row["found"] for row in ruled), sum(row["cases"] for row in ruled)),
            _share(found, found + wrong[code]), _share(alarms[code], controls),
        ))  # fmt: skip
    head = ("detector", "recall, all faults", "recall without the documented gaps", "precision",
            "false alarms on harmless changes")  # fmt: skip
    return _table(head, lines)


def kinds_table(histories: Mapping[str, Any]) -> str:
    """One row per kind of edit: how many were found in each language, and what else was said."""
    kinds: dict[tuple[str, str], dict[str, Counter[str]]] = {}
    others: dict[tuple[str, str], Counter[str]] = {}
    for row in _planted(histories):
        key = (row["code"] or "", row["kind"])
        count = kinds.setdefault(key, {}).setdefault(row["language"], Counter())
        count.update(cases=row["cases"], found=row["found"])
        others.setdefault(key, Counter()).update(row["others"])
    lines = []
    for key in sorted(kinds, key=lambda key: (CODES.index(key[0]) if key[0] else len(CODES), key[1])):
        code, kind = key
        shown = [f"{language} {n['found'] if code else '0'}/{n['cases']}" for language, n in sorted(kinds[key].items())]
        if not code:
            shown = [f"{language} {n['cases']}" for language, n in sorted(kinds[key].items())]
        said = ", ".join(f"{other} {count}" for other, count in sorted(others[key].items()))
        lines.append((f"`{code}`" if code else "nothing", kind, ", ".join(shown), said or "-"))
    return _table(("has to be found", "edit", "found / planted, by language", "other findings (cases)"), lines)


def fired_rows(histories: Mapping[str, Any]) -> str:
    """One row per history: on how many of its commits each detector finds something."""
    lines = []
    for name, entry in sorted(histories.items()):
        for code, count in sorted(entry["fired"].items()):
            commits = entry["commits"]
            lines.append((name, f"`{code}`", str(count["findings"]), _share(count["commits"], commits)))
        silent = [code for code in CODES if code not in entry["fired"]]
        lines.append((name, "each of the others", "0", _share(0, entry["commits"]) + f" ({len(silent)} detectors)"))
    return _table(("history", "detector", "findings", "commits with one"), lines)


def labels_table(histories: Mapping[str, Any], own: str) -> str:
    """One row per detector: what its findings on this repository were, by the labels kept beside this file."""
    with LABELS.open(encoding="utf-8", newline="") as opened:
        labels = list(csv.DictReader(opened))
    lines = []
    for code in CODES:
        verdicts = Counter(row["verdict"] for row in labels if row["code"] == code)
        if verdicts:
            right, false = verdicts["right"], verdicts["false"]
            commits = histories[own]["commits"]
            lines.append((f"`{code}`", str(right + false), _share(right, right + false), _share(false, commits)))
    head = ("detector", "commits labelled", "right", "commits with a false alarm")
    return _table(head, lines)


def scope_table(scope: Mapping[str, Any]) -> str:
    """One row per side over all repositories: precision, recall, F1, silence, clean commits, difference of F1."""
    if not scope:
        return NOT_MEASURED
    sides = list(next(iter(scope.values()))["pairs"])
    peer = [pair for entry in scope.values() for pair in entry["pairs"][PEER]]
    lines = []
    for side in sides:
        pairs = [pair for entry in scope.values() for pair in entry["pairs"][side]]
        clean = [flag for entry in scope.values() for flag in entry["clean"][side]]
        found, missed, wrong = (sum(pair[at] for pair in pairs) for at in range(3))
        less = "-" if side == PEER else _signed(paired_difference(pairs, peer, f1, BOOTSTRAP_SEED))
        lines.append((
            side, _share(found, found + wrong), _share(found, found + missed), f"{100 * f1(pairs):.1f}", less,
            _share(sum(pair[4] for pair in pairs), len(pairs)), _share(sum(clean), len(clean)),
        ))  # fmt: skip
    return _table(("side", "precision", "recall", "F1", "F1 less unasked", "said nothing", "clean commits flagged"),
                  lines)  # fmt: skip


def goal_rows(scope: Mapping[str, Any]) -> str:
    """One row per declaration: on how many tangled commits the whole detector `goal-substitution` fires."""
    if not scope:
        return NOT_MEASURED
    pairs = sum(len(entry["pairs"][PEER]) for entry in scope.values())
    sides = next(iter(scope.values()))["goal_substitution"]
    lines = [(side, _share(sum(entry["goal_substitution"][side] for entry in scope.values()), pairs)) for side in sides]
    return _table(("declared scope", "tangled commits on which `goal-substitution` fires"), lines)


def f1(pairs: Sequence[Sequence[int]]) -> float:
    """F1 of pooled files: 2 found / (2 found + missed + wrong); 0 of nothing."""
    found, missed, wrong = (sum(pair[at] for pair in pairs) for at in range(3))
    return 2 * found / (2 * found + missed + wrong) if found or missed or wrong else 0.0


def _planted(histories: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for entry in histories.values():
        for rows in entry["planted"].values():
            yield from rows


def _share(hits: int, of: int) -> str:
    interval = wilson(hits, of)
    if interval is None:
        return "-"
    return f"{100 * interval.share:.1f} % [{100 * interval.low:.1f}, {100 * interval.high:.1f}], {hits}/{of}"


def _signed(interval: Interval) -> str:
    share, low, high = (f"{100 * value:+.1f}" for value in interval)
    return f"{share} [{low}, {high}]"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
