"""The library stands without Dagster, does nothing at import, and the asset modules keep Dagster's rules."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "governance_pipeline"


def _modules() -> list[str]:
    paths = [p for p in LIBRARY.rglob("*.py") if p.name != "__init__.py"]
    return sorted(p.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".") for p in paths)


def test_importing_every_library_module_loads_no_dagster():
    code = (
        "import importlib, sys\n"
        f"for name in {_modules()!r}: importlib.import_module(name)\n"
        "loaded = sorted(m for m in sys.modules if m.split('.')[0].startswith(('dagster', 'assets_defs')))\n"
        "assert loaded == [], loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr


def test_the_library_reads_no_environment_clock_or_randomness_at_import():
    banned = {"environ", "getenv", "now", "utcnow", "time_ns", "urandom", "random"}
    found = []
    for path in LIBRARY.rglob("*.py"):
        for node in _module_level_calls(ast.parse(path.read_text("utf-8"))):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in banned:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno} {name}")
    assert found == []


def test_asset_modules_do_not_postpone_annotations():
    """Dagster reads `context:` annotations when it decorates; postponed ones break it."""
    text = "from __future__ import annotations"
    assert [p.name for p in (ROOT / "assets_defs").rglob("*.py") if text in p.read_text("utf-8")] == []


def test_private_dagster_modules_are_imported_only_where_a_decision_says_so():
    users = {
        p.relative_to(ROOT).as_posix()
        for p in (ROOT / "assets_defs").rglob("*.py")
        if "dagster._" in p.read_text("utf-8")
    }
    assert users <= {"assets_defs/check_status.py", "assets_defs/kept_connections.py"}, "decisions 0003 and 0014"


def _module_level_calls(tree: ast.Module) -> list[ast.Call]:
    calls: list[ast.Call] = []
    for statement in tree.body:
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            calls += [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return calls
