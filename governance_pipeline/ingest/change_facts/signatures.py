"""The public names of a Python module, and which of them no longer accept what they accepted.

What belongs here: functions, methods and classes a module gives to others. What does not: which modules are public,
which the round contract says (verdict). Public is what `__all__` lists, else what has no leading underscore. A name
that is imported or assigned instead is still there. Types and defaults' values are not compared: a narrower type needs
a type checker.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.ingest.change_facts.fact import ChangeFact, short, unjudged
from governance_pipeline.vocabulary import ChangeAspect, FactKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_OPEN: Final = "__getattr__"
DECORATED: Final = "decorated"
"""Reason: a decorator stands in for the function, so its own signature is not what callers see."""
_KEEPING: Final = frozenset(
    {
        "abstractmethod", "asynccontextmanager", "cache", "cached_property", "classmethod", "contextmanager",
        "deprecated", "final", "lru_cache", "overload", "override", "property", "setter", "staticmethod", "wraps",
    }
)  # fmt: skip
"""Decorators of the standard library that leave what a function accepts as it is."""
_ALL: Final = "__all__"


class PublicName(NamedTuple):
    """One public name: where it is, and its function when it is one; a name that is just bound has none.

    `may_inherit`: of a class, something it does not define itself may come from a base or a decorator.
    """

    line: int
    function: ast.FunctionDef | ast.AsyncFunctionDef | None
    is_bound: bool = False
    may_inherit: bool = False


def public_names(tree: ast.Module) -> dict[str, PublicName] | None:
    """List the public names of a module; None when they cannot be listed: a star import, or names made on demand."""
    found = dict(_names(tree.body, ""))
    if _OPEN in found or "*" in found:
        return None
    listed = _listed(tree)
    return {
        name: known
        for name, known in found.items()
        if (name.partition(".")[0] in listed if listed is not None else True) and _is_public(name, listed)
    }


def compare_signatures(before: Mapping[str, PublicName], after: Mapping[str, PublicName]) -> Iterator[ChangeFact]:
    """Tell which public functions, methods and classes went away or accept less, in the order of their names."""
    for name in sorted(before):
        then, now = before[name], after.get(name)
        if then.is_bound:
            continue
        text = signature_text(name, then)
        if now is None:
            if _is_gone(name, after):
                yield ChangeFact(FactKind.SIGNATURE_REMOVED, name, text, None, file_line=then.line)
        elif then.function is not None and now.function is not None:
            new = signature_text(name, now)
            if new != text:
                yield from _changed(name, then.function, now.function, (text, new))
    for name in sorted(after.keys() - before.keys()):
        if not after[name].is_bound:
            yield ChangeFact(
                FactKind.SIGNATURE_ADDED, name, None, signature_text(name, after[name]), file_line=after[name].line
            )


def _changed(name: str, before: _Function, after: _Function, texts: tuple[str, str]) -> Iterator[ChangeFact]:
    """Tell what a changed signature means; of a function a decorator stands in for, nobody calls it as written."""
    is_narrower = narrows(before, after)
    if is_narrower and (_is_replaced(before) or _is_replaced(after)):
        yield unjudged(ChangeAspect.SIGNATURES, DECORATED)
        is_narrower = False
    kind = FactKind.SIGNATURE_NARROWED if is_narrower else FactKind.SIGNATURE_CHANGED
    yield ChangeFact(kind, name, *texts, file_line=after.lineno)


def _is_replaced(function: _Function) -> bool:
    """Tell whether a decorator that is not known to keep the signature stands in for a function."""
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(called).rpartition(".")[2] not in _KEEPING:
            return True
    return False


def _is_gone(name: str, after: Mapping[str, PublicName]) -> bool:
    """Tell whether a name that is not there is gone; of a class that is gone itself, only the class is reported."""
    owner, dot, _ = name.partition(".")
    if not dot:
        return True
    return owner in after and not after[owner].is_bound and not after[owner].may_inherit


def signature_text(name: str, known: PublicName) -> str:
    """Write a signature without its types: `f(a, b=…, *, c)`; `class C` of a class."""
    if known.function is None:
        return short(f"class {name}")
    prefix = "async " if isinstance(known.function, ast.AsyncFunctionDef) else ""
    return short(f"{prefix}{name}({', '.join(_written(known.function.args))})")


def narrows(before: ast.FunctionDef | ast.AsyncFunctionDef, after: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether a call the one accepts may fail with the other."""
    if isinstance(before, ast.AsyncFunctionDef) != isinstance(after, ast.AsyncFunctionDef):
        return True
    return _positional_narrows(before.args, after.args) or _named_narrows(before.args, after.args)


