"""Tests of Python files: what is gone, disabled or asserts less, and what only looks so."""

import pytest

PATH = "tests/test_a.py"
TWO = "def test_a():\n    assert x == 1\n    assert y\n\ndef test_b():\n    assert z\n"


def test_a_test_that_is_gone_is_removed(told):
    (fact,) = told(TWO, "def test_a():\n    assert x == 1\n    assert y\n", PATH, whole=True)
    assert (fact.kind, fact.subject, fact.file_line) == ("test_removed", "test_b", 5)
    assert len(fact.removed) == 1


def test_a_deleted_file_loses_every_test_of_it(told):
    assert told(TWO, None, PATH) == [("test_removed", "test_a"), ("test_removed", "test_b")]


def test_a_commented_out_test_is_gone(told):
    commented = TWO.replace("def test_b():\n    assert z", "# def test_b():\n#     assert z")
    assert told(TWO, commented, PATH) == [("test_removed", "test_b")]


def test_a_test_that_lost_its_name_of_a_test_is_gone(told):
    assert told("def test_b():\n    check(z)\n", "def helper():\n    check(z)\n", PATH) == [("test_removed", "test_b")]


@pytest.mark.parametrize(
    "after",
    [
        TWO.replace("test_b", "test_what_b_does"),  # same body
        "def test_a():\n    assert x == 1\n    assert y\n    assert z\n",  # merged into another
        TWO.replace("def test_b():\n    assert z", "class TestB:\n    def test_it(self):\n        assert z"),  # moved
        TWO.replace("    assert z", "    assert   z  # said so"),  # laid out anew
    ],
)
def test_a_renamed_merged_or_moved_test_is_not_removed(told, after):
    assert "test_removed" not in {kind for kind, _ in told(TWO, after, PATH)}


@pytest.mark.parametrize(
    "marker",
    [
        "@pytest.mark.skip", "@pytest.mark.skip(reason='flaky')", "@pytest.mark.xfail", "@unittest.skip('later')",
        "@pytest.mark.skipif(True, reason='x')", "@unittest.skipUnless(0, 'x')", "@unittest.expectedFailure",
        "@pytest.mark.xfail(strict=True)", "@pytest.mark.skipif(not False, reason='x')",
    ],
)  # fmt: skip
def test_a_marker_disables_a_test(told, marker):
    ran = "import pytest, unittest\ndef test_a():\n    assert x\n"
    assert told(ran, ran.replace("def ", f"{marker}\ndef "), PATH) == [("test_disabled", "test_a")]
    assert told(ran.replace("def ", f"{marker}\ndef "), ran, PATH) == [("test_enabled", "test_a")]


@pytest.mark.parametrize(
    "marker",
    [
        "@pytest.mark.skipif(sys.platform == 'win32', reason='x')", "@pytest.mark.parametrize('a', [1])",
        "@unittest.skipIf(sys.version_info < (3, 12), 'x')", "@pytest.mark.xfail(WINDOWS, reason='x')",
        "@pytest.mark.skipif(False, reason='x')", "@mock.patch('skip')", "@pytest.mark.skipif('sys.flags.optimize')",
    ],
)  # fmt: skip
def test_a_condition_that_is_not_a_constant_disables_nothing(told, marker):
    ran = "import pytest, unittest, sys\ndef test_a():\n    assert x\n"
    assert told(ran, ran.replace("def ", f"{marker}\ndef "), PATH) == []


def test_a_marker_is_known_under_any_name_it_was_imported_by(told):
    ran = "from unittest import skip as later\ndef test_a():\n    assert x\n"
    assert told(ran, ran.replace("def ", "@later('x')\ndef "), PATH) == [("test_disabled", "test_a")]
    other = ran.replace("unittest", "schedule")
    assert told(other, other.replace("def ", "@later('x')\ndef "), PATH) == []


@pytest.mark.parametrize("call", ["pytest.skip('x')", "self.skipTest('x')", "raise unittest.SkipTest('x')"])
def test_a_skip_inside_a_test_counts_only_when_nothing_decides_about_it(told, call):
    ran = "import pytest, unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        assert x\n"
    skipped = ran.replace("        assert x", f"        {call}\n        assert x")
    assert told(ran, skipped, PATH) == [("test_disabled", "T.test_a")]
    decided = ran.replace("        assert x", f"        if not HAVE:\n            {call}\n        assert x")
    assert told(ran, decided, PATH) == []


def test_a_disabled_class_or_file_is_one_fact(told):
    ran = "import pytest\nclass TestA:\n    def test_a(self):\n        assert x\n    def test_b(self):\n        assert y\n"
    assert told(ran, ran.replace("class", "@pytest.mark.skip\nclass"), PATH) == [("test_disabled", "TestA")]
    assert told(ran, ran.replace("class", "pytestmark = pytest.mark.skip\nclass"), PATH) == [
        ("test_disabled", "(whole file)")
    ]
    assert told(ran, ran.replace("    def test_a", "    __test__ = False\n    def test_a"), PATH) == [
        ("test_disabled", "TestA")
    ]


def test_an_assertion_that_is_gone_is_counted_where_it_was(told):
    (fact,) = told(TWO, TWO.replace("    assert y\n", ""), PATH, whole=True)
    assert (fact.kind, fact.subject, fact.before, len(fact.removed), fact.added) == (
        "assertions_changed", "test_a", "y", 1, ())  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("assert x == 1", "assert x == 2"),  # rewritten
        ("assert x == 1\n    assert y", "assert (x, y) == (1, True)"),  # merged
        ("self.assertEqual(total, 3)", "assert total == 3"),  # another style
        ("assert x == 1\n    assert y", "assert y\n    assert x == 1"),  # another order
        ("assert names == expected", "check_names(names, expected)"),  # a helper of the same words
    ],
)
def test_a_rewritten_or_merged_assertion_is_not_removed(told, before, after):
    found = told(f"def test_a(self):\n    {before}\n", f"def test_a(self):\n    {after}\n", PATH, whole=True)
    assert all(not fact.removed for fact in found)


@pytest.mark.parametrize(
    "gone", ["with pytest.raises(ValueError):\n        f()", "self.assertIn(a, b)", "mock.assert_called()"]
)
def test_every_way_to_assert_counts(told, gone):
    before = f"import pytest\ndef test_a(self):\n    {gone}\n    assert kept\n"
    (fact,) = told(before, "import pytest\ndef test_a(self):\n    assert kept\n", PATH, whole=True)
    assert len(fact.removed) == 1


def test_what_is_no_test_is_not_looked_at(told):
    assert told("def test_a():\n    assert x\n", "y = 1\n", "src/a.py", whole=True)[0].kind == "signature_removed"
    assert told("def helper():\n    assert x\n", "y = 1\n", PATH) == []


def test_a_file_that_does_not_parse_is_not_judged(told):
    assert ("unjudged", "tests") in told(TWO, "def test_a(:\n", PATH)
    assert ("unjudged", "tests") in told("print 'a'\n", TWO, PATH)


def test_assertions_that_moved_into_a_new_helper_are_not_removed(told):
    before = "def test_a():\n    assert x == 1\n    assert y == 2\n    assert z\n"
    after = "def holds(v):\n    assert v\n\ndef test_a():\n    assert z\n    holds(x)\n"
    assert all(not fact.removed for fact in told(before, after, PATH, whole=True))


def test_a_test_written_anew_is_not_weakened(told):
    before = "def test_a():\n    assert x == 1\n    assert y == 2\n    assert z == 3\n"
    assert all(not fact.removed for fact in told(before, "def test_a(n):\n    assert run(n) == n\n", PATH, whole=True))
