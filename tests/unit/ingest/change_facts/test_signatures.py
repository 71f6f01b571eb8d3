"""Public signatures of Python modules."""

import pytest


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(a, b=1): pass", "def f(a): pass"),
        ("def f(a, b=1): pass", "def f(a, b): pass"),
        ("def f(a): pass", "def f(a, b): pass"),
        ("def f(a): pass", "def f(c): pass"),
        ("def f(a, b): pass", "def f(b, a): pass"),
        ("def f(a, b): pass", "def f(a, *, b): pass"),
        ("def f(a): pass", "def f(a, *, b): pass"),
        ("def f(*args): pass", "def f(a=1): pass"),
        ("def f(**kw): pass", "def f(): pass"),
        ("def f(a): pass", "async def f(a): pass"),
        ("class C:\n def m(self, a): pass", "class C:\n def m(self, a, b): pass"),
    ],
)
def test_a_call_that_was_fine_and_may_fail_now_is_a_narrowing(told, before, after):
    assert [kind for kind, _ in told(before, after, "src/a.py")] == ["signature_narrowed"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(a): pass", "def f(a, b=1): pass"),
        ("def f(a, b): pass", "def f(a, b=1): pass"),
        ("def f(a): pass", "def f(a, *args, **kw): pass"),
        ("def f(a, *, b): pass", "def f(a, b=None): pass"),
        ("def f(a: int) -> int: pass", "def f(a: str): return 1"),
        ("class C:\n def m(self): pass", "class C:\n def m(this): pass"),
        ("def f(a, /): pass", "def f(b, /): pass"),
        ("def _f(a): pass", "def _f(): pass"),
        ("__all__ = ['g']\ndef f(a): pass\ndef g(): pass", "__all__ = ['g']\ndef f(): pass\ndef g(): pass"),
    ],
)
def test_a_wider_or_private_signature_is_none(told, before, after):
    assert {kind for kind, _ in told(before, after, "src/a.py")} <= {"signature_changed", "unjudged"}


@pytest.mark.parametrize(
    "after",
    ["from .b import f\n", "f = other\n", "try:\n    from fast import f\nexcept ImportError:\n    def f(a): pass\n"],
)
def test_a_name_that_is_still_bound_is_not_gone(told, after):
    assert "signature_removed" not in {kind for kind, _ in told("def f(a): pass\n", after, "src/a.py")}


def test_a_name_that_is_gone_is_removed(told):
    assert told("def f(a): pass\nclass C:\n  def m(self): pass\n", "x = 1\n", "src/a.py") == [
        ("signature_removed", "C"), ("signature_removed", "f")]  # fmt: skip
    assert told("class C:\n  def m(self): pass\n  def n(self): pass\n", "class C:\n  def n(self): pass\n", "src/a.py") == [
        ("signature_removed", "C.m")]  # fmt: skip


def test_a_method_that_a_base_may_have_is_not_called_gone(told):
    before = "class C(B):\n  def m(self): pass\n"
    assert told(before, "class C(B):\n  pass\n", "src/a.py") == []


def test_a_module_that_imports_everything_is_not_judged(told):
    assert told("def f(a): pass\n", "from .b import *\n", "src/a.py") == [("unjudged", "signatures")]


@pytest.mark.parametrize("decorator", ["@click.command()", "@dg.sensor(job=j)", "@app.route('/x')", "@fixture"])
def test_what_a_decorator_stands_in_for_is_not_judged_by_its_own_signature(told, decorator):
    before, after = f"{decorator}\ndef f(a, c): pass", f"{decorator}\ndef f(a, b, c): pass"
    kinds = [kind for kind, _ in told(before, after, "src/a.py")]
    assert "signature_narrowed" not in kinds
    assert "unjudged" in kinds


@pytest.mark.parametrize("decorator", ["@staticmethod", "@functools.lru_cache(maxsize=2)", "@abc.abstractmethod"])
def test_a_decorator_that_keeps_the_signature_hides_no_narrowing(told, decorator):
    before, after = f"class C:\n {decorator}\n def f(a, c): pass", f"class C:\n {decorator}\n def f(a): pass"
    assert [kind for kind, _ in told(before, after, "src/a.py")] == ["signature_narrowed"]
