"""Core tables of one round written by hand, for the built-in checks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.crosscheck.builtin import cross_checks
from governance_pipeline.ingest.extraction import value_kind, value_raw
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    import pandas as pd

FILE = "a" * 64


class Tables:
    """Declared values, their parts and quarantined records, added one by one; values are JSON as a log writes them."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict[str, Any]]] = {"core_declared": [], "core_components": [], "raw_quarantine": []}

    def declare(self, value: str, field: str = "total_cost_usd", subject: str = "run-1", **more: Any) -> Tables:
        """Add one declared value; `parts` gives the files of each component source."""
        parsed = parse_json(value.encode(), nonfinite=True)
        parts = more.pop("parts", {"audit_log": ["logs/audit.jsonl"], "changes": ["changes.jsonl"]})
        line = len(self.rows["core_declared"]) + 1
        row = {
            "round_id": "r-1",
            "subject_id": subject,
            "field": field,
            "value_raw": value_raw(parsed),
            "value_kind": value_kind(parsed),
            "format": "native",
            "component_paths": json.dumps(parts),
            "path": "declared.jsonl",
            "file_sha256": FILE,
            "line": line,
            "pointer": "/value",
        }
        self.rows["core_declared"].append(row | more)
        return self

    def part(self, index: int, source: str = "audit_log", subject: str = "run-1", /, **columns: str | None) -> Tables:
        """Add one component row; a column that is None is one the log does not know."""
        where = {"round_id": "r-1", "format": "native", "path": "logs/audit.jsonl", "file_sha256": FILE, "line": index}
        for column, value in columns.items():
            parsed = None if value is None else parse_json(value.encode(), nonfinite=True)
            cell = {"value_raw": value_raw(parsed), "value_kind": value_kind(parsed)}
            place = {"subject_id": subject, "source": source, "row_index": index, "column": column}
            self.rows["core_components"].append(where | place | cell | {"pointer": f"/{column}"})
        return self

    def costs(self, *values: str | None) -> Tables:
        """Add one audit log entry per cost."""
        for index, value in enumerate(values, 1):
            self.part(index, token_cost=value)
        return self

    def broken(self, path: str, round_id: str = "r-1", disposition: str = "quarantined") -> Tables:
        """Add a record of `path` that could not be used."""
        row = {"round_id": round_id, "path": path, "pointer": "", "disposition": disposition, "excerpt": ""}
        self.rows["raw_quarantine"].append(row | {"line": 9, "reason_code": "malformed_json"})
        return self

    def frame(self, table: str) -> pd.DataFrame:
        """Return one table, typed by its contract."""
        return frame_of(table, self.rows[table])

    def checks(self) -> pd.DataFrame:
        """Return `audit_cross_checks` of what was added."""
        return cross_checks(*(self.frame(t) for t in ("core_declared", "core_components", "raw_quarantine")))

    def outcomes(self) -> list[tuple[str, str | None]]:
        """Return (status, reason code) of each record, in order."""
        checks = self.checks()
        reasons = [None if code is None else str(code) for code in checks["reason_code"].astype(object)
                   .where(checks["reason_code"].notna(), None)]  # fmt: skip
        return list(zip(checks["status"], reasons, strict=True))


@pytest.fixture
def tables() -> Tables:
    """Return empty tables of one round."""
    return Tables()


@pytest.fixture(scope="session")
def tables_of_one_round() -> type[Tables]:
    """Return the class, for property tests that need fresh tables per example."""
    return Tables
