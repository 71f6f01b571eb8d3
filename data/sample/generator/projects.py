"""The three projects of the sample. All of them, their people and their agents are invented."""

from __future__ import annotations

from datetime import UTC, datetime

from generator.model import Project

PARSER = Project(
    prefix="parser",
    name="quillmark/parser",
    language="python",
    task_kind="bugfix",
    cohort="parser/bugfix",
    include=("src/lexer/**", "src/grammar/**", "tests/**"),
    non_goals=("src/cli/**", "docs/**"),
    public=("src/api/**",),
    key_result="Every document of the conformance set parses to the tree its authors agreed on",
    runner="python -m pytest",
    coder="coder-3",
    scout="scout-1",
    checker="checker-2",
    first_round_at=datetime(2025, 3, 3, 8, 30, tzinfo=UTC),
)
BILLING = Project(
    prefix="billing",
    name="northpier/billing",
    language="python",
    task_kind="feature",
    cohort="billing/feature",
    include=("services/**", "api/**", "tests/**"),
    non_goals=("migrations/**",),
    public=("api/**",),
    key_result="Every amount on a customer document can be traced to the line it comes from",
    runner="python -m pytest",
    coder="coder-5",
    scout="scout-2",
    checker="checker-4",
    first_round_at=datetime(2025, 3, 5, 9, 15, tzinfo=UTC),
)
ATLAS = Project(
    prefix="atlas",
    name="tidemark/atlas",
    language="sql",
    task_kind="pipeline",
    cohort=None,
    include=("pipelines/**", "models/**", "checks/**"),
    non_goals=("dashboards/**",),
    public=("schemas/**",),
    key_result="Published tide tables agree with the gauges they were made from",
    runner="atlas check",
    coder="coder-8",
    scout="scout-3",
    checker="checker-6",
    first_round_at=datetime(2025, 3, 7, 7, 45, tzinfo=UTC),
)
