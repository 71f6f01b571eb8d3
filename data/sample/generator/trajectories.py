"""A plan told as a mini-SWE-agent trajectory (format 1.1) or as a SWE-agent trajectory (1.x)."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from generator.code_lines import code_lines, diff_text
from generator.native import add_change, add_evidence
from generator.text import json_text

if TYPE_CHECKING:
    from generator.model import Draft

MISS_PRICE, HIT_PRICE, OUTPUT_PRICE = Decimal("0.00000028"), Decimal("0.000000028"), Decimal("0.00000042")
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff"


def _tour(draft: Draft) -> tuple[list[tuple[str, str, int, str]], str]:
    """Give the commands of a round as (command, output, exit code, thought), and the diff they end with."""
    first = draft.plan.steps[0][0][0]
    commands = [
        (f"ls {first.rsplit('/', 1)[0]}", "\n".join(e[0] for s in draft.plan.steps for e in s), 0, "Look around.")
    ]
    diffs = []
    for number, edits in enumerate(draft.plan.steps, 1):
        for path, added, deleted in edits:
            old, new = code_lines(draft.dice, path, deleted), code_lines(draft.dice, path, added)
            diff = diff_text(path, old, new, draft.dice.between(8, 120))
            commands.append((f"git apply - <<'PATCH'\n{diff}PATCH", "", 0, f"Change {path}."))
            diffs.append(diff)
        draft.clock.tick(draft.dice.between(20_000, 60_000))
        add_change(draft, number, edits)
        is_passed = number == len(draft.plan.steps)
        if is_passed or draft.project.task_kind == "bugfix":
            output = f"{draft.dice.between(9, 40)} passed in 0.{draft.dice.between(10, 99)}s"
            output = output if is_passed else f"1 failed, {output}"
            commands.append((draft.plan.check, output, 0 if is_passed else 1, "Run the check of the round."))
            add_evidence(draft, number, "C1", draft.plan.check, output, is_passed=is_passed)
    return commands, "".join(diffs)


def mini_swe_agent(draft: Draft) -> dict[str, Any]:
    """Build the document of a mini-SWE-agent run; the declared cost is the exact sum of its calls."""
    commands, diff = _tour(draft)
    commands.append((SUBMIT, diff, 0, "The check passes; submit the change."))
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You work in a shell, one command at a time."},
        {"role": "user", "content": f"{draft.plan.objective}. Prove it with `{draft.plan.check}`."},
    ]
    prompt_tokens = 1_400
    for command, output, exit_code, thought in commands:
        call_id = f"call_{draft.dice.hexadecimal(20)}"
        messages.append(_call(draft, call_id, command, thought, prompt_tokens))
        prompt_tokens += len(command) // 3 + len(output) // 3 + 60
        if command != SUBMIT:
            messages.append(_observation(draft, call_id, output, exit_code))
    messages.append({"role": "exit", "content": diff, "extra": {"exit_status": "Submitted", "submission": diff}})
    calls = [message for message in messages if message["role"] == "assistant"]
    cost = sum((call["extra"]["cost"] for call in calls), Decimal(0))
    config = {
        "agent": {"step_limit": 60, "cost_limit": Decimal("2.0")},
        "model": {"model_name": "sample/bash-model-1", "model_kwargs": {"temperature": Decimal("0.0")}},
        "environment": {"cwd": f"/srv/projects/{draft.project.prefix}", "timeout": 60},
    }
    return {
        "info": {
            "model_stats": {"instance_cost": cost, "api_calls": len(calls)},
            "config": config,
            "mini_version": "2.2.7",
            "exit_status": "Submitted",
            "submission": diff,
        },
        "messages": messages,
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": draft.run_id,
    }


def _call(draft: Draft, call_id: str, command: str, thought: str, prompt_tokens: int) -> dict[str, Any]:
    draft.clock.tick(draft.dice.between(2_000, 9_000))
    hit = prompt_tokens * 3 // 4
    output_tokens = len(command) // 3 + 40
    cost = hit * HIT_PRICE + (prompt_tokens - hit) * MISS_PRICE + output_tokens * OUTPUT_PRICE
    usage = {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": prompt_tokens + output_tokens,
        "prompt_cache_hit_tokens": hit,
        "prompt_cache_miss_tokens": prompt_tokens - hit,
    }
    arguments = json_text({"command": command})
    call = {"id": call_id, "type": "function", "function": {"name": "bash", "arguments": arguments}}
    return {
        "role": "assistant",
        "content": thought,
        "tool_calls": [call],
        "extra": {
            "actions": [{"command": command, "tool_call_id": call_id}],
            "response": {"id": draft.dice.uuid(), "model": "bash-model-1", "object": "chat.completion", "usage": usage},
            "cost": cost,
            "timestamp": draft.clock.epoch(),
        },
    }


def _observation(draft: Draft, call_id: str, output: str, exit_code: int) -> dict[str, Any]:
    draft.clock.tick(draft.dice.between(100, 2_000))
    return {
        "role": "tool",
        "tool_call_id": call_id,
        "content": f"<returncode>{exit_code}</returncode>\n<output>\n{output}\n</output>",
        "extra": {
            "raw_output": output,
            "returncode": exit_code,
            "timestamp": draft.clock.epoch(),
            "exception_info": "",
        },
    }


def swe_agent(draft: Draft) -> dict[str, Any]:
    """Build the document of a SWE-agent run: each step is one call and one message of the history."""
    commands, diff = _tour(draft)
    commands.append(("submit", diff, 0, "The check passes; submit the change."))
    state = json_text({"open_file": "n/a", "working_dir": f"/srv/projects/{draft.project.prefix}"})
    history: list[dict[str, Any]] = [
        {"role": "system", "content": "You are working in a repository through a shell.", "agent": "primary"},
        {"role": "user", "content": draft.plan.objective, "agent": "primary"},
    ]
    trajectory = []
    for command, output, _, thought in commands:
        reply = f"{thought}\n```\n{command}\n```"
        history.append(
            {"role": "assistant", "content": reply, "thought": thought, "action": command, "agent": "primary"}
        )
        history.append({"role": "user", "content": output, "agent": "primary"})
        trajectory.append(
            {
                "action": command,
                "observation": output,
                "response": reply,
                "thought": thought,
                "execution_time": Decimal(draft.dice.between(40, 2_400)).scaleb(-3),
                "state": state,
            }
        )
    sent, received = draft.dice.between(18_000, 44_000), draft.dice.between(700, 1_900)
    stats = {
        "instance_cost": sent * Decimal("0.000003") + received * Decimal("0.000015"),
        "tokens_sent": sent,
        "tokens_received": received,
        "api_calls": len(trajectory),
    }
    return {
        "environment": draft.run_id,
        "trajectory": trajectory,
        "history": history,
        "info": {"exit_status": "submitted", "submission": diff, "model_stats": stats},
    }
