"""Scope drift beside unasked: the same tangled commits, what each side calls outside the task, and clean commits.

What belongs here: running both sides. What does not: shares and intervals (tables).

A tangled commit is one commit's tree with the files of an unrelated, later commit grafted on (`unasked bench`, which
also picks the pairs): files of the first are the task, those of the second are drift. The two sides are not told the
same. unasked reads the message of the first commit and the repository. Ours reads what a contract declares as
`[scope] include` and nothing else, so a declaration has to be made up, and each row says which.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any

from governance_pipeline.rounds.globs import Globs
from governance_pipeline.rounds.modules import ModuleMap
from governance_pipeline.rounds.paths import ROOT
from governance_pipeline.verdict.goal import GoalFacts, judge_goal
from governance_pipeline.verdict.policy_document import shipped_policy
from governance_pipeline.vocabulary import ContractState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

PAIRS = 40
"""Tangled commits per repository and seed: what `unasked bench` takes by default."""

MOST_CLEAN = 20
"""Commits of the tasks looked at alone: each is one run of unasked."""

IN_ROOT = ["/*", "!/*/**"]
"""Globs of the files directly in the repository's own folder."""

PEER = "unasked"
DECLARATIONS: dict[str, Callable[[Sequence[str]], list[str] | None]] = {
    "ours, every folder of the task (dir:2)": lambda files: _modules(files, "dir:2"),
    "ours, every top folder of the task (dir:1)": lambda files: _modules(files, "dir:1"),
    "ours, only the folder most of the task is in (dir:2)": lambda files: _modules(files, "dir:2", most_only=True),
    "ours, no contract": lambda _: None,
}
"""Side -> globs of `[scope] include`, made of the files of the task; None: nothing is declared."""

CLEAN = """
import json, sys
from unasked.gitio import git
from unasked.report import build_report
root = sys.argv[1]
answers = {}
for sha in json.load(sys.stdin):
    message = git(root, "log", "-1", "--format=%B", sha)[1].strip()
    parent = git(root, "rev-parse", sha + "^")[1].strip()
    asked = {"repo": root, "head": parent, "prompt": message, "dirty": {}, "untracked": [], "manifests": {},
             "attribution": "exact"}
    rows = build_report(root, "replay-" + sha[:8], asked, to=sha).get("changes") or []
    answers[sha] = [[row["path"] for row in rows],
                    [row["path"] for row in rows if row["bucket"] == "drift" and not row.get("quiet")]]
print(json.dumps(answers))
"""


def measure_scope(name: str, source: Path, scratch: Path, interpreter: str, seeds: Sequence[int]) -> dict[str, Any]:
    """Measure both sides on the tangled commits of a repository.

    Returns:
        per pair and side [found, missed, wrong, right, said nothing], and per clean commit and side whether it was
        flagged. A clone is made in `scratch`, because unasked writes commits into the repository it looks at.
    """
    scratch = scratch.resolve()
    clone = scratch / name
    if not clone.is_dir():
        subprocess.run(["git", "clone", "--quiet", str(source.resolve()), str(clone)], check=True)
    pairs = [pair for seed in seeds for pair in _pairs(clone, scratch / f"{name}.pairs.{seed}.json", interpreter, seed)]
    sides = {PEER: [_counts(pair) for pair in pairs]}
    fired: dict[str, int] = {}
    for side, declare in DECLARATIONS.items():
        sides[side], fired[side] = _ours(clone, pairs, declare)
    return {
        "head": _git(clone, "rev-parse", "HEAD").strip(),
        "pairs": sides,
        "goal_substitution": fired,
        "clean": _clean(clone, sorted({pair["scope_sha"] for pair in pairs})[:MOST_CLEAN], interpreter),
    }