def _positional_narrows(before: ast.arguments, after: ast.arguments) -> bool:
    old, new = [*before.posonlyargs, *before.args], [*after.posonlyargs, *after.args]
    if before.vararg is not None and after.vararg is None:
        return True
    if len(new) < len(old) and after.vararg is None:
        return True
    return len(new) - len(after.defaults) > len(old) - len(before.defaults)


def _named_narrows(before: ast.arguments, after: ast.arguments) -> bool:
    if before.kwarg is not None and after.kwarg is None:
        return True
    old = [argument.arg for argument in before.args]
    new = [argument.arg for argument in after.args]
    by_name = {*new, *(argument.arg for argument in after.kwonlyargs)}
    lost = [name for name in [*old, *(argument.arg for argument in before.kwonlyargs)] if name not in by_name]
    own = before.args[0].arg if before.args and not before.posonlyargs else ""
    if [name for name in lost if not (name == own and name in ("self", "cls"))] and after.kwarg is None:
        return True
    moved = [name for name in old if name in new]
    kept = [name for name in new if name in old]
    first = len(before.posonlyargs) != len(after.posonlyargs)
    if moved != kept or (not first and any(name in new and new.index(name) != old.index(name) for name in old)):
        return True
    optional = {a.arg for a, d in zip(before.kwonlyargs, before.kw_defaults, strict=True) if d is not None}
    required = {a.arg for a, d in zip(after.kwonlyargs, after.kw_defaults, strict=True) if d is None}
    known = {*old, *(argument.arg for argument in before.kwonlyargs)}
    return bool(required & optional) or bool(required - known)


def _written(arguments: ast.arguments) -> Iterator[str]:
    named = [*arguments.posonlyargs, *arguments.args]
    first_default = len(named) - len(arguments.defaults)
    for index, argument in enumerate(named):
        yield argument.arg if index < first_default else f"{argument.arg}=…"
        if arguments.posonlyargs and index == len(arguments.posonlyargs) - 1:
            yield "/"
    if arguments.vararg is not None:
        yield f"*{arguments.vararg.arg}"
    elif arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield argument.arg if default is None else f"{argument.arg}=…"
    if arguments.kwarg is not None:
        yield f"**{arguments.kwarg.arg}"


def _names(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, PublicName]]:
    """Give what a body binds, the last binding of a name last."""
    for statement in body:
        if isinstance(statement, _FUNCTIONS):
            yield f"{prefix}{statement.name}", PublicName(statement.lineno, statement)
        elif isinstance(statement, ast.ClassDef):
            may_inherit = bool(statement.bases or statement.keywords or statement.decorator_list)
            yield f"{prefix}{statement.name}", PublicName(statement.lineno, None, may_inherit=may_inherit)
            if not prefix:
                yield from _names(statement.body, f"{statement.name}.")
        elif isinstance(statement, ast.If | ast.Try | ast.With):
            yield from _names([inner for block in _blocks(statement) for inner in block], prefix)
        else:
            yield from ((f"{prefix}{name}", PublicName(statement.lineno, None, True)) for name in _bound(statement))


def _blocks(statement: ast.If | ast.Try | ast.With) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for handler in getattr(statement, "handlers", []):
        yield handler.body


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Give the names a statement imports or assigns."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (name.asname or name.name.partition(".")[0] for name in statement.names)
    else:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _listed(tree: ast.Module) -> frozenset[str] | None:
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == _ALL for target in targets):
            value = statement.value  # type: ignore[attr-defined]
            elements = value.elts if isinstance(value, ast.List | ast.Tuple) else []
            texts = [one.value for one in elements if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            return frozenset(texts) if elements and len(texts) == len(elements) else None
    return None


def _is_public(name: str, listed: frozenset[str] | None) -> bool:
    head, _, member = name.partition(".")
    is_member_public = not member.startswith("_") or member in {"__init__", "__call__"}
    return is_member_public and (listed is not None or not head.startswith("_"))
