"""Links, sessions and tokens are spent once, end in time, and never grow without bound."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from governance_pipeline.gate.inbox.ceremonies import CEREMONY_LIFE, MOST_CEREMONIES, Ceremonies
from governance_pipeline.gate.inbox.sessions import MOST_SESSIONS, MOST_TOKENS, SESSION_LIFE, Sessions


class Clock:
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def secrets():
    return map("secret {}".format, itertools.count()).__next__


@pytest.fixture
def sessions(clock, secrets):
    return Sessions(clock, secrets)


def test_a_link_is_spent_once_and_a_newer_one_takes_its_place(sessions):
    old, new = sessions.new_link(), sessions.new_link()
    assert sessions.enter(old) is None
    assert sessions.enter(new) is not None
    assert sessions.enter(new) is None


def test_no_link_no_session(sessions):
    assert [sessions.enter(link) for link in ("", "x", "\ud800")] == [None] * 3
    assert [sessions.is_open(session) for session in (None, "", "x")] == [False] * 3


def test_a_session_ends_with_the_day_and_its_tokens_with_it(sessions, clock):
    session = sessions.enter(sessions.new_link())
    token = sessions.new_token(session)
    clock.now += SESSION_LIFE - timedelta(seconds=1)
    assert sessions.is_open(session)
    clock.now += timedelta(seconds=1)
    assert (sessions.is_open(session), sessions.spend(session, token)) == (False, False)


def test_a_token_is_spent_once_and_is_of_its_session(sessions):
    one, other = (sessions.enter(sessions.new_link()) for _ in range(2))
    token = sessions.new_token(one)
    assert [sessions.spend(*pair) for pair in ((other, token), (one, "x"), (one, token), (one, token))] == [
        False, False, True, False,
    ]  # fmt: skip


def test_sessions_and_tokens_are_bounded_and_the_oldest_go(sessions):
    opened = [sessions.enter(sessions.new_link()) for _ in range(MOST_SESSIONS + 1)]
    assert [sessions.is_open(session) for session in (opened[0], opened[1], opened[-1])] == [False, True, True]
    tokens = [sessions.new_token(opened[-1]) for _ in range(MOST_TOKENS + 1)]
    assert [sessions.spend(opened[-1], token) for token in (tokens[0], tokens[1], tokens[-1])] == [False, True, True]


def test_a_ceremony_is_taken_once_by_its_session_in_time(clock, secrets):
    ceremonies = Ceremonies(clock, secrets)
    name = ceremonies.begin("one", "request", "APPROVE", b"statement")
    assert ceremonies.take("other", name) is None
    assert ceremonies.take("one", name).payload == b"statement"
    assert ceremonies.take("one", name) is None
    late = ceremonies.begin("one", "request", "APPROVE", b"statement")
    clock.now += CEREMONY_LIFE
    assert ceremonies.take("one", late) is None


def test_ceremonies_are_bounded(clock, secrets):
    ceremonies = Ceremonies(clock, secrets)
    names = [ceremonies.begin("one", "request", "APPROVE", b"") for _ in range(MOST_CEREMONIES + 1)]
    assert (ceremonies.take("one", names[0]), ceremonies.take("one", names[1]) is None) == (None, False)
