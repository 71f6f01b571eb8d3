"""Each term: the event's own number, else its files', else one reason; in that order, whatever the contract says."""

from __future__ import annotations

import math

import pytest

from governance_pipeline.rounds.globs import Globs
from governance_pipeline.rounds.modules import ModuleMap
from governance_pipeline.trajectory.event_rows import Origin
from governance_pipeline.trajectory.events import Declared, Event
from governance_pipeline.trajectory.reasons import Reason
from governance_pipeline.trajectory.rules import RoundRules
from governance_pipeline.trajectory.terms import SURFACE_TERMS, Counted, Term, entropy_of, repeated, terms_of
from governance_pipeline.vocabulary import ContractState

NOTHING = Counted(0, 0, 0, 0, 0.0, 0, True)
SOME = Counted(files=2, churn=9, modules=2, public=1, entropy=0.5, outside=1, are_modules_named=False)
UNREAD = Counted(files=2, churn=None, modules=2, public=1, entropy=None, outside=1, are_modules_named=False)


def event(declared: Declared, *, has_files: bool) -> Event:
    return Event("r-1", 1, Origin.NATIVE, None, None, "changes.jsonl", "0" * 64, 1, None, has_files, declared)


def rules(state=ContractState.VALID, include=("src/**",), public=("api/",)) -> RoundRules:
    scope, boundary = (None if globs is None else Globs(globs) for globs in (include, public))
    return RoundRules("r-1", state, scope, boundary, ModuleMap(), False, None, ())


def test_own_numbers_win_over_the_files_and_d_is_that_of_the_files_listed():
    found = terms_of(event(Declared(7, 8, 9, 10, "1.5"), has_files=True), SOME, rules())
    assert {name: term.value for name, term in found.items()} == {"F": 7, "L": 8, "M": 9, "P": 10, "D": 0.5, "H": 1.5}


def test_absent_numbers_are_those_of_the_files_one_by_one():
    found = terms_of(event(Declared(L=8), has_files=True), SOME, rules())
    assert [found[name].value for name in SURFACE_TERMS] == [2, 8, 2, 1, 0.5, 0.5]


@pytest.mark.parametrize("has_files", [True, False], ids=["files: []", "F: 0"])
def test_a_step_without_changes_is_zero_in_whatever_it_does_not_carry_public_included(has_files):
    own = Declared(L=5) if has_files else Declared(F=0, L=5)
    found = terms_of(event(own, has_files=has_files), NOTHING, rules(public=None))
    assert [found[name] for name in SURFACE_TERMS] == [Term(0), Term(5), Term(0), Term(0), Term(0), Term(0)]


def test_neither_number_nor_files_is_not_given_and_d_says_that_no_files_are_listed():
    found = terms_of(event(Declared(L=5), has_files=False), NOTHING, rules(ContractState.ABSENT, None, None))
    assert {name: term.reason for name, term in found.items()} == {
        "F": Reason.NOT_GIVEN, "L": None, "M": Reason.NOT_GIVEN, "P": Reason.NOT_GIVEN, "D": Reason.NO_CONTRACT,
        "H": Reason.NOT_GIVEN,
    }  # fmt: skip
    assert terms_of(event(Declared(F=1), has_files=False), NOTHING, rules())["D"].reason == Reason.FILES_NOT_LISTED


def test_unknown_churn_is_said_of_l_and_h_only():
    found = terms_of(event(Declared(), has_files=True), UNREAD, rules())
    unknown = {name: term.reason for name, term in found.items() if term.value is None}
    assert unknown == {"L": Reason.CHURN_UNKNOWN, "H": Reason.CHURN_UNKNOWN}


@pytest.mark.parametrize(
    ("state", "public", "scope"),
    [
        (ContractState.VALID, Reason.NO_PUBLIC, Reason.NO_SCOPE),
        (ContractState.ABSENT, Reason.NO_CONTRACT, Reason.NO_CONTRACT),
        (ContractState.INVALID, Reason.CONTRACT_INVALID, Reason.CONTRACT_INVALID),
    ],
)
def test_p_and_d_say_what_the_contract_lacks(state, public, scope):
    found = terms_of(event(Declared(), has_files=True), SOME, rules(state, None, None))
    assert (found["P"], found["D"]) == (Term(None, public), Term(None, scope))


def test_without_a_scope_d_is_unknown_even_where_nothing_changed():
    found = terms_of(event(Declared(), has_files=True), NOTHING, rules(include=None))
    assert (found["D"].reason, found["P"]) == (Reason.NO_SCOPE, Term(0))


def test_a_repeated_step_says_so_of_all_six_terms():
    assert repeated() == dict.fromkeys(SURFACE_TERMS, Term(None, Reason.STEP_REPEATED))


@pytest.mark.parametrize(
    ("text", "value"), [(None, None), ("0.5", 0.5), ("1E-7", 1e-7), ("-0.0", 0.0), ("1e-999", 0.0)]
)
def test_h_is_read_from_its_text_and_is_never_minus_zero(text, value):
    found = entropy_of(text)
    assert found == value
    assert found is None or math.copysign(1, found) == 1
