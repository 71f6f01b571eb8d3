"""Claims about what an audit says as a whole: an unknown is never clean, and copies and refusals are told apart."""

from __future__ import annotations

import copy
from itertools import product

import pytest

from governance_pipeline.report import audit_summary as summary
from governance_pipeline.report.texts import words

NOTHING = {
    "files": [], "rounds": [], "cross_checks": [], "hashes": [], "not_checkable": [], "quarantine_reasons": {},
    "counts": {
        "match": 0, "mismatch": 0, "unverifiable": 0, "hash_match": 0, "hash_mismatch": 0, "hash_unverifiable": 0,
        "declared": 0, "rounds": 0, "rounds_without_contract": 0,
    },
}  # fmt: skip
FILE = {"round_id": "r", "path": "a", "format": "claude_code", "reason": None, "quarantined": 0}


def made(*files: dict, **counts: int) -> dict:
    """Return a document with these files and counts."""
    document = copy.deepcopy(NOTHING)
    document["files"] = [FILE | file for file in files]
    document["counts"] |= counts
    return document


OUTCOMES = [
    # what was found, sentence, exit by --fail-on warn, block, never
    (made(), "verdict_empty", 3, 3, 0),
    (made({"format": None, "reason": "unsupported_format", "quarantined": 1}), "verdict_empty", 3, 3, 0),
    (made({}), "verdict_nothing", 0, 0, 0),
    (made({}, declared=3), "verdict_unchecked", 3, 3, 0),
    (made({}, match=1, declared=1), "verdict_clean", 0, 0, 0),
    (made({}, hash_match=1), "verdict_clean", 0, 0, 0),
    (made({}, match=1, unverifiable=1), "verdict_unknown", 3, 3, 0),
    (made({}, match=1, hash_unverifiable=1), "verdict_unknown", 3, 3, 0),
    (made({"quarantined": 1}, match=1), "verdict_unknown", 3, 3, 0),
    (made({"format": None, "reason": "malformed_json", "quarantined": 1}), "verdict_unknown", 3, 3, 0),
    (made({"format": None, "reason": "symlink", "quarantined": 1}, match=1), "verdict_unknown", 3, 3, 0),
    (made({}, match=9, mismatch=1), "verdict_findings", 1, 0, 0),
    (made({}, match=9, mismatch=1, unverifiable=1), "verdict_findings", 1, 3, 0),
    (made({}, hash_mismatch=1), "verdict_findings", 1, 1, 0),
    (made({}, hash_mismatch=1, unverifiable=5), "verdict_findings", 1, 1, 0),
]


@pytest.mark.parametrize(("document", "key", "warn", "block", "never"), OUTCOMES)
def test_the_sentence_does_not_depend_on_fail_on_and_the_exit_code_does(document, key, warn, block, never):
    expected = {"warn": warn, "block": block, "never": never}
    for fail_on, code in expected.items():
        assert summary.verdict(document, fail_on) == (key, code)


def test_no_unknown_or_finding_is_ever_called_clean():
    names = ("mismatch", "unverifiable", "hash_mismatch", "hash_unverifiable")
    for counts in product((0, 1), repeat=4):
        document = made({}, match=1, hash_match=1, **dict(zip(names, counts, strict=True)))
        key, code = summary.verdict(document, "warn")
        assert (key == "verdict_clean") == (code == 0) == (not any(counts))


@pytest.mark.parametrize("reason", sorted(summary.NOT_ASKED_FOR))
def test_files_nobody_asked_for_leave_no_question_open(reason):
    document = made({}, {"format": None, "reason": reason, "quarantined": 1}, match=1)
    assert summary.unread(document) == []
    assert summary.verdict(document, "warn").exit_code == 0
    assert len(summary.not_used(document)) == 1, "and are listed all the same"


def finding(decision: str, code: str = "required-check-not-run", **factors: str) -> dict:
    return {"code": code, "decision": decision, "message": "m", "factors": factors}


def judged(document: dict, *findings: dict, status: str = "unknown", known: bool = False) -> dict:
    """Return the document with a verdict of its round that has these findings."""
    new, old = ([], list(findings)) if known else (list(findings), [])
    verdict = {"round_id": "r", "status": status, "new_findings": new, "known_findings": old}
    return document | {"rounds": [verdict]}


