"""The result files of SWE-bench: which of them a value is, and what they call their parts.

What belongs here: telling the files apart and naming instances. What does not: rows (swebench).
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.formats.values import entries, members, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Members = Mapping[str, Any]

RESOLVED: Final = "resolved"
TEST_KINDS: Final = ("FAIL_TO_PASS", "PASS_TO_PASS")
LEFT_OUT: Final = ("no_generation", "no_logs")
"""Lists of `results.json` with the instances that have no report."""

REPORTS: Final = "logs"
EXIT_STATUSES: Final = "instances_by_exit_status:"
"""First line of the file mini-SWE-agent writes per start of a batch, `exit_statuses_<time>.yaml`."""

_SUBMISSION_LISTS: Final = frozenset(
    """no_generation no_logs generated with_logs applied no_apply install_fail reset_failed test_errored
    test_timeout""".split()  # noqa: SIM905 - a list of words
)
_INSTANCE: Final = re.compile(r"(?:instance_)?([A-Za-z0-9.-]{1,100})__([A-Za-z0-9_.-]{1,100})-[\w.-]{1,200}", re.ASCII)
_YEAR: Final = re.compile(r"[12]\d{3}", re.ASCII)
_LOOKED_AT: Final = 20
"""Members looked at to tell a file that is one object with an instance per member."""


def is_instance_id(name: str) -> bool:
    """Tell the id of an instance: ``owner__repo-number``, in SWE-bench Pro ``instance_owner__repo-commit…``."""
    return _INSTANCE.fullmatch(name) is not None


def repository_of(instance: str) -> str | None:
    """Give ``owner/repo`` of an instance ``owner__repo-number``; None when the id is built otherwise."""
    owner, separator, rest = instance.partition("__")
    repository, dash, number = rest.rpartition("-")
    return f"{owner}/{repository}" if separator and dash and owner and repository and number.isdigit() else None


def folder_of(path: str) -> str:
    """Give the folder a file tells of: its own, of the report of an instance the one above `logs`."""
    folders = path.split("/")[:-1]
    if folders and is_instance_id(folders[-1]) and REPORTS in folders:
        folders = folders[: len(folders) - 1 - folders[::-1].index(REPORTS)]
    return "/".join(folders)


def is_prediction(value: Any) -> bool:
    """Tell a prediction: the patch a model submitted for an instance."""
    prediction = members(value)
    return (
        text(prediction.get("instance_id")) is not None and {"model_patch", "model_name_or_path"} <= prediction.keys()
    )


def is_predictions(value: Any) -> bool:
    """Tell a file of predictions: an object by instance, or an array."""
    return _each(members(value).values() or entries(value), is_prediction)


def is_report(value: Any) -> bool:
    """Tell what the harness says of an instance: one member, named by the instance."""
    report = members(value)
    return _each(report.values(), lambda each: {"patch_successfully_applied", RESOLVED} <= members(each).keys())


def report_in(value: Any) -> tuple[str, Members] | None:
    """Give a report and where it stands: at the top, or below `report` in a bundle of reports, one a line."""
    for pointer, report in (("", value), ("/report", members(value).get("report"))):
        if is_report(report):
            return pointer, members(report)
    return None


def is_run_report(value: Any) -> bool:
    """Tell the report of a whole run: counts, and the lists of instances they count."""
    report = members(value)
    return isinstance(report.get("resolved_ids"), list) and "resolved_instances" in report


def is_submission(value: Any) -> bool:
    """Tell `results.json` of a submission: lists of instances by what became of them."""
    lists = members(value)
    return RESOLVED in lists and bool(_SUBMISSION_LISTS & lists.keys()) and _each(lists.values(), _is_list)


def is_breakdown(value: Any) -> bool:
    """Tell `resolved_by_repo.json` and `resolved_by_time.json`: resolved and total per repository or year."""
    return _each(members(value).values(), lambda each: members(each).keys() == {RESOLVED, "total"})


def is_by_year(value: Members) -> bool:
    """Tell a breakdown by time from one by repository."""
    return all(_YEAR.fullmatch(name) is not None for name in value)


def is_verdicts(value: Any) -> bool:
    """Tell an object that says true or false of each instance."""
    verdicts = members(value)
    is_named = _each(verdicts, is_instance_id)
    return is_named and _each(verdicts.values(), lambda verdict: isinstance(verdict, bool))


def is_passed(outcome: Members) -> bool:
    """Tell whether no test that must pass failed; an outcome without tests has not passed."""
    tests = members(outcome.get("tests_status"))
    return all(entries(members(tests.get(kind)).get("failure")) == [] for kind in TEST_KINDS)


def counts_of(outcome: Members) -> str | None:
    """Say how many tests failed of those that had to pass, in the words of the report."""
    tests = members(outcome.get("tests_status"))
    counts = [(kind, members(tests.get(kind))) for kind in TEST_KINDS]
    if not tests:
        return None
    return "; ".join(
        f"{kind}: {len(entries(c.get('failure')))} failure, {len(entries(c.get('success')))} success"
        for kind, c in counts
    )


def _each(values: Iterable[Any], holds: Callable[[Any], bool]) -> bool:
    """Tell whether there are values and the first of them all are such."""
    first = list(islice(values, _LOOKED_AT))
    return bool(first) and all(holds(value) for value in first)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value[:_LOOKED_AT])
