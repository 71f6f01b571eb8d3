"""Make the shipped price table from releases of litellm: the price list most agent tools compute their costs with.

Its wheels carry the list as JSON but no history, so the list of several releases is laid side by side. A price stands
from the first to the last release that has it; between two releases that follow each other only what both agree on
stands; before the first and after the last nothing is known. Models without a price (0 for input and output), and
providers hardly any log names, are left out.

    for day in 2024-12-01 2025-03-01 …; do
        pip download --no-deps --uploaded-prior-to ${day}T00:00:00Z -d wheels/$day litellm
    done
    python data/prices/make_table.py wheels > governance_pipeline/ingest/prices.json

Each folder below `wheels` is named by the day whose newest release it holds (pip 26 or later gives it).
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import zipfile
from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

MODES = ("chat", "responses", "completion")
MEMBERS = (
    "input_cost_per_token",
    "output_cost_per_token",
    "cache_read_input_token_cost",
    "cache_creation_input_token_cost",
    "cache_creation_input_token_cost_above_1hr",
)
COLUMNS = (
    "model", "valid_from", "valid_until", "input", "output", "cache_read", "cache_write", "cache_write_1h",
    "up_to_input_tokens", "source",
)  # fmt: skip
PROVIDERS = frozenset(
    """anthropic azure azure_ai cerebras dashscope deepseek fireworks_ai gemini groq minimax mistral moonshot openai
    openrouter perplexity together_ai vertex_ai xai zai""".split()  # noqa: SIM905 - a list of words
)
LIST_NAME = "model_prices_and_context_window_backup.json"
TIER = re.compile(r"_above_(\d+)k_tokens$")

Prices = tuple[str | None, ...]
"""USD per million of each of MEMBERS, then the input tokens up to which they hold."""


def main(wheels: Path) -> None:
    """Print the table."""
    days = sorted(folder.name for folder in wheels.iterdir())
    releases, found = [], defaultdict(dict)
    for index, day in enumerate(days):
        (wheel,) = (wheels / day).glob("litellm-*.whl")
        content = _list_in(wheel)
        version = wheel.name.split("-")[1]
        releases.append({"version": version, "date": day, "sha256": hashlib.sha256(content).hexdigest()})
        for model, entry in json.loads(content, parse_float=str, parse_int=str).items():
            prices = _prices(model, entry)
            if prices is not None:
                found[model][index] = prices
    rows = [row for model in sorted(found) for row in _rows(model, found[model], releases)]
    head = {"schema": "govern/prices/v1", "package": "litellm", "licence": "MIT", "unit": "USD per million tokens"}
    print(json.dumps(head | {"releases": releases, "columns": COLUMNS})[:-1] + ', "rows": [')
    print(",\n".join(json.dumps(row) for row in rows) + "\n]}")


def _list_in(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(LIST_NAME))
        return archive.read(name)


def _prices(model: str, entry: Any) -> Prices | None:
    provider, slash, _ = model.partition("/")
    if not isinstance(entry, dict) or entry.get("mode") not in MODES or (slash and provider not in PROVIDERS):
        return None
    costs = [_per_million(entry.get(name)) for name in MEMBERS]
    if None in costs[:2] or costs[:2] == ["0", "0"]:
        return None
    tiers = [int(match[1]) * 1000 for name in entry if (match := TIER.search(name))]
    return (*costs, str(min(tiers)) if tiers else None)


def _per_million(cost: str | None) -> str | None:
    if cost is None:
        return None
    number = (Decimal(cost) * 1_000_000).normalize()
    return format(number, "f")


def _rows(model: str, seen: dict[int, Prices], releases: list[dict[str, str]]) -> list[list[str | None]]:
    rows: list[list[str | None]] = []
    begin = 0
    indexes = sorted(seen)
    for position, index in enumerate(indexes):
        following = indexes[position + 1] if position + 1 < len(indexes) else None
        is_next = following == index + 1
        if is_next and seen[index] == seen[index + 1]:
            continue
        first, last = releases[indexes[begin]], releases[index]
        source = first["version"] if first is last else f"{first['version']} to {last['version']}"
        rows.append([model, first["date"], last["date"], *seen[index], f"litellm {source}"])
        if is_next:
            rows += _between(model, (last, seen[index]), (releases[index + 1], seen[index + 1]))
        begin = position + 1
    return rows


def _between(
    model: str, before: tuple[dict[str, str], Prices], after: tuple[dict[str, str], Prices]
) -> list[list[str | None]]:
    agreed = [a if a == b else None for a, b in zip(before[1][:-1], after[1][:-1], strict=True)]
    limits = [int(prices[-1]) for _, prices in (before, after) if prices[-1] is not None]
    begin = date.fromisoformat(before[0]["date"]) + timedelta(days=1)
    end = date.fromisoformat(after[0]["date"]) - timedelta(days=1)
    if None in agreed[:2] or begin > end:
        return []
    source = f"litellm {before[0]['version']} and {after[0]['version']} agree"
    return [[model, begin.isoformat(), end.isoformat(), *agreed, str(min(limits)) if limits else None, source]]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
