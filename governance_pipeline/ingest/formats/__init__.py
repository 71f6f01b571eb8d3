"""The supported formats, in the order they are asked whether a file is theirs and in which they are read.

What belongs here: the one explicit list. What does not: anything about a format. Adding one is one module with the
names of `ingest.logformat.LogFormat`, one line here, a fixture and a test.

The native formats come first: they name their runs themselves, and a foreign log that names the same run then gets
an id of its own (`formats.runs.RunNames`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.formats import (
    aider_leaderboard,
    atif,
    claude_code,
    claude_code_entire,
    claude_code_stream,
    codex_rollout,
    git_log,
    inspect_ai,
    langfuse_trace,
    mini_swe_agent,
    openhands,
    openhands_index,
    otel_genai,
    swe_agent,
    swebench,
    swebench_pro,
    tau2_bench,
    tau_bench,
    terminal_bench,
)
from governance_pipeline.ingest.native.kinds import NATIVE_FORMATS

if TYPE_CHECKING:
    from governance_pipeline.ingest.logformat import LogFormat

FORMATS: Final[tuple[LogFormat, ...]] = (
    *NATIVE_FORMATS,
    claude_code,
    claude_code_entire,
    claude_code_stream,
    swe_agent,
    mini_swe_agent,
    openhands,
    atif,
    inspect_ai,
    otel_genai,
    openhands_index,
    swebench,
    swebench_pro,
    aider_leaderboard,
    tau_bench,
    tau2_bench,
    terminal_bench,
    langfuse_trace,
    codex_rollout,
    git_log,
)
