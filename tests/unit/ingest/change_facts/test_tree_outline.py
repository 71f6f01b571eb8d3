"""Tests of JavaScript, TypeScript, Go, Java and Rust files."""

import pytest

JAVASCRIPT = """describe("sums", () => {
  it("adds", async () => { expect(add(1)).toBe(2); await expect(f()).rejects.toThrow(); });
  test("takes away", () => { assert.equal(a, 1); });
});
"""
GO = """package a
func TestAdd(t *testing.T) {
	if got != want {
		t.Errorf("got %d", got)
	}
	require.Equal(t, 1, 2)
}
func TestTake(t *testing.T) { t.Fatal("x") }
"""
JAVA = """class SumTest {
  @Test void adds() { assertEquals(2, add(1)); verify(log).info(); }
  @Test public void takes() { fail(); }
}
"""
RUST = """mod tests {
  #[test]
  fn adds() { assert_eq!(add(1), 2); assert!(x); }
  #[tokio::test]
  async fn takes() { f().await; }
}
"""
LANGUAGES = [
    (
        "a.test.ts",
        JAVASCRIPT,
        "sums > adds",
        "sums > takes away",
        '  test("takes away", () => { assert.equal(a, 1); });\n',
    ),
    ("a_test.go", GO, "TestAdd", "TestTake", 'func TestTake(t *testing.T) { t.Fatal("x") }\n'),
    ("src/test/SumTest.java", JAVA, "SumTest.adds", "SumTest.takes", "  @Test public void takes() { fail(); }\n"),
    ("src/lib.rs", RUST, "tests::adds", "tests::takes", "  #[tokio::test]\n  async fn takes() { f().await; }\n"),
]


@pytest.mark.parametrize(("path", "text", "_", "name", "body"), LANGUAGES)
def test_a_test_that_is_gone_is_removed(told, path, text, _, name, body):
    assert told(text, text.replace(body, ""), path) == [("test_removed", name)]
    assert [kind for kind, _ in told(text, None, path)] == ["test_removed", "test_removed"]


@pytest.mark.parametrize(
    ("path", "text", "old", "new", "name"),
    [
        ("a.spec.js", JAVASCRIPT, 'it("adds"', 'it.skip("adds"', "sums > adds"),
        ("a.spec.js", JAVASCRIPT, 'it("adds"', 'xit("adds"', "sums > adds"),
        ("a.test.tsx", JAVASCRIPT, 'it("adds"', 'it.only("adds"', "sums > adds"),
        ("a.test.mts", JAVASCRIPT, "describe(", "describe.skip(", "sums"),
        ("a.test.ts", JAVASCRIPT, 'test("takes away"', 'test.todo("takes away"', "sums > takes away"),
        ("a_test.go", GO, "T) {\n", 'T) {\n\tt.Skip("flaky")\n', "TestAdd"),
        ("a_test.go", GO, "package a", "//go:build ignore\n\npackage a", "(whole file)"),
        ("SumTest.java", JAVA, "@Test void", '@Disabled("x") @Test void', "SumTest.adds"),
        ("SumTest.java", JAVA, "@Test void", "@Test(enabled = false) void", "SumTest.adds"),
        ("SumTest.java", JAVA, "class", "@Ignore class", "SumTest"),
        ("src/lib.rs", RUST, "#[test]\n", '#[test]\n#[ignore = "slow"]\n', "tests::adds"),
    ],
)
def test_every_framework_marker_disables(told, path, text, old, new, name):
    assert told(text, text.replace(old, new, 1), path) == [("test_disabled", name)]


@pytest.mark.parametrize(
    ("path", "text", "old", "new"),
    [
        ("a_test.go", GO, "T) {\n", 'T) {\n\tif testing.Short() {\n\t\tt.Skip("x")\n\t}\n'),
        ("SumTest.java", JAVA, "@Test void", "@DisabledOnOs(OS.MAC) @Test void"),
        ("a.test.ts", JAVASCRIPT, "() => { assert", "() => { test.skip(isMac, 'x'); assert"),
        ("src/lib.rs", RUST, "#[test]\n", '#[test]\n#[cfg(feature = "x")]\n'),
    ],
)
def test_a_condition_disables_nothing(told, path, text, old, new):
    assert told(text, text.replace(old, new, 1), path) == []


@pytest.mark.parametrize(
    ("path", "text", "gone"),
    [
        ("a.test.ts", JAVASCRIPT, "await expect(f()).rejects.toThrow();"),
        ("a_test.go", GO, "\trequire.Equal(t, 1, 2)\n"),
        ("SumTest.java", JAVA, "verify(log).info();"),
        ("src/lib.rs", RUST, "assert!(x);"),
    ],
)
def test_an_assertion_that_is_gone_is_counted(told, path, text, gone):
    (fact,) = told(text, text.replace(gone, ""), path, whole=True)
    assert (fact.kind, len(fact.removed)) == ("assertions_changed", 1)


def test_a_file_with_a_syntax_error_is_not_judged(told):
    assert told(JAVASCRIPT, JAVASCRIPT[:-5] + "(", "a.test.ts") == [("unjudged", "tests")]


def test_a_file_that_holds_no_tests_by_its_name_is_not_looked_at(told):
    assert told(JAVASCRIPT, "", "src/a.ts") == []
