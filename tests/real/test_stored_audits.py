"""An audit of public logs says the same whether its rounds are kept or thrown away, and when they are kept already."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.cli.main import run

FOLDERS = ["aider_leaderboard", "approvals", "atif", "claude_code", "claude_code_entire", "claude_code_stream",
           "codex_rollout", "inspect_ai", "langfuse_trace", "leaderboards_misc", "mini_swe_agent", "multi_agent_autogen",
           "multi_agent_who_when", "openhands", "openhands_index", "other_cli", "otel_genai", "pi_agent",
           "reviewer_verdicts", "swe_agent", "swebench_experiments", "tau2_bench", "tau_bench", "terminal_bench"]  # fmt: skip
SAMPLE = ("approvals",)


def audited(capsys, *arguments):
    code = run(["audit", "--json", *map(str, arguments)])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "name", [name if name in SAMPLE else pytest.param(name, marks=pytest.mark.long) for name in FOLDERS]
)
def test_a_document_does_not_tell_whether_there_was_a_store(real_logs, tmp_path, capsys, name):
    folder = real_logs / name
    code, document = audited(capsys, folder)
    assert document["files"]
    for _ in range(2):  # the second time nothing is new in the store
        assert audited(capsys, folder, "--store", tmp_path) == (code, document)
