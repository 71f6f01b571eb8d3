"""Audit logs for benchmarks: seeded, about 550 bytes a record, with bad lines of ten kinds at known places.

Shape: JSON lines of the native audit log (spec/ingest.md §3), 1,000 records to a run. The bad lines replace records,
spread evenly; their number grows with the log: 951 in a million.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BAD_PER_MILLION = 951
RECORDS_OF_A_RUN = 1_000
TEXT = (
    "read the parser and wrote a test for nested quotes; 3 passed, 1 failed in tests/parser/test_quotes.py::test_deep "
    'AssertionError: expected "a\\"b" got "a\\\\"b" after the second pass, tokens unchanged, retrying with a smaller '
    "change to src/parser/quotes.py and lines 40-61 of src/parser/state.py\\n pip check: no broken requirements é ✓ "
)
WORDS = TEXT.split()
TOOLS = ("bash", "edit", "read", "search", "pytest", "git")
KINDS = (
    "truncated", "not_utf8", "duplicate_member", "not_finite", "trailing_comma", "not_an_object", "too_deep",
    "lone_surrogate", "bad_type", "raw_control",
)  # fmt: skip


def write_log(path: Path, records: int, seed: int = 7, bad: int | None = None) -> int:
    """Write a log of `records` lines; return how many of them are bad."""
    rng = random.Random(seed)
    bad = round(records * BAD_PER_MILLION / 1_000_000) if bad is None else bad
    step = records / bad if bad else 0
    places = {int((number + 0.5) * step): KINDS[number % len(KINDS)] for number in range(bad)}
    with path.open("wb") as stream:
        stream.writelines(_lines(rng, records, places))
    return bad


def _lines(rng: random.Random, records: int, places: dict[int, str]) -> Iterator[bytes]:
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(8, 36))) for _ in range(4_096)]
    for number in range(records):
        line = json.dumps(_record(rng, texts, number), ensure_ascii=False).encode()
        yield (_broken(line, places[number]) if number in places else line) + b"\n"


def _record(rng: random.Random, texts: list[str], number: int) -> dict[str, object]:
    seconds = number // 4
    return {
        "timestamp": f"2026-{1 + seconds // 2_419_200 % 12:02}-{1 + seconds // 86_400 % 28:02}"
        f"T{seconds // 3_600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rng.randrange(10**6):06}Z",
        "agent_id": f"worker-{number // RECORDS_OF_A_RUN % 16}",
        "run_id": f"run-{number // RECORDS_OF_A_RUN:06}",
        "input_hash": f"{rng.getrandbits(256):064x}",
        "tool_called": rng.choice(TOOLS),
        "output_result": rng.choice(texts),
        "output_hash": f"{rng.getrandbits(256):064x}",
        "token_cost": rng.randrange(1, 10**6) / 10**6,
        "self_reported_status": "ok" if rng.random() < 0.9 else "error",  # noqa: PLR2004 - a share, not a threshold
        "independently_verified": rng.random() < 0.5,  # noqa: PLR2004 - the same
        "verification_method": None,
    }


def _broken(line: bytes, kind: str) -> bytes:
    """Break a record in one of ten ways; each must be quarantined with its own reason."""
    return {
        "truncated": line[: len(line) // 2],
        "not_utf8": line.replace(b"worker", b"w\xffrker", 1),
        "duplicate_member": line[:-1] + b', "run_id": "other"}',
        "not_finite": line[:-1] + b', "extra": NaN}',
        "trailing_comma": line[:-1] + b",}",
        "not_an_object": b"[" + line + b"]",
        "too_deep": line[:-1] + b', "extra": ' + b"[" * 200 + b"]" * 200 + b"}",
        "lone_surrogate": line[:-1] + b', "extra": "\\ud800"}',
        "bad_type": line.replace(b'"run_id": "', b'"run_id": 7, "was": "', 1),
        "raw_control": line.replace(b"worker", b"w\x01rker", 1),
    }[kind]
