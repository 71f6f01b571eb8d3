"""What a report claims of itself: five structural tests, eight claims, one guardian, and whether it bears them out.

What belongs here: which violations speak against which claim. What does not: finding them
(`crosscheck.report_validator`) and running the structural tests (`crosscheck.guardian`).

Source: spec/crosscheck.md §7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.crosscheck import report_shape as shape
from governance_pipeline.crosscheck.report_shape import Violation, shape_violations

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    Object = Mapping[str, Any]

PASS: Final = "pass"  # noqa: S105 - a verdict, no secret
BLOCK: Final = "block"

EPSILON_CODES: Final = frozenset({"epsilon_not_allowed", "epsilon_wrong", "epsilon_reason_blank"})
CLAIM_CODES: Final = frozenset({"validation_false", "validation_wrong", "guardian_wrong"})

AGAINST: Final[Mapping[str, frozenset[str]]] = {
    "epsilon_justified": EPSILON_CODES,
    "records_recomputed": frozenset({"delta_wrong", "flag_wrong", "reason_code_wrong"}),
    "mismatches_visible": frozenset({"value_hidden"}),
    "mismatches_escalated": frozenset({"escalation_missing", "escalation_extra", "action_wrong"}),
    "silent_correction_blocked": frozenset({"overwritten_true", "declared_altered"}),
}
"""Claim -> the violations that speak against it."""


def expected_claims(
    fields: Sequence[Object], codes: Collection[str], structural_tests: Mapping[str, bool]
) -> dict[str, bool]:
    """Return the eight claims a report bears out.

    Args:
        fields: its fields.
        codes: codes of all violations but those about claims; a structural test that is false is one of them.
        structural_tests: its five tests.
    """
    against = {claim: not found & set(codes) for claim, found in AGAINST.items()}
    claims = {
        "fields_verifiable": bool(fields) and all(map(_is_verifiable, fields)),
        **against,
        "structural_tests_passed": all(structural_tests.values()),
        "validator_passed": not set(codes) - CLAIM_CODES,
    }
    return {name: claims[name] for name in shape.CLAIMS}


def guardian_of(claims: Mapping[str, bool]) -> str:
    """Return pass when all eight claims are true, and block only when one is false."""
    return PASS if all(claims.values()) else BLOCK


def claim_violations(document: Object, codes: Collection[str]) -> Iterator[Violation]:
    """Yield what is wrong with structural tests, claims and guardian of a report.

    Args:
        document: the report; its fields were looked at before.
        codes: codes of the violations found so far.
    """
    tests, claims = document["structural_tests"], document["validation"]
    unsound = shape_violations(tests, shape.TESTS_SHAPE, "/structural_tests")
    unsound += shape_violations(claims, shape.CLAIMS_SHAPE, "/validation")
    yield from unsound
    if unsound:
        return
    failed = [*_failed_tests(tests), *_disproved_tests(document["fields"], tests)]
    yield from failed
    found = {*codes, *(violation.code for violation in failed)}
    expected = expected_claims(document["fields"], found, tests)
    for name, claim in claims.items():
        if not claim:
            yield Violation("validation_false", f"/validation/{name}")
        if claim != expected[name]:
            yield Violation("validation_wrong", f"/validation/{name}")
    if document.get("guardian", guardian_of(claims)) != guardian_of(claims):
        yield Violation("guardian_wrong", "/guardian")


def _is_verifiable(field: Any) -> bool:
    """A check is verifiable when it is independent, names a component and looked at something."""
    is_object = isinstance(field, dict)
    return is_object and field.get("independent") is True and bool(field.get("components")) and _count(field) > 0


def _count(field: Object) -> int:
    count = field.get("records")
    return count if isinstance(count, int) else 0


def _failed_tests(tests: Object) -> Iterator[Violation]:
    yield from (
        Violation("structural_test_false", f"/structural_tests/{n}") for n, passed in tests.items() if not passed
    )


def _disproved_tests(fields: Sequence[Any], tests: Object) -> Iterator[Violation]:
    """A field that says its check cannot fail or is not independent disproves tests that say all of them passed."""
    proofs = tests["recompute_independent"] and tests["injected_mismatch_flagged"]
    for index, field in enumerate(fields):
        if isinstance(field, dict):
            if field.get("can_fail") is False and proofs:
                yield Violation("structural_test_false", f"/fields/{index}/can_fail")
            if field.get("independent") is False and tests["recompute_independent"]:
                yield Violation("structural_test_false", f"/fields/{index}/independent")