def test_an_unknown_of_a_verdict_is_an_unknown_of_the_audit():
    document = judged(made({}, match=1), finding("unknown", check="criterion-command:C1"))
    assert summary.verdict(document, "warn") == ("verdict_unknown", 3)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    ("decision", "warn", "block"), [("block", 1, 1), ("pause", 1, 0), ("warn", 1, 0), ("record", 0, 0)]
)
def test_a_finding_of_a_verdict_speaks_as_it_was_decided_whether_known_or_new(decision, warn, block, known):
    document = judged(made({}, match=1), finding(decision, "goal-substitution"), known=known)
    assert summary.verdict(document, "warn").exit_code == warn
    assert summary.verdict(document, "block").exit_code == block
    assert len(summary.findings(document)) == warn


def test_that_a_file_nobody_asked_for_was_not_read_opens_nothing():
    unsupported = {"path": "b", "format": None, "reason": "unsupported_format", "quarantined": 1}
    about = finding("unknown", check="log-accounted:b")
    assert summary.verdict(judged(made({}, unsupported, match=1), about), "warn").exit_code == 0
    other = finding("unknown", "no-required-check-ran")
    assert summary.verdict(judged(made({}, unsupported, match=1), about, other), "warn").exit_code == 3
    alone = made({"round_id": "q"}, unsupported, match=1)
    assert summary.verdict(judged(alone, about, other), "warn").exit_code == 0, "a round of nothing else"


def test_findings_come_worst_first_without_those_listed_apart():
    found = [finding("warn", "a"), finding("block", "b"), finding("pause", "c"), finding("record", "d"),
             finding("warn", "cross-check-mismatch"), finding("block", "output-hash-mismatch")]  # fmt: skip
    assert [f["code"] for _, f in summary.findings(judged(made(), *found))] == ["b", "c", "a"]


def test_statuses_are_counted_worst_first():
    document = made()
    document["rounds"] = [{"status": status} for status in ("pass", "warn", "pass", "block")]
    assert summary.statuses(document) == [("block", 1), ("warn", 1), ("pass", 2)]


@pytest.mark.parametrize("fail_on", ["warn", "block", "never"])
@pytest.mark.parametrize("counts", [{"match": 1}, {"match": 1, "mismatch": 1}, {"unverifiable": 1}])
def test_a_check_that_cannot_fail_blocks_whatever_was_found(fail_on, counts):
    document = made(**counts) | {"proof": {"catalogue_sha256": "0" * 64, "checks": 2, "cannot_fail": ["one"]}}
    assert summary.verdict(document, fail_on) == ("verdict_blocked", 4)


def test_every_sentence_has_its_numbers():
    for document, key, *_ in OUTCOMES:
        for language in ("en", "es"):
            assert "{" not in words(language)[key].format(**summary.verdict_values(document))


def test_a_file_says_its_own_reason_or_those_of_its_records():
    document = made({"quarantined": 2}, {"path": "b", "reason": "symlink"}, {"path": "c"})
    document["quarantine_reasons"] = {"r/a": "malformed_json, not_utf8"}
    assert [reasons for _, reasons in summary.not_used(document)] == ["malformed_json, not_utf8", "symlink"]


def test_lists_are_counted_and_the_most_frequent_comes_first():
    document = copy.deepcopy(NOTHING)
    unknown = {"status": "unverifiable", "check_id": "c", "reason_code": "overflow"}
    document["cross_checks"] = [unknown, unknown | {"check_id": "b"}, unknown, {"status": "match"}]
    document["hashes"] = [{"status": "unverifiable", "reason_code": "output_not_in_round"}, {"status": "mismatch"}]
    assert summary.unverifiable(document) == [("c", "overflow", 2), ("b", "overflow", 1)]
    assert summary.unknown_hashes(document) == [("output_not_in_round", 1)]
    assert len(summary.false_hashes(document)) == 1


def test_coverage_adds_up_to_the_files_and_records(document):
    rows = summary.coverage(document)
    for name, member in (("records", "lines_in"), ("accepted", "accepted"), ("quarantined", "quarantined")):
        assert sum(getattr(row, name) for row in rows) == sum(file[member] for file in document["files"])
    assert sum(row.files for row in rows) == len(document["files"])
    assert sum(row.match + row.mismatch + row.unverifiable for row in rows) == len(document["cross_checks"])
    assert rows[-1].format == "(unsupported_format)", "what nobody claims comes last"


def test_only_invalid_contracts_are_listed(document):
    assert [round_id for round_id, _ in summary.invalid_contracts(document)] == ["everything"]
    assert summary.invalid_contracts(NOTHING) == []
