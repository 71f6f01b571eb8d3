"""Pages a person reads: the worst first, long lists cut and counted, nothing unescaped."""

from __future__ import annotations

from rich.console import Console

from governance_pipeline.verdict.page import MAX_ROWS, decision_page, finding_page, verdict_page


def shown(page) -> str:
    console = Console(markup=False, highlight=False, emoji=False, width=200, color_system=None, file=None)
    with console.capture() as captured:
        console.print(page)
    return captured.get()


def decision(*findings, pause=False):
    return {
        "status": "warn",
        "requires_justification": pause,
        "findings": list(findings),
        "goal_substitution": {"fires": None, "decision": None},
        "policy_digest": "sha256:x",
    }


def test_a_pause_asks_for_a_justification_and_an_unknown_condition_says_so():
    page = shown(decision_page(decision(pause=True)))
    assert "warn, justification required" in page
    assert "fires unknown" in page


def test_a_long_list_is_cut_and_counted():
    finding = {"id": "x\x1b", "class": "A", "code": "c", "decision": "warn", "reason": None}
    page = shown(decision_page(decision(*[finding] * (MAX_ROWS + 3))))
    assert "and 3 more in the document" in page
    assert "\x1b" not in page


def test_the_worst_finding_is_listed_first_and_a_refused_contract_is_named(judge):
    document = judge(
        {
            "core_rounds": [{"mode": "final"}],
            "core_criteria": [{"criterion_id": "C1"}],
            "core_declared": [{"field": "tokens", "subject_id": "s\u202e"}],
        }
    )
    page = shown(verdict_page({**document, "requires_justification": True}))
    lines = page.splitlines()
    decisions = [line.split()[0] for line in lines if line.startswith(("block", "record", "unknown"))]
    assert decisions == sorted(decisions, key=["block", "unknown", "record"].index)
    assert "A person must justify" in page
    assert "\u202e" not in page
    invalid = judge({"core_rounds": [{"contract_state": "invalid", "contract_fault": "line 3: duplicate_id"}]})
    assert "contract invalid (line 3: duplicate_id)" in shown(verdict_page(invalid))


def test_findings_known_from_the_parent_are_listed_apart(judge):
    document = judge({"core_criteria": [{"criterion_id": "C1"}]})
    known = {**document, "new_findings": [], "known_findings": document["new_findings"]}
    page = shown(verdict_page(known))
    assert "Known from the parent round: 2" in page
    assert "New findings" not in page


def test_a_finding_without_a_place_has_a_page_too(judge):
    (entry,) = judge({"raw_log_files": [], "core_rounds": [{"contract_state": "absent", "contract_sha256": None}]})[
        "new_findings"
    ]
    assert entry["evidence"] is None
    assert "not found again" in shown(finding_page("r-1", entry, is_reproduced=False))


def test_a_fact_has_no_reason_and_a_gap_no_severity_and_neither_is_called_unknown(judge):
    fact = judge({"audit_integrity": [{"status": "mismatch", "computed_hash": "b" * 64}]})["new_findings"][0]
    assert "decision block, severity blocking\n" in shown(finding_page("r-1", fact, is_reproduced=True)).replace(
        " \n", "\n"
    )
    gap = judge({"core_criteria": [{"criterion_id": "C1"}]})["new_findings"][0]
    assert f"decision unknown, reason {gap['reason']}" in shown(finding_page("r-1", gap, is_reproduced=True))
