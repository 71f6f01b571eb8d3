"""A line is followed through parents and sessions, and a gap in it is never taken for its end."""

from __future__ import annotations

import pytest

from governance_pipeline.trust.lineage import Lineage, Run, lineage_of


def _lineage(**runs) -> Lineage:
    return Lineage(Run(name, **values) for name, values in runs.items())


def _common(lineage: Lineage, one: str, other: str):
    return lineage.common(*(lineage.ancestry(lineage.run(name)) for name in (one, other)))


def _complete(lineage: Lineage, name: str) -> bool:
    return lineage.ancestry(lineage.run(name)).is_complete


def test_a_root_run_comes_from_nothing_and_is_known_whole():
    lineage = _lineage(a={"session_id": "s"}, b={"session_id": "t"})
    assert _common(lineage, "a", "b") is None
    assert _complete(lineage, "a")


def test_a_child_a_grandchild_and_a_sibling_share_an_ancestor():
    lineage = _lineage(
        top={}, left={"parent_run_id": "top"}, right={"parent_run_id": "top"}, deep={"parent_run_id": "left"}
    )
    assert _common(lineage, "deep", "top").path == "deep ← left ← top"
    assert _common(lineage, "deep", "right").path == "deep ← left ← top; right ← top"
    assert _common(lineage, "top", "deep").name == "top"


def test_a_parent_may_be_named_by_its_session():
    lineage = _lineage(main={"session_id": "s-1"}, sub={"parent_run_id": "s-1"})
    assert _common(lineage, "sub", "main").path == "sub ← session s-1; main ← session s-1"
    assert _complete(lineage, "sub")


def test_another_run_in_a_given_session_does_not_cut_the_line():
    lineage = _lineage(
        worker={"session_id": "w"},
        first={"session_id": "s", "parent_run_id": "worker"},
        second={"session_id": "s"},
    )
    assert _common(lineage, "second", "worker").name in {"worker", "session w"}


def test_ids_are_compared_as_people_see_them():
    lineage = _lineage(Build={}, check={"parent_run_id": "BUILD"})
    assert _common(lineage, "check", "build").name == "Build"


def test_a_parent_that_is_not_there_leaves_the_line_open():
    lineage = _lineage(a={"parent_run_id": "gone"}, b={"parent_run_id": "a"}, c={})
    assert [_complete(lineage, name) for name in "abc"] == [False, False, True]


def test_a_circle_ends_and_is_common():
    lineage = _lineage(a={"parent_run_id": "b"}, b={"parent_run_id": "a"}, c={})
    assert _common(lineage, "a", "b") is not None
    assert _common(lineage, "a", "c") is None


def test_a_run_that_only_steps_name_has_an_open_line():
    lineage = lineage_of([], [{"run_id": "r", "agent_id": "x"}, {"run_id": "r", "agent_id": None}])
    assert lineage.run("r") == Run("r", agents=frozenset({"x"}), is_listed=False)
    assert not _complete(lineage, "r")


def test_agents_of_a_line_are_those_of_all_its_runs():
    lineage = _lineage(
        top={"agents": frozenset({"boss"})},
        sub={"parent_run_id": "top", "agents": frozenset({"coder", "scout"})},
        other={"agents": frozenset({"else"})},
    )
    assert lineage.agents(lineage.ancestry(lineage.run("sub"))) == {"boss", "coder", "scout"}


@pytest.mark.parametrize("depth", [3000])
def test_a_very_long_line_is_followed_to_its_end(depth):
    lineage = Lineage(Run(f"r{n}", parent_run_id=f"r{n - 1}" if n else None) for n in range(depth))
    assert _common(lineage, f"r{depth - 1}", "r0").name == "r0"
