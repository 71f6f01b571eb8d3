"""Golden rounds: what contract, globs, modules, paths and evidence alone decide of their expected features.

Each case is a round folder and the expected output of `govern features compute`; arithmetic by hand. Only the terms
that follow from this package are computed here: F distinct paths, M, P, D, H where the case needs no more than
modules and churn, and E.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import pytest

from governance_pipeline.rounds.evidence import Evidence, EvidenceState, Proven, proven, proven_by_step
from governance_pipeline.rounds.globs import Globs
from governance_pipeline.rounds.load import read_contract
from governance_pipeline.rounds.modules import ModuleMap
from governance_pipeline.rounds.paths import normal_form

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name.removesuffix(".expected.json") for path in CASES.glob("*.expected.json"))


def lines(case: str, name: str) -> list[dict]:
    path = CASES / case / name
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def expected(case: str) -> dict:
    return json.loads((CASES / f"{case}.expected.json").read_text("utf-8"))


def records(case: str) -> list[Evidence]:
    rows = enumerate(lines(case, "evidence.jsonl"), 1)
    return [Evidence(r["step"], n, r["criterion_id"], EvidenceState(r["state"]), r.get("strength")) for n, r in rows]


def terms(case: str, event: dict) -> dict[str, float | None]:
    """F, M, P, D and H of one event that lists its files."""
    _, contract, _ = read_contract(CASES / case / "round.toml")
    files, modules = event["files"], ModuleMap.of(contract)
    paths = {normal_form(file["path"]) for file in files}
    churn: Counter[str] = Counter()
    for file in files:
        churn[modules.module(file["path"], file.get("module"))] += file["added"] + file["deleted"]
    shares = [c / churn.total() for c in churn.values()]
    include, public = (contract.scope.include, contract.scope.public) if contract else (None, None)
    outside = None if include is None else sum(not Globs(include).match(path) for path in paths)
    return {
        "F": len(paths),
        "M": len(churn),
        "P": 0 if not paths else None if public is None else sum(map(Globs(public).match, paths)),
        "D": None if outside is None else outside / len(paths) if paths else 0,
        "H": -sum(share * math.log(share) for share in shares),
    }


def rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 12) + 0.0


EVENTS = [(c, n) for c in NAMES for n, event in enumerate(lines(c, "changes.jsonl")) if "files" in event]


def test_the_cases_are_here():
    assert [name[:3] for name in NAMES] == ["f02", "f03", "f04", "f07", "f08", "f09", "f10", "f16", "f17", "f18", "f19"]


@pytest.mark.parametrize(("case", "position"), EVENTS)
def test_scope_public_and_modules_of_a_step_are_as_worked_out_by_hand(case, position):
    wanted = expected(case)["steps"][position]
    found = terms(case, lines(case, "changes.jsonl")[position])
    decided = [term for term in found if term in wanted]
    assert [rounded(found[term]) for term in decided] == [rounded(wanted[term]) for term in decided]


@pytest.mark.parametrize("case", [case for case in NAMES if "contract" in expected(case)])
def test_the_state_of_a_contract_is_as_expected(case):
    assert read_contract(CASES / case / "round.toml")[0] == expected(case)["contract"]


@pytest.mark.parametrize("case", [case for case in NAMES if "module_rule" in expected(case)])
def test_the_rule_in_force_is_as_expected(case):
    assert ModuleMap.of(read_contract(CASES / case / "round.toml")[1]).rule == expected(case)["module_rule"]


def test_a_repeated_criterion_is_refused_at_its_second_id():
    faults = read_contract(CASES / "f19-contract-invalid" / "round.toml")[2]
    assert [(fault.code, fault.line) for fault in faults] == [("duplicate_id", 14)]


@pytest.mark.parametrize("case", ["f16-last-state", "f17-nothing-required"])
def test_evidence_folds_to_the_expected_share(case):
    _, contract, _ = read_contract(CASES / case / "round.toml")
    assert contract is not None
    wanted = expected(case)
    steps = [event["step"] for event in lines(case, "changes.jsonl")]
    assert [p.share for p in proven_by_step(contract, records(case), steps)] == [step["E"] for step in wanted["steps"]]
    whole = proven(contract, records(case))
    assert whole == Proven(wanted["round"]["required"], wanted["round"]["proven_required"])
    assert whole.share == wanted["round"]["E"]


def test_a_state_that_is_none_is_no_evidence():
    with pytest.raises(ValueError, match="perhaps"):
        records("f18-quarantine")
