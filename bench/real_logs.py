"""What becomes of the public logs beside the checkout: files, records, checks, and the differences found by hand.

Usage: python bench/real_logs.py [AUDIT.json]      default: audits ../shared/data/real, which takes about a minute

Three tables: format x files x records in = accepted + quarantined + duplicates + blank, with its declared numbers that
have no parts and the outcomes of those that were checked; the explanations that hold for the mismatches of a format;
and each row of ../shared/research/mismatches.csv as reproduced exactly (the same file or subject, both values), or with
the reason why there is no such mismatch. The exit code is 1 where a file or a row is unexplained.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from governance_pipeline.report.audit_summary import coverage

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
LONG_ENOUGH = 4
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
ALIASES = {"codex": "codex_rollout", "aider": "aider_leaderboard", "swebench_experiments": "swebench_pro"}
"""Name in the list -> format."""

EXPLAINED = (
    ("codex", "naive sum", "each count is written twice: counted once per change of the cumulative total"),
    (
        "terminal_bench",
        "n_unresolved",
        "the file is not among the logs (no licence); null counts as unresolved here",
    ),
    ("aider", "pass_rate", "the same row of another file of the board is the record"),
    ("claude_code_stream", "output_tokens", "the events hold the stub of message_start: unverifiable, never 1"),
    ("claude_code_stream", "num_turns", "the result declares no num_turns, so there is nothing to check"),
    ("swe_agent", "file", "the file is no JSON: unread, with the reason malformed_json"),
    ("mini_swe_agent", "instances listed", "a list of one resume declares no number"),
    ("inspect_ai", "no values", "the log holds no scored sample: unverifiable"),
    ("inspect_ai", "zip entries", "zstd members are read here"),
    ("inspect_ai", "total_tokens", "checked by model; the sum of the parts that are declared beside it agrees"),
    ("langfuse_trace", "no parts", "a total without parts is unverifiable, and listed so"),
    ("reviewer_verdicts", "agree_count", "the vocabulary of verdicts is open: compared with `pass` as the source does"),
    ("reviewer_verdicts", "Decision", "a table of reviews of no supported format, accounted for as unsupported"),
    ("leaderboards_misc", "", "a file of no supported format, accounted for as unsupported"),
    ("multi_agent_who_when", "", "a file of no supported format, accounted for as unsupported"),
    ("swebench_experiments", "instances in file", "a file of outcomes declares no number; 731 is that of the paper"),
)
"""Format, part of the field -> why a row of the list is no mismatch here; the first that fits speaks."""


def main() -> None:
    """Print the tables."""
    document = audited() if len(sys.argv) == 1 else json.loads(Path(sys.argv[1]).read_text("utf-8"))
    unexplained = print_records(document)
    print_explanations(document)
    unexplained += print_reproduction(document)
    print(f"\nunexplained: {unexplained}")
    raise SystemExit(unexplained > 0)


def audited() -> dict[str, Any]:
    """Audit the public logs as a user would."""
    command = [sys.executable, "-m", "governance_pipeline.cli", "audit", str(SHARED / "data" / "real"), "--json"]
    found: dict[str, Any] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)
    return found


def print_records(document: dict[str, Any]) -> int:
    """Print records and checks by format; gives the number of files that are not explained."""
    head = ("files", "records", "accepted", "quarant.", "duplic.", "blank", "checks", "no parts", "checked", "match",
            "mismatch", "unverif.")  # fmt: skip
    print(f"{'format':22}" + "".join(f"{name:>10}" for name in head))
    checks: dict[str, set[str]] = defaultdict(set)
    formats = {(file["round_id"], file["path"]): file["format"] for file in document["files"]}
    for record in document["cross_checks"]:
        checks[formats[record["round_id"], record["declared_path"]]].add(record["check_id"])
    apart = Counter(number["format"] for number in document["not_checkable"])
    sums: Counter[str] = Counter()
    for row in coverage(document):
        numbers = dict(
            zip(head, (row.files, row.records, row.accepted, row.quarantined, row.duplicates, row.blank,
                       len(checks[row.format]), apart[row.format], row.match + row.mismatch + row.unverifiable,
                       row.match, row.mismatch, row.unverifiable), strict=True)
        )  # fmt: skip
        sums.update(numbers)
        print(f"{row.format:22}" + "".join(f"{number:10,}" for number in numbers.values()))
    print(f"{'together':22}" + "".join(f"{sums[name]:10,}" for name in head))
    found = document["counts"]["declared"]
    print(f"\ndeclared numbers found: {found:,}, each checked or listed without parts; some are checked twice")
    reasons = Counter(file["reason"] for file in document["files"] if file["reason"])
    print("\nfiles left unread: " + ", ".join(f"{number} {reason}" for reason, number in reasons.most_common()))
    for place, reason in document["quarantine_reasons"].items():
        if any(f"{f['round_id']}/{f['path']}" == place and not f["reason"] for f in document["files"]):
            print(f"records quarantined in {place}: {reason}")
    parts = ("accepted", "quarantined", "blank", "duplicates")
    told = document["quarantine_reasons"]
    return sum(
        file["lines_in"] != sum(file[part] for part in parts)
        or bool(file["quarantined"] and not file["reason"] and not told.get(f"{file['round_id']}/{file['path']}"))
        for file in document["files"]
    )


def print_explanations(document: dict[str, Any]) -> None:
    """Print for how many mismatches of a format each hypothesis holds; several may hold for one of them."""
    formats = {(file["round_id"], file["path"]): file["format"] for file in document["files"]}
    holding: dict[tuple[str, str], set[str]] = defaultdict(set)
    for tried in document["explanations"]:
        holding[tried["round_id"], tried["record_id"]] |= {tried["hypothesis"]} if tried["holds"] else set()
    mismatches = [record for record in document["cross_checks"] if record["status"] == "mismatch"]
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for record in mismatches:
        name = formats[record["round_id"], record["declared_path"]]
        found[name].update(holding.get((record["round_id"], record["record_id"]), {"UNTRIED"}))
        found[name]["mismatches"] += 1
    print("\nexplanations that hold (several may hold for one mismatch)")
    for name, counted in sorted(found.items()):
        said = ", ".join(f"{number} {kind}" for kind, number in counted.most_common() if kind != "mismatches")
        print(f"{name:22}{counted['mismatches']:6}: {said}")
    together = Counter(kind for counted in found.values() for kind in counted.elements() if kind != "mismatches")
    print(f"{'together':22}{len(mismatches):6}: {', '.join(f'{n} {kind}' for kind, n in together.most_common())}")


def print_reproduction(document: dict[str, Any]) -> int:
    """Print how each difference found by hand comes out; gives the number of rows without an explanation."""
    formats = {(file["round_id"], file["path"]): file["format"] for file in document["files"]}
    records: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in document["cross_checks"]:
        records[formats[record["round_id"], record["declared_path"]]].append(record)
    with (SHARED / "research" / "mismatches.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    said = []
    for row in rows:
        known = records[ALIASES.get(row["format"], row["format"])]
        is_exact = any(
            is_about(row["file_or_record"], record)
            and is_same(row["declared"], record["declared"])
            and is_same(row["computed"], record["computed"])
            for record in known
        )
        reason = "exact" if is_exact and "naive" not in row["field"] else explanation(row)
        outcomes[row["format"]]["exact" if reason == "exact" else "explained" if reason else "unexplained"] += 1
        if reason != "exact":
            said.append((row, reason or "UNEXPLAINED"))
    print(f"\n{'differences found by hand':28}{'rows':>6}{'exact':>8}{'explained':>11}{'unexplained':>13}")
    for name, found in sorted(outcomes.items()):
        print(f"{name:28}{found.total():6}{found['exact']:8}{found['explained']:11}{found['unexplained']:13}")
    print(f"{'together':28}{len(rows):6}" + "".join(
        f"{sum(found[kind] for found in outcomes.values()):{width}}"
        for kind, width in (("exact", 8), ("explained", 11), ("unexplained", 13))
    ))  # fmt: skip
    for row, reason in said:
        print(f"- {row['format']}, {row['file_or_record'][:70]}, {row['field'][:60]}: {row['declared']} against "
              f"{row['computed'][:40]}: {reason}")  # fmt: skip
    return sum(found["unexplained"] for found in outcomes.values())


def explanation(row: dict[str, str]) -> str | None:
    """Give why a row of the list is no mismatch here."""
    return next((why for name, part, why in EXPLAINED if name == row["format"] and part in row["field"]), None)


def is_about(by_hand: str, record: dict[str, Any]) -> bool:
    """Tell whether a word of a hand-made cell, long enough to be a name, is in where a record is from."""
    place = f"{record['round_id']}/{record['declared_path']}/{record['subject_id']}"
    return any(word in place for word in re.split(r"[\s/\[\]]+", by_hand) if len(word) >= LONG_ENOUGH)


def is_same(by_hand: str, found: Any) -> bool:
    """Compare the first number of a hand-made cell with a value, to the digits that were written down."""
    match = NUMBER.search(by_hand.replace(",", ""))
    if match is None or found is None:
        return False
    digits = len(match[0].partition("e")[0].partition(".")[2])
    try:
        value = float(found)
    except (TypeError, ValueError):
        return False
    return abs(float(match[0]) - value) <= max(0.5 * 10**-digits if digits else 0, abs(value) * 1e-9) * 1.001


if __name__ == "__main__":
    main()
