"""Agents are known by what they sign with, and by nothing else."""

from __future__ import annotations

import pytest

from governance_pipeline.ingest.history.agents import Signature, agent_of, agents_among, co_authors


@pytest.mark.parametrize(
    ("name", "email"),
    [
        ("Claude", "claude@example.org"),
        ("Copilot Jones", "jones@example.org"),
        ("Ana", "noreply@anthropic.com.example.org"),
        ("Ana", "xnoreply@anthropic.com"),
        ("dependabot[bot]", "49699333+dependabot[bot]@users.noreply.github.com"),
    ],
)
def test_a_person_or_a_robot_that_is_no_coding_agent_is_none(name, email):
    assert agent_of(Signature(name, email)) is None


@pytest.mark.parametrize(
    ("name", "email", "agent"),
    [
        ("Claude Opus 4.6", "noreply@anthropic.com", "claude"),
        ("claude[bot]", "209825114+claude[bot]@users.noreply.github.com", "claude"),
        ("Copilot", "175728472+Copilot@users.noreply.github.com", "copilot"),
        ("copilot-swe-agent[bot]", "198982749+copilot-swe-agent[bot]@users.noreply.github.com", "copilot"),
        ("Cursor Agent", "cursoragent@cursor.com", "cursor"),
        ("aider (gpt-5)", "ana@example.org", "aider"),
        ("openhands", "openhands@all-hands.dev", "openhands"),
    ],
)
def test_an_agent_is_known_by_its_signature(name, email, agent):
    assert agent_of(Signature(name, email)) == agent


def test_trailers_are_read_whatever_their_case_and_order():
    assert list(co_authors("t\r\n\r\nCo-authored-by: A <a@b>\r\n")) == [Signature("A", "a@b")]
    message = "t\n\nsee Co-authored-by: nobody <x@y>\nCo-Authored-By: A <a@b>\nco-authored-by:<c@d>\nCo-authored-by: no address"
    assert list(co_authors(message)) == [Signature("A", "a@b"), Signature("", "c@d")]


def test_each_agent_is_named_once_in_the_order_it_signs():
    signed = [
        Signature("", "noreply@openai.com"),
        Signature("", "noreply@anthropic.com"),
        Signature("", "codex@openai.com"),
    ]
    assert agents_among(signed) == ("codex", "claude")
