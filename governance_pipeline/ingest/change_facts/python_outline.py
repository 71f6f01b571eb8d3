"""The tests of a Python file, exactly, from its syntax tree.

What belongs here: pytest's and unittest's idea of a test. What does not: comparing two files (outline). Names are
followed through the imports of the file, so `from unittest import skip as later` is what it is. A condition counts
only when it is a constant: `skipif(sys.platform == "win32")` leaves the test running elsewhere.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.outline import WHOLE_FILE, Outline, TestCase, put

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from governance_pipeline.ingest.change_facts.frameworks import Language

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_UNITTEST_FIXTURES: Final = frozenset({"setUp", "asyncSetUp", "setUpClass", "setup_method", "setup_class"})
_CONDITION: Final = "condition"


def python_outline(tree: ast.Module, language: Language) -> Outline:
    """List the tests and test classes of a file."""
    return _Reader(tree, language).outline


class _Reader:
    def __init__(self, tree: ast.Module, language: Language) -> None:
        self._words, self._patterns = language.words, language.patterns
        self._names = dict(_imported(tree))
        self.outline: Outline = {}
        marker = self._module_marker(tree.body)
        put(self.outline, TestCase(WHOLE_FILE, 1, marker, is_suite=True))
        self._read(tree.body, "")

    def _read(self, body: Sequence[ast.stmt], inside: str) -> None:
        stack = [(statement, inside) for statement in reversed(body)]
        while stack:
            statement, prefix = stack.pop()
            if isinstance(statement, ast.ClassDef):
                name = f"{prefix}{statement.name}"
                put(self.outline, TestCase(name, statement.lineno, self._class_marker(statement), is_suite=True))
                stack += [(inner, f"{name}.") for inner in reversed(statement.body)]
            elif isinstance(statement, _FUNCTIONS):
                if statement.name.startswith("test") and not self._is_fixture(statement):
                    put(self.outline, self._test(statement, prefix))
                else:
                    put(self.outline, TestCase(f"{prefix}{statement.name}", statement.lineno, is_helper=True))
            elif isinstance(statement, ast.If | ast.Try | ast.With):
                stack += [(inner, prefix) for inner in reversed(list(_blocks(statement)))]

    def _test(self, function: ast.FunctionDef | ast.AsyncFunctionDef, prefix: str) -> TestCase:
        marker = self._marker(function.decorator_list) or self._skip_in(function.body)
        return TestCase(
            f"{prefix}{function.name}",
            function.lineno,
            marker,
            [text for node in ast.walk(function) if (text := self._assertion(node)) is not None],
            {ast.unparse(statement) for statement in function.body if not _is_text(statement)},
        )

    def _is_fixture(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        return any((self._dotted(decorator) or "").endswith("fixture") for decorator in function.decorator_list)

    def _class_marker(self, node: ast.ClassDef) -> str | None:
        fixtures = [inner for inner in node.body if isinstance(inner, _FUNCTIONS) and inner.name in _UNITTEST_FIXTURES]
        skipped = next((found for inner in fixtures if (found := self._skip_in(inner.body)) is not None), None)
        return self._marker(node.decorator_list) or self._assigned(node.body) or skipped

    def _module_marker(self, body: Sequence[ast.stmt]) -> str | None:
        return self._assigned(body) or self._skip_in(body)

    def _assigned(self, body: Sequence[ast.stmt]) -> str | None:
        """Read `pytestmark = …` and `__test__ = False`."""
        for statement in body:
            if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
                continue
            name, value = statement.targets[0].id, statement.value
            if name == "__test__" and isinstance(value, ast.Constant) and value.value is False:
                return ast.unparse(statement)
            if name == "pytestmark":
                marks = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
                return self._marker(marks)
        return None

    def _marker(self, decorators: Sequence[ast.expr]) -> str | None:
        return next((ast.unparse(one) for one in decorators if self._disables(one)), None)

    def _disables(self, decorator: ast.expr) -> bool:
        name = self._dotted(decorator) or ""
        conditions = _conditions(decorator)
        if name in self._words["disabling"]:
            return True
        if name in self._words["disabling_without_condition"]:
            return not conditions or _constant(conditions[0]) is True
        if name in self._words["disabling_if_true"]:
            return bool(conditions) and _constant(conditions[0]) is True
        return name in self._words["disabling_if_false"] and bool(conditions) and _constant(conditions[0]) is False

    def _skip_in(self, body: Sequence[ast.stmt]) -> str | None:
        """Give a call or raise that skips whatever happens: at the outermost level, before anything was returned."""
        for statement in body:
            thrown = statement.exc if isinstance(statement, ast.Raise) else None
            call = statement.value if isinstance(statement, ast.Expr) else thrown
            if call is not None and self._dotted(call) in self._words["disabling_calls"]:
                return ast.unparse(call)
            if isinstance(statement, ast.Return | ast.Raise):
                return None
        return None

    def _assertion(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Assert):
            return ast.unparse(node.test)
        if not isinstance(node, ast.Call):
            return None
        name = self._dotted(node) or ""
        last = name.rpartition(".")[2]
        is_named = self._patterns["assertion_name"].match(last) and not self._patterns["not_assertion_name"].match(last)
        return ast.unparse(node) if is_named or name in self._words["expecting"] else None

    def _dotted(self, node: ast.expr) -> str | None:
        """Give the full name of what is called or named, through the imports; None when it has none."""
        parts: list[str] = []
        while True:
            if isinstance(node, ast.Call):
                if parts:
                    return None  # something of a result: `f().g`
                node = node.func
            elif isinstance(node, ast.Attribute):
                parts.append(node.attr)
                node = node.value
            else:
                break
        if not isinstance(node, ast.Name):
            return parts[0] if parts else None
        return ".".join([self._names.get(node.id, node.id), *reversed(parts)])


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((name.asname, name.name) for name in node.names if name.asname)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((name.asname or name.name, f"{node.module}.{name.name}") for name in node.names)


def _blocks(statement: ast.If | ast.Try | ast.With) -> Iterator[ast.stmt]:
    yield from statement.body
    if not isinstance(statement, ast.With):
        yield from statement.orelse
    if isinstance(statement, ast.Try):
        yield from (inner for handler in statement.handlers for inner in handler.body)
        yield from statement.finalbody


def _conditions(decorator: ast.expr) -> list[ast.expr]:
    if not isinstance(decorator, ast.Call):
        return []
    named = [keyword.value for keyword in decorator.keywords if keyword.arg == _CONDITION]
    return [*decorator.args, *named]


def _constant(node: ast.expr) -> bool | None:
    """Truth of a condition that is written as a constant; None of one that depends on something.

    pytest evaluates a text as an expression, so a text is no constant, apart from the words for true and false.
    """
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _constant(node.operand)
        return None if inner is None else not inner
    if not isinstance(node, ast.Constant):
        return None
    if isinstance(node.value, str):
        return {"True": True, "False": False, "1": True, "0": False}.get(node.value.strip())
    return bool(node.value)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
