"""The validator tried on the shipped reports: valid ones pass, each invalid one is refused with its code.

What belongs here: which shipped report must be judged how. What does not: the judging. Offline and read-only; the
reports lie in the folder `shipped_reports`, `expected.json` maps each to codes that must be found (none: it is valid).
"""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.crosscheck.report_file import text_violations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SELFTEST_SCHEMA: Final = "govern/crosscheck-selftest/v1"


class SelftestResult(NamedTuple):
    """How one shipped report was judged: codes that must be found, and all that were found, sorted."""

    report: str
    expected: list[str]
    found: list[str]

    @property
    def passed(self) -> bool:
        """Whether a valid report passed, or an invalid one was refused with its code."""
        return set(self.expected) <= set(self.found) and bool(self.expected) == bool(self.found)


def selftest_results() -> Iterator[SelftestResult]:
    """Yield one result per shipped report, in the order of `expected.json`."""
    folder = resources.files("governance_pipeline.crosscheck") / "shipped_reports"
    expected: dict[str, list[str]] = json.loads((folder / "expected.json").read_text("utf-8"))
    for report, codes in expected.items():
        found = text_violations(folder.joinpath(*report.split("/")).read_bytes(), report)
        yield SelftestResult(report, codes, sorted({violation.code for violation in found}))


def selftest_document(results: Iterable[SelftestResult]) -> dict[str, Any]:
    """Return the document of ``govern crosscheck selftest``."""
    return {
        "schema": SELFTEST_SCHEMA,
        "reports": [{**result._asdict(), "passed": result.passed} for result in results],
    }
