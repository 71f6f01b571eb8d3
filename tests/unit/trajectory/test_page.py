"""What a terminal shows: unknown is a question mark with its reason, a contradiction both values, nothing as markup."""

from __future__ import annotations

import io

from rich.console import Console

from governance_pipeline.trajectory.documents import features_documents
from governance_pipeline.trajectory.explanation import explain_document
from governance_pipeline.trajectory.formulas import formulas_document
from governance_pipeline.trajectory.page import explain_page, features_page, formulas_page


def shown(page) -> str:
    console = Console(file=io.StringIO(), width=160, markup=False, highlight=False, emoji=False)
    console.print(page)
    return console.file.getvalue()


def test_unknown_terms_are_question_marks_and_the_reason_is_said_once(one_round, file):
    changes = [{"step": n, "files": [file("src/a", None)]} for n in range(1, 12)]
    text = shown(features_page(features_documents(one_round(changes))))
    assert (
        "L unknown in step 1, 2, 3, 4, 5, 6, 7, 8 and 3 more: the lines added or deleted of a file are unknown" in text
    )
    assert "AUS unknown: S of a step is unknown (0 of 11 S known); E 0 (0 of 1 required criteria proven)" in text
    assert "?" in text


def test_a_contradiction_shows_both_values(one_round, file):
    text = shown(features_page(features_documents(one_round([{"step": 1, "L": 9, "files": [file("src/a", 5)]}]))))
    assert "step 1: L: the event says 9, its files give 5" in text


def test_s_is_called_no_risk_wherever_it_is_shown(one_round):
    tables = one_round([{"step": 1, "F": 0}])
    for page in (features_page(features_documents(tables)), explain_page(explain_document(tables, "r-1"))):
        assert "no risk and no probability" in shown(page)


def test_without_a_contract_the_round_says_so_in_one_line(one_round):
    text = shown(features_page(features_documents(one_round([{"step": 1, "F": 0}], None))))
    assert "r-1  contract absent, modules by dir:2" in text
    assert "E unknown: the round has no contract" in text


def test_names_from_logs_are_neither_markup_nor_control_characters(one_round, file):
    changes = [{"step": 1, "run_id": "[red]\x1b[2J", "files": [file("src/[bold]\x1b]0;x\x07.py")]}]
    text = shown(explain_page(explain_document(one_round(changes), "r-1")))
    assert "src/[bold]\\x1b]0;x\\x07.py" in text
    assert "\x1b" not in text


def test_every_formula_is_listed_with_version_and_epsilon():
    document = formulas_document()
    text = shown(formulas_page(document))
    assert all(f"{term['table']}.{term['column']}" in text for term in document["terms"])
    assert f"trajectory-features-v1, epsilon 1e-06, code {document['code_digest']}" in text
