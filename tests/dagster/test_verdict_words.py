"""Whatever a family of detectors found, its check in Dagster says the word, and only a pass passes."""

from __future__ import annotations

from types import SimpleNamespace

import dagster as dg
import pandas as pd
import pytest

from assets_defs.verdict_checks import COLUMNS, FAMILIES, _family_judge

WORDS = {
    ("block",): "block",
    ("unknown",): "unknown",
    ("warn",): "warn",
    ("pause",): "warn",
    ("warn", "unknown"): "unknown",
    ("unknown", "block"): "block",
    ("pause", "record"): "warn",
    ("dismissed",): "pass",
    ("record",): "pass",
    ("proposal",): "pass",
    (): "pass",
}


def judged(family, decisions, codes=None):
    """Judge findings with these decisions, their codes those of the family in turn."""
    names = codes or FAMILIES[family]
    rows = [
        {**dict.fromkeys(COLUMNS, "x"), "line": 1, "code": names[n % len(names)], "decision": decision}
        for n, decision in enumerate(decisions)
    ]
    found = pd.DataFrame(rows, columns=COLUMNS)
    workspace = SimpleNamespace(lake=SimpleNamespace(get=lambda table, round_id: found))
    return _family_judge(FAMILIES[family])(workspace, "r-1")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("decisions", "word"), WORDS.items(), ids=map("+".join, WORDS))
def test_every_family_says_the_word_of_what_it_found(family, decisions, word):
    check = judged(family, decisions)
    assert check.metadata["verdict"].value == word
    assert check.passed is (word == "pass")
    assert (check.severity is dg.AssetCheckSeverity.ERROR) is (word == "block")


@pytest.mark.parametrize("family", FAMILIES)
def test_findings_of_other_families_are_not_said_twice(family):
    others = [code for name, codes in FAMILIES.items() if name != family for code in codes]
    assert judged(family, ["block"] * len(others), others).metadata["verdict"].value == "pass"
