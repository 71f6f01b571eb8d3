"""Claims about the words of reports: the same sentences in both languages, with the same numbers in them, all used."""

from __future__ import annotations

import copy
import io
from string import Formatter

import pytest
from rich.console import Console

from governance_pipeline.report.audit_summary import Verdict
from governance_pipeline.report.case_page import case_page
from governance_pipeline.report.html import audit_html
from governance_pipeline.report.terminal import MAX_ROWS, audit_page
from governance_pipeline.report.texts import LANGUAGES, TEXTS, words
from governance_pipeline.report.trajectory_section import MOST_ROUNDS
from governance_pipeline.report.trajectory_series import (
    Amplification,
    CohortPosition,
    StepSeries,
    Trajectory,
    UnitReach,
)
from governance_pipeline.trajectory.cohort_tables import COMPARED

FEATURES = (*COMPARED, "max_z")


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_both_languages_have_the_same_keys_in_the_same_order():
    assert list(TEXTS["en"]) == list(TEXTS["es"])
    assert set(TEXTS) == set(LANGUAGES)


@pytest.mark.parametrize("key", sorted(TEXTS["en"]))
def test_a_sentence_has_the_same_placeholders_in_both_languages_and_says_something(key):
    english, spanish = TEXTS["en"][key], TEXTS["es"][key]
    assert placeholders(english) == placeholders(spanish)
    assert "" not in placeholders(english), "every number has a name"
    assert english.strip() == english != ""
    assert spanish.strip() == spanish != ""


def test_the_two_languages_are_two_languages():
    alike = {key for key in TEXTS["en"] if TEXTS["en"][key] == TEXTS["es"][key]}
    assert alike == set()


class Asked(dict):
    """Words that remember which of them were asked for."""

    def get(self, key, default=None):
        self.keys_asked.add(key)
        return super().get(key, default)

    def __init__(self, texts):
        super().__init__(texts)
        self.keys_asked = set()

    def __getitem__(self, key):
        self.keys_asked.add(key)
        return super().__getitem__(key)


def trajectories_of_everything():
    """More rounds than are drawn, with unknown and left-out parts."""
    places = [CohortPosition(name, 1.0, *[None] * 7, "too_few") for name in FEATURES]
    places[0] = places[0]._replace(p_value=0.5, known_count=9)
    units = Amplification((UnitReach("a", 1.0, None, ("impact_increase",)),), 5.0, 1)
    one = Trajectory("r-1", StepSeries((1, 2), (1.0, None), (None, 0.5), 3), tuple(places), units)
    return [one] * (MOST_ROUNDS + 1)


def test_every_text_is_used_by_a_page_and_none_is_missing(document):
    asked = Asked(words("en"))
    many = copy.deepcopy(document)
    many["cross_checks"] *= 3
    assert sum(r["status"] == "mismatch" for r in many["cross_checks"]) > MAX_ROWS
    many["explanations"][0] |= {"holds": True, "value": None}
    many["explanations"][1]["holds"] = None
    many["meanings"].pop(next(r["check_id"] for r in many["cross_checks"] if r["status"] == "mismatch"))
    many["counts"]["rounds_without_contract"] = 1
    many["proof"] = {"catalogue_sha256": "0" * 64, "checks": 2, "cannot_fail": ["one"]}
    warned = {"code": "goal-substitution", "decision": "warn", "message": "much was changed", "factors": {}}
    many["rounds"][0]["new_findings"].append(warned)
    clean = copy.deepcopy(document)
    clean["cross_checks"] = [r for r in document["cross_checks"] if r["status"] == "match"]
    console = Console(file=io.StringIO(), width=160)
    for key in (key for key in TEXTS["en"] if key.startswith("verdict_")):
        console.print(audit_page(clean, asked, Verdict(key, 0)))
    console.print(audit_page(many, asked, Verdict("verdict_findings", 1)))
    audit_html(many, asked, Verdict("verdict_findings", 1), "en", trajectories_of_everything())
    for state in ("open", "acknowledged", "resolved"):
        for age in (None, 0, 1, 5, 20, 90):
            standing = {"case_id": "c", "state": state, "age_days": age, "is_overdue": age == 5, "owner": None}
            case_page(many["cross_checks"][0], [], None, asked, standing)
    assert set(TEXTS["en"]) - asked.keys_asked == set()