def _pairs(clone: Path, answer: Path, interpreter: str, seed: int) -> list[dict[str, Any]]:
    if not answer.exists():
        _unasked(clone, interpreter, "-m", "unasked", "bench", "--pairs", str(PAIRS), "--order", "realistic",
                 "--seed", str(seed), "--json", "--out", str(answer))  # fmt: skip
    pairs: list[dict[str, Any]] = json.loads(answer.read_text("utf-8"))["pairs"]
    return pairs


def _unasked(clone: Path, interpreter: str, *arguments: str, given: str | None = None) -> str:
    home = str(clone.parent / "home")
    return subprocess.run(
        [interpreter, *arguments], cwd=clone, input=given, text=True, stdout=subprocess.PIPE, check=True,
        env={**os.environ, "HOME": home, "XDG_STATE_HOME": home},
    ).stdout  # fmt: skip


def _counts(pair: dict[str, Any]) -> list[int]:
    """Files of a tangled commit as unasked took them; it said nothing when no row is flagged or listed unverified."""
    spoke = any(pair[name] for name in ("tp", "fp", "unverified_fn", "unverified_tn"))
    return [len(pair["tp"]), len(pair["fn"]), len(pair["fp"]), len(pair["tn"]), int(not spoke)]


def _ours(
    clone: Path, pairs: Sequence[dict[str, Any]], declare: Callable[[Sequence[str]], list[str] | None]
) -> tuple[list[list[int]], int]:
    rows, fired = [], 0
    for pair in pairs:
        task, drift = sorted(pair["fp"] + pair["tn"]), sorted(pair["tp"] + pair["fn"])
        globs = declare(task)
        found, wrong = outside(drift, globs), outside(task, globs)
        if globs is not None:
            fired += _goal(clone, pair, len(task) + len(drift), len(found) + len(wrong))
        is_silent = not found and not wrong
        rows.append([len(found), len(drift) - len(found), len(wrong), len(task) - len(wrong), int(is_silent)])
    return rows, fired


def outside(files: Sequence[str], globs: Sequence[str] | None) -> list[str]:
    """Give the files outside a declared scope; none where nothing is declared: nobody can tell."""
    return [] if globs is None else [path for path in files if not Globs(globs).match(path)]


def _goal(clone: Path, pair: dict[str, Any], files: int, files_outside: int) -> bool:
    """Tell whether goal substitution fires on a tangled commit whose contract wants evidence and has none."""
    listed = _git(clone, "diff", "--numstat", f"{pair['scope_sha']}^", pair["synthetic_sha"]).splitlines()
    churn = sum(int(number) for line in listed for number in line.split("\t")[:2] if number.isdigit())
    known = GoalFacts(ContractState.VALID, files, churn, ("KR1",), {"KR1": 0}, files_outside)
    return bool(judge_goal(known, shipped_policy().tightened("warn", None, None)).fires)


def _clean(clone: Path, commits: Sequence[str], interpreter: str) -> dict[str, list[int]]:
    answers = json.loads(_unasked(clone, interpreter, "-c", CLEAN, str(clone), given=json.dumps(commits)))
    flagged = {PEER: [int(bool(answers[sha][1])) for sha in commits]}
    for side, declare in DECLARATIONS.items():
        flagged[side] = [int(bool(outside(answers[sha][0], declare(answers[sha][0])))) for sha in commits]
    return flagged


def _modules(files: Sequence[str], rule: str, *, most_only: bool = False) -> list[str]:
    """Write the modules of files as globs; the root of the repository stands for every file directly in it."""
    module = ModuleMap(rule=rule).module
    counts = Counter(module(path) for path in sorted(files))
    kept = [counts.most_common(1)[0][0]] if most_only else sorted(counts)
    return (IN_ROOT if ROOT in kept else []) + [f"/{_literal(name)}/**" for name in kept if name != ROOT]


def _literal(path: str) -> str:
    return re.sub(r"([\[\]*?\\])", r"\\\1", path)


def _git(clone: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(clone), *arguments], capture_output=True, text=True, check=True).stdout
