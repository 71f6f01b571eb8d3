"""Whole contents and parts: what is judged, and what is said not to be."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.ingest.change_facts.facts import LARGEST_CONTENT, Part, facts, no_facts, part_facts
from governance_pipeline.vocabulary import FactKind

PATHS = ["tests/test_a.py", "src/a.py", "a.test.ts", "a_test.go", "SumTest.java", "lib.rs", "package.json",
         "pyproject.toml", "requirements.txt", "pom.xml", "go.mod", "Cargo.toml", "build.gradle", "setup.cfg"]  # fmt: skip
PIECES = ["def test_a():\n", "    assert x\n", "@pytest.mark.skip\n", "it('a', () => {", "})", "[", "{", '"', "'''",
          "#[test]\n", "func TestA(t *testing.T) {", "\x00", "é", "a==1\n", "<dependency>", "require (\n"]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(PATHS),
    st.lists(st.sampled_from(PIECES), max_size=12),
    st.lists(st.sampled_from(PIECES), max_size=12),
)
def test_no_text_stops_the_reading_and_nothing_is_both_gone_and_there(path, before, after):
    contents = ["".join(pieces).encode() for pieces in (before, after)]
    found = facts(*contents, path)
    removed = {fact.subject for fact in found if fact.kind == FactKind.TEST_REMOVED}
    assert removed.isdisjoint(fact.subject for fact in found if fact.kind == FactKind.TEST_ADDED)
    lines = [tuple(content.decode().split("\n")) for content in contents]
    part_facts([Part(*lines)], path)


@pytest.mark.parametrize("path", PATHS)
def test_the_same_content_gives_no_fact(path):
    assert facts(b"x", b"x", path) == []


def test_deeply_nested_text_is_not_read():
    deep = b"x = " + b"(" * 5000 + b")" * 5000
    assert all(fact.kind == FactKind.UNJUDGED for fact in facts(b"x = 1\n", deep, "src/a.py"))
    chain = b"x = " + b"-" * 200_000 + b"1"
    assert FactKind.PARSE_FAILED not in {fact.kind for fact in facts(b"x = 1\n", chain, "src/a.py")}


@pytest.mark.parametrize("chain", ["x" + ".a" * 3000, "x" + " + 1" * 3000, "not " * 900 + "x", "-" * 900 + "x"])
def test_a_long_chain_in_an_assertion_stops_nothing(chain):
    facts(b"def test_a():\n    assert y\n", f"def test_a():\n    assert {chain}\n".encode(), "tests/test_a.py")


def test_a_large_file_is_not_judged():
    large = b"#" * (LARGEST_CONTENT + 1)
    assert [fact.after for fact in facts(None, large, "src/a.py")] == ["too_large"] * 2


def test_what_nobody_asks_about_has_no_facts():
    assert facts(b"a", b"b", "docs/a.md") == no_facts("docs/a.md", "no_content") == []


def test_part_of_a_test_shows_its_lost_assertion():
    part = Part(("    assert x == 1", "    assert y"), ("    assert x == 1",), "def test_a():")
    fact = part_facts([part], "tests/test_a.py")[-1]
    assert (fact.kind, fact.subject, len(fact.removed)) == ("assertions_changed", "test_a", 1)


def test_an_assertion_moved_to_another_part_of_the_change_is_not_lost():
    parts = [Part(("def test_a():", "    assert y", "    x()"), ("def test_a():", "    x()")),
             Part(("def test_b():", "    z()"), ("def test_b():", "    assert y", "    z()"))]  # fmt: skip
    found = [fact for fact in part_facts(parts, "tests/test_a.py") if fact.kind == FactKind.ASSERTIONS_CHANGED]
    assert found[0].removed == found[1].added


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("    '''", "    assert x"), ("    '''",)),  # the lines stand in a long text, or end one
        (("def helper():", "    assert x"), ("def helper():",)),
    ],
)
def test_lines_that_may_be_no_test_give_no_lost_assertion(before, after):
    found = part_facts([Part(before, after)], "tests/test_a.py")
    assert FactKind.ASSERTIONS_CHANGED not in {fact.kind for fact in found}


def test_a_marker_in_a_part_disables_the_test_it_stands_before():
    part = Part(("def test_a():", "    x()"), ("@pytest.mark.skip(reason='x')", "def test_a():", "    x()"))
    assert (FactKind.TEST_DISABLED, "test_a") in [(f.kind, f.subject) for f in part_facts([part], "tests/test_a.py")]


def test_a_conditional_skip_in_a_part_disables_nothing():
    part = Part(("def test_a():", "    x()"), ("def test_a():", "    if win:", "        pytest.skip('x')", "    x()"))
    assert FactKind.TEST_DISABLED not in {fact.kind for fact in part_facts([part], "tests/test_a.py")}


def test_a_part_of_a_manifest_with_sections_is_not_judged_and_a_requirements_line_is():
    part = Part(("a==1",), ("a>=1", "b==2"))
    assert [str(fact.kind) for fact in part_facts([part], "requirements.txt")] == [
        "dependency_unpinned",
        "dependency_added",
    ]
    assert [fact.subject for fact in part_facts([part], "pyproject.toml")] == ["parsing", "dependencies"]
