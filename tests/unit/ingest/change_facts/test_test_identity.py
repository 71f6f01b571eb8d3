"""When a test is still the same one: renamed, moved, turned into a helper, parametrized; in every language."""

import pytest

PYTHON = "def {}():\n    value = make()\n    assert value == 3\n"
JS = "it({}, () => {{ const value = make(); expect(value).toBe(3); }});\n"
GO = "package a\nfunc {}(t *testing.T) {{\n value := make1()\n if value != 3 {{ t.Fatal(value) }}\n}}\n"
JAVA = "class ATest {{ @Test void {}() {{ int value = make(); assertEquals(3, value); }} }}"
RUST = "#[test]\nfn {}() {{ let value = make(); assert_eq!(value, 3); }}\n"
LANGUAGES = pytest.mark.parametrize(
    ("path", "source", "name", "other"),
    [
        ("tests/test_a.py", PYTHON, "test_sum", "test_quite_another_matter"),
        ("a.test.ts", JS, "'sums up'", "'quite another matter'"),
        ("a_test.go", GO, "TestSum", "TestQuiteAnotherMatter"),
        ("src/test/ATest.java", JAVA, "sumsUp", "quiteAnotherMatter"),
        ("src/a.rs", RUST, "sums_up", "quite_another_matter"),
    ],
)


@LANGUAGES
def test_a_test_with_another_name_and_the_same_body_is_renamed(told, path, source, name, other):
    found = told(source.format(name), source.format(other), path)
    assert "test_removed" not in {kind for kind, _ in found}


@LANGUAGES
def test_a_test_in_a_file_that_moved_is_the_same(told, path, source, name, other):
    folder, _, file = path.rpartition("/")
    moved = f"{folder}/elsewhere/{file}" if folder else f"elsewhere/{file}"
    assert told(source.format(name), source.format(name), moved, path) == []


@LANGUAGES
def test_a_test_that_goes_while_another_with_nothing_in_common_comes_is_gone(told, path, source, name, other):
    after = source.format(other).replace("make", "read").replace("value", "text").replace("3", "9")
    kinds = [kind for kind, _ in told(source.format(name), after, path) if not kind.startswith("signature")]
    assert sorted(kinds) == ["test_added", "test_removed"]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("src/test/ATest.java", JAVA.format("sumsUp"), JAVA.format("sumsUp").replace("@Test ", "")),
        ("src/a.rs", RUST.format("sums_up"), RUST.format("sums_up").replace("#[test]\n", "")),
        ("tests/test_a.py", PYTHON.format("test_sum"), PYTHON.format("old_sum")),
        ("a_test.go", GO.format("TestSum"), GO.format("oldSum")),
        ("a_test.go", GO.format("TestSum"), GO.format("Testsum")),  # Go collects no test whose name goes on small
    ],
)
def test_a_test_that_lost_its_mark_is_gone_and_no_weaker_test(told, path, before, after):
    found = [kind for kind, _ in told(before, after, path)]
    assert found == ["test_removed"]


def test_a_test_that_became_what_other_tests_call_is_not_gone(told):
    java = "class ATest {{ {} void sums(int n) {{ assertEquals(3, n); }} {} }}"
    before, after = java.format("@Test", ""), java.format("", "@Test void first() { sums(3); }")
    assert told(before, after, "src/test/ATest.java") == [("test_added", "ATest.first")]
    rust = RUST.format("sums") + "#[test]\nfn second() {{ sums(); }}\n"
    assert "test_removed" not in {kind for kind, _ in told(RUST.format("sums"), rust[8:], "src/a.rs")}


def test_a_function_that_gets_the_mark_is_a_test_that_came(told):
    plain = JAVA.format("sumsUp").replace("@Test ", "")
    assert told(plain, JAVA.format("sumsUp"), "src/test/ATest.java") == [("test_added", "ATest.sumsUp")]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("tests/test_a.py", PYTHON.format("test_sum"),
         "@pytest.mark.parametrize('n', [1, 2])\ndef test_sum(n):\n    value = make()\n    assert value == 3\n"),
        ("a.test.ts", JS.format("'sums up'"), JS.format("'sums up'").replace("it(", "it.each([[1], [2]])(")),
        ("src/test/ATest.java", JAVA.format("sumsUp"), JAVA.format("sumsUp").replace("@Test", "@ParameterizedTest")),
        ("src/a.rs", RUST.format("sums_up"), RUST.format("sums_up").replace("#[test]", "#[rstest]\n#[case(1)]")),
    ],
)  # fmt: skip
def test_a_test_that_became_parametrized_is_the_same(told, path, before, after):
    assert told(before, after, path) == []
    assert told(after, before, path) == []
