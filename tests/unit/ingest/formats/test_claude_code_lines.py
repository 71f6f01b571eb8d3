"""A line of Claude Code is told from the lines of its heirs and of its own stream output."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.ingest.formats.claude_code_lines import fault_of, is_line, is_message, text_of, tokens_of

CHAIN = {"uuid": "u", "parentUuid": None, "timestamp": "2026-01-01T00:00:00Z", "cwd": "/x", "version": "1"}


@pytest.mark.parametrize(
    "line",
    [
        {
            "type": "user",
            "sessionId": "s",
            "message": {"role": "user", "parts": [{"text": "hi"}]},
            **CHAIN,
        },  # Qwen Code
        {"type": "system", "sessionId": "s", "subtype": "ui_telemetry", **CHAIN},
        {
            "type": "assistant",
            "session_id": "s",
            "uuid": "u",
            "message": {"role": "assistant", "content": []},
        },  # stream
        {"type": "result", "session_id": "s", "total_cost_usd": 1},
        {"type": "session_meta", "timestamp": "t", "payload": {}},  # Codex
        {"type": 5, "isSidechain": False},
        {"isSidechain": False},
        "text",
        None,
    ],
)
def test_lines_of_other_programs_are_not_taken(line):
    assert not is_line(line)


@pytest.mark.parametrize(
    "line",
    [
        {"type": "summary", "summary": "x", "leafUuid": "u"},
        {"type": "progress", "isSidechain": False, **CHAIN},
        {"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "hi"}},
    ],
)
def test_lines_of_a_session_are_taken(line):
    assert is_line(line)


def test_a_message_of_an_export_needs_no_session():
    line = {"type": "assistant", "message": {"content": []}}
    assert is_message(line)
    assert not is_line(line)
    assert not is_message({"type": "assistant", "message": "x"})


def test_a_session_of_another_program_is_claimed_by_nobody(read):
    qwen = {"type": "user", "sessionId": "s", "message": {"role": "user", "parts": []}, **CHAIN}
    assert read({"logs/q.jsonl": json.dumps(qwen) + "\n"}).unclaimed == {"logs/q.jsonl": "unsupported_format"}


def test_the_text_of_a_message_is_its_text_blocks_joined():
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "image"},
        {"type": "text", "text": "b"},
        {"type": "text", "text": 5},
    ]
    assert [text_of(content) for content in ("x", blocks, [{"type": "image"}], [], None, 7)] == [
        "x",
        "a\nb",
        None,
        None,
        None,
        None,
    ]


def test_zeros_are_a_measurement_of_synthetic_messages_only():
    zeros = {"input_tokens": 0, "output_tokens": 0}
    assert tokens_of(zeros, "<synthetic>").output == 0
    assert tokens_of(zeros, "claude-opus-4-6").output is None
    assert tokens_of({"input_tokens": 1, "output_tokens": 0}, None).output == 0


def test_a_type_nobody_has_seen_is_no_fault():
    assert fault_of({"type": "brand-new"}) is None
    assert fault_of({"type": ""}) == "no_type"
