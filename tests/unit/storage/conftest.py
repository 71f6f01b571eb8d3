"""A lake in a temporary folder and small frames to put into it."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.storage.lake import Lake

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd


def make_usage(round_id: str = "r1", rows: int = 3, **row: Any) -> pd.DataFrame:
    """Give `rows` usage reports of one round; `row` replaces cells of all of them."""
    return frame_of(
        "core_usage",
        (
            {
                "round_id": round_id,
                "run_id": "run-1",
                "input_tokens": 2**53 + 1,
                "cost_usd": Decimal("0.000000000000000001"),
                "cost_lexeme": "1.50",
                "at": datetime(2026, 11, 30, 23, 59, 59, 123456, UTC),
                "path": "logs/a.jsonl",
                "file_sha256": "a" * 64,
                "line": line,
                "pointer": "/usage",
                **row,
            }
            for line in range(1, rows + 1)
        ),
    )


@pytest.fixture
def usage() -> Callable[..., pd.DataFrame]:
    return make_usage


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")
