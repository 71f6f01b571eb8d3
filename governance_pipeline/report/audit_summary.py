"""The few lists a reader of an audit needs first, from the `govern/audit/v1` document.

Used by the terminal page and the HTML file alike, so that both say the same. What does not belong here: layout.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, NamedTuple

from governance_pipeline.vocabulary import ExitCode, RecordStatus

UNSUPPORTED = "unsupported_format"


class FormatCoverage(NamedTuple):
    """What one format contributed: files and records by fate, checks by status."""

    format: str
    files: int
    records: int
    accepted: int
    quarantined: int
    blank: int
    duplicates: int
    match: int
    mismatch: int
    unverifiable: int


class Verdict(NamedTuple):
    """Outcome of an audit: key of the sentence (report/texts.py) and the exit code."""

    text_key: str
    exit_code: int


def mismatches(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the records whose declared value is false, in document order."""
    return [r for r in document["cross_checks"] if r["status"] == RecordStatus.MISMATCH]


def unverifiable(document: dict[str, Any]) -> list[tuple[str, str, int]]:
    """Return (check id, reason code, number of records), most frequent first."""
    counted = Counter(
        (r["check_id"], r["reason_code"]) for r in document["cross_checks"] if r["status"] == RecordStatus.UNVERIFIABLE
    )
    return [(check, reason, n) for (check, reason), n in sorted(counted.items(), key=lambda kv: (-kv[1], kv[0]))]


def not_checkable(document: dict[str, Any]) -> list[tuple[str, str, str, int]]:
    """Return (format, field, reason, number of declared values), sorted."""
    counted = Counter((r["format"], r["field"], r["reason"]) for r in document["not_checkable"])
    return [(*key, n) for key, n in sorted(counted.items())]


def unread(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the files that should have been readable and were not; files of unsupported kinds are not among them."""
    return [f for f in document["files"] if f["reason"] not in (None, UNSUPPORTED)]


def coverage(document: dict[str, Any]) -> list[FormatCoverage]:
    """Return one row per format, sorted by name; files no format claimed come last under their reason."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for file in document["files"]:
        row = sums[file["format"] or f"({file['reason']})"]
        row["files"] += 1
        row["records"] += file["lines_in"]
        for fate in ("accepted", "quarantined", "blank", "duplicates"):
            row[fate] += file[fate]
    formats = {(f["round_id"], f["path"]): f["format"] for f in document["files"]}
    for record in document["cross_checks"]:
        name = formats.get((record["round_id"], record["declared_path"])) or "(unknown)"
        sums[name][record["status"]] += 1
    fields = FormatCoverage._fields[1:]
    return [FormatCoverage(name, *(sums[name][f] for f in fields)) for name in sorted(sums, key=_last_if_bracketed)]


def verdict(document: dict[str, Any], fail_on: str) -> Verdict:
    """Decide what the audit says as a whole, and the exit code (design §7: 1 before 3 before 0).

    False numbers are warnings, false hashes blocking; `never` turns every finding and unknown into 0.
    """
    counts = document["counts"]
    blocking, warning = counts["hash_mismatch"], counts["mismatch"]
    unknown = counts["unverifiable"] or unread(document)
    if blocking or warning:
        key = "verdict_findings"
    elif unknown:
        key = "verdict_unknown"
    else:
        key = "verdict_clean" if counts["match"] else "verdict_nothing"
    return Verdict(key, _exit_code(fail_on, blocking=blocking, warning=warning, unknown=bool(unknown)))


def verdict_values(document: dict[str, Any]) -> dict[str, int]:
    """Return the numbers the verdict sentence names."""
    return {**document["counts"], "unread": len(unread(document))}


def _exit_code(fail_on: str, *, blocking: int, warning: int, unknown: bool) -> int:
    if fail_on == "never":
        return ExitCode.CLEAN
    if blocking or (warning and fail_on == "warn"):
        return ExitCode.FINDINGS
    return ExitCode.UNKNOWN if unknown else ExitCode.CLEAN


def _last_if_bracketed(name: str) -> tuple[bool, str]:
    return name.startswith("("), name
