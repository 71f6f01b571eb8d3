"""The few lists a reader of an audit needs first, from the `govern/audit/v1` document.

Used by the terminal page and the HTML file alike, so that both say the same. What does not belong here: layout.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, Final, NamedTuple

from governance_pipeline.vocabulary import ContractState, ExitCode, RecordStatus

NOT_ASKED_FOR: Final = frozenset({"unsupported_format", "empty", "duplicate_file", "other_format"})
"""Reasons of files that leave no question open: of no supported kind, without content, a copy of a log that was read,
left out by --format."""

LOG_ACCOUNTED: Final = "log-accounted"
_SPEAKING: Final = ("block", "pause", "warn")
_LISTED_APART: Final = ("cross-check-mismatch", "output-hash-mismatch")


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


def false_hashes(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the declared hashes that are not those of the bytes, in document order."""
    return [row for row in document["hashes"] if row["status"] == RecordStatus.MISMATCH]


def unknown_hashes(document: dict[str, Any]) -> list[tuple[str, int]]:
    """Return (reason code, number) of the declared hashes that cannot be compared, most frequent first."""
    rows = (row for row in document["hashes"] if row["status"] == RecordStatus.UNVERIFIABLE)
    return Counter(row["reason_code"] for row in rows).most_common()


def unread(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the files that should have been readable and were not, in whole or in part.

    Files of unsupported kinds, copies and files that `--format` leaves out are not among them.
    """
    return [f for f in document["files"] if f["reason"] not in NOT_ASKED_FOR and (f["reason"] or f["quarantined"])]


def not_used(document: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Return each file that was not used in whole or in part, with the reasons."""
    reasons = document["quarantine_reasons"]
    return [
        (f, f["reason"] or reasons.get(f"{f['round_id']}/{f['path']}", ""))
        for f in document["files"]
        if f["reason"] or f["quarantined"]
    ]


def invalid_contracts(document: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Return (round, fault) of the rounds whose contract cannot be used."""
    contracts = ((verdict["round_id"], verdict["contract"]) for verdict in document["rounds"])
    return [(round_id, found["fault"]) for round_id, found in contracts if found["state"] == ContractState.INVALID]


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


def findings(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return (round id, finding) of what blocks or warns, worst first, without false numbers and hashes."""
    found = [
        (round_["round_id"], finding)
        for round_ in document["rounds"]
        for finding in _findings_of(round_)
        if finding["decision"] in _SPEAKING and finding["code"] not in _LISTED_APART
    ]
    return sorted(found, key=lambda one: _SPEAKING.index(one[1]["decision"]))


def statuses(document: dict[str, Any]) -> list[tuple[str, int]]:
    """Return (status, number of rounds), worst first; statuses no round has are left out."""
    counted = Counter(round_["status"] for round_ in document["rounds"])
    return [(status, counted[status]) for status in ("block", "unknown", "warn", "pass") if counted[status]]


def verdict(document: dict[str, Any], fail_on: str) -> Verdict:
    """Decide what the audit says as a whole, and the exit code (design §7: 1 before 3 before 0).

    Findings speak as their rounds' verdicts decided; `never` turns every finding and unknown into 0. An audit that
    read no log, or verified none of the numbers it found, is unknown: it looked at nothing and is no pass. A check that
    survives its mutants blocks the audit whatever else was found (spec/crosscheck.md §4).
    """
    counts, decisions = document["counts"], _decisions(document)
    if cannot_fail(document):
        return Verdict("verdict_blocked", ExitCode.REFUSED)
    if decisions & set(_SPEAKING):
        key = "verdict_findings"
    elif _is_open(document):
        key = "verdict_unknown"
    elif counts["match"] or counts["hash_match"]:
        key = "verdict_clean"
    elif not any(file["format"] for file in document["files"]):
        key = "verdict_empty"
    else:
        key = "verdict_unchecked" if counts["declared"] else "verdict_nothing"
    return Verdict(key, _exit_code(fail_on, document, key))


def cannot_fail(document: dict[str, Any]) -> list[str]:
    """Return the ids of checks that ran and were not killed by their mutants; none where nothing was proved here."""
    return list((document.get("proof") or {"cannot_fail": []})["cannot_fail"])


def verdict_values(document: dict[str, Any]) -> dict[str, int]:
    """Return the numbers the verdict sentence names."""
    unknown_rounds = dict(statuses(document)).get("unknown", 0)
    others = len(findings(document))
    values = document["counts"] | {"cannot_fail": len(cannot_fail(document))}
    return {**values, "unread": len(unread(document)), "other": others, "unknown_rounds": unknown_rounds}


def _exit_code(fail_on: str, document: dict[str, Any], key: str) -> int:
    if fail_on == "never":
        return ExitCode.CLEAN
    fails = {"block"} if fail_on == "block" else set(_SPEAKING)
    if _decisions(document) & fails:
        return ExitCode.FINDINGS
    is_unknown = _is_open(document) or key in {"verdict_empty", "verdict_unchecked"}
    return ExitCode.UNKNOWN if is_unknown else ExitCode.CLEAN


def _decisions(document: dict[str, Any]) -> set[str]:
    """Decisions of all findings; false numbers and hashes are counted apart too, so that no verdict can lose them."""
    counts = document["counts"]
    counted = {"warn"} if counts["mismatch"] else set()
    counted |= {"block"} if counts["hash_mismatch"] else set()
    return counted | {finding["decision"] for round_ in document["rounds"] for finding in _findings_of(round_)}


def _is_open(document: dict[str, Any]) -> bool:
    """Something could not be judged. A file nobody asked for, or a round of nothing else, opens nothing."""
    counts = document["counts"]
    if counts["unverifiable"] or counts["hash_unverifiable"] or unread(document):
        return True
    idle = [file for file in document["files"] if file["reason"] in NOT_ASKED_FOR]
    listed = {(file["round_id"], f"{LOG_ACCOUNTED}:{file['path']}") for file in idle}
    busy = {file["round_id"] for file in document["files"] if file["reason"] not in NOT_ASKED_FOR}
    return any(
        finding["decision"] == "unknown" and (round_["round_id"], finding["factors"].get("check")) not in listed
        for round_ in document["rounds"]
        if round_["round_id"] in busy
        for finding in _findings_of(round_)
    )


def _findings_of(round_: dict[str, Any]) -> list[dict[str, Any]]:
    return [*round_["new_findings"], *round_["known_findings"]]


def _last_if_bracketed(name: str) -> tuple[bool, str]:
    return name.startswith("("), name
