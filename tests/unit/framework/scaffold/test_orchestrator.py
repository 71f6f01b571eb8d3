"""run_orchestrator.py as it is laid out, run for real: it directs, believes nobody, and stops at the first no."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import pytest

from governance_pipeline.framework.audit_trail import HashState, read_trail
from governance_pipeline.framework.folder import ALLOWLIST, AUDIT_TRAIL, SAFETY_CHECKS, GovernedFolder
from governance_pipeline.framework.scaffold.laying_out import lay_out
from governance_pipeline.framework.scaffold.layout import verify_layout
from governance_pipeline.framework.scaffold.plan import plan_of
from governance_pipeline.framework.scaffold.signatures import TEMPLATES, Variant
from governance_pipeline.framework.scaffold.template_files import template_bytes

MARKER = "03_state/checkpoints/STAGE_COPY_COMPLETED.json"
OUTPUT = "06_design/outputs/copy.csv"
AGENT = """
import hashlib, json, sys
from pathlib import Path
task = json.load(sys.stdin)
output = Path({output!r})
if {writes}:
    output.write_bytes(Path("in.csv").read_bytes())
digest = hashlib.sha256(output.read_bytes()).hexdigest()
answer = {{"outputs": {{{output!r}: digest}}, "counts": {{"rows": 2}}, "status": "completed", "evidence": "rehashed"}}
answer["refuted"] = False
{more}
print(json.dumps(answer))
"""
ASKED = """
import json, os, sys
from pathlib import Path
if sys.argv[1] == "red":
    os.execv(sys.executable, [sys.executable, "-m", "governance_pipeline.cli", *sys.argv[1:]])
Path("asked.json").write_text(json.dumps(sys.argv[1:]))
sys.exit({code})
"""


class Project:
    """A project with one stage COPY, and a second one NEXT that reads its output."""

    def __init__(self, root) -> None:
        self.root = root
        lay_out(root, plan_of("en"))
        (root / "in.csv").write_text("a\n1\n2\n")
        self.agent("workers", "copier", writes=True)
        self.agent("validators", "checker")
        self.agent("workers", "second")
        self.stage("copier", "checker")
        self.answer(0)

    def agent(self, kind: str, name: str, more: str = "", *, writes: bool = False) -> None:
        program = self.root / "04_agents" / kind / f"{name}.py"
        program.write_text(AGENT.format(output=OUTPUT, writes=writes, more=more))

    def stage(self, worker: str, validator: str, more: str = "") -> None:
        """Declare the stages, as a lead does, and put a stand-in for `govern authorize`."""
        text = template_bytes(None, "run_orchestrator.py.txt").decode()
        stages = f'    Stage("COPY", "file_write", "{OUTPUT}", "{worker}", "{validator}", ("in.csv",){more}),\n'
        stages += f'    Stage("NEXT", "file_write", "x", "second", "checker", ("{OUTPUT}",)),\n'
        text = text.replace("STAGES: tuple[Stage, ...] = (\n", f"STAGES: tuple[Stage, ...] = (\n{stages}")
        text = text.replace('(sys.executable, "-m", "governance_pipeline.cli")', '(sys.executable, "authorize.py")')
        (self.root / "run_orchestrator.py").write_text(text)

    def answer(self, code: int) -> None:
        (self.root / "authorize.py").write_text(ASKED.format(code=code))

    def run(self):
        environment = {**os.environ, "HOME": str(self.root.parent), "XDG_CONFIG_HOME": str(self.root.parent)}
        command = [sys.executable, "run_orchestrator.py"]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, env=environment, check=False)

    @property
    def trail(self) -> list[dict]:
        path = self.root / AUDIT_TRAIL
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def project(tmp_path):
    """Give the project."""
    return Project(tmp_path / "project")


def _refused(project, said: str, *, ran: int) -> None:
    done = project.run()
    assert (done.returncode, done.stdout) == (4, "")
    assert "COPY is refused: " in done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (project.root / MARKER).exists()
    assert len(project.trail) == ran


def test_what_is_not_authorized_reaches_no_worker(project):
    project.answer(4)
    _refused(project, "govern authorize ended with 4", ran=0)
    asked = json.loads((project.root / "asked.json").read_text())
    assert asked[:7] == ["authorize", "file_write", "--agent", "copier", "--scope", OUTPUT, "--run"]
    assert asked[8:] == ["--ask", "--project", str(project.root)]


@pytest.mark.long
def test_a_worker_that_validates_itself_is_refused(project):
    project.agent("validators", "copier")
    project.stage("copier", "copier")
    _refused(project, "VALIDATOR_NOT_INDEPENDENT", ran=2)


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "name", "more", "said", "ran"),
    [
        ("workers", "copier", "sys.exit(3)", "copier ended with 3", 1),
        ("workers", "copier", "answer = 1", "names no outputs", 1),
        ("workers", "copier", "answer['outputs'] = {}", "names no outputs", 1),
        ("workers", "copier", "answer['outputs'] = {'../x': 'a'}", "outside of the project", 1),
        ("workers", "copier", "print('done!')", "did not answer with one JSON document", 1),
        ("validators", "checker", "answer['refuted'] = True", "checker refuted the result: rehashed", 2),
        ("validators", "checker", "del answer['refuted']", "checker refuted the result", 2),
        ("validators", "checker", "answer['counts']['rows'] = 3", "different outputs or counts", 2),
        ("validators", "checker", "answer['outputs'] = {'in.csv': 'a'}", "different outputs or counts", 2),
        ("validators", "checker", "output.write_text('changed after it was hashed')", "HASH_MISMATCH", 2),
    ],
)
def test_an_answer_that_cannot_be_verified_is_refused_and_kept(kind, name, more, said, ran, project):
    project.agent(kind, name, more, writes=kind == "workers")
    _refused(project, said, ran=ran)


@pytest.mark.long
def test_a_program_that_is_not_there_is_refused(project):
    (project.root / "04_agents/workers/copier.py").unlink()
    _refused(project, "04_agents/workers/copier.py is not there", ran=0)


@pytest.mark.long
def test_a_red_stage_without_a_measured_limit_starts_nothing(project):
    (project.root / "measured.txt").write_text("1.0\n2.0\n")
    project.stage("copier", "checker", ', "measured.txt"')
    _refused(project, "SAMPLE_TOO_SMALL", ran=1)
    assert not (project.root / OUTPUT).exists()


@pytest.mark.long
def test_a_red_worker_over_its_limit_is_ended_and_does_not_start_again_by_itself(project):
    (project.root / "measured.txt").write_text("0.1\n" * 100)
    project.agent("workers", "copier", "import time; time.sleep(60)", writes=True)
    project.stage("copier", "checker", ', "measured.txt"')
    _refused(project, "took longer than the limit", ran=1)
    project.agent("workers", "copier", writes=True)
    (project.root / "measured.txt").write_text("60\n" * 100)
    _refused(project, "RELAUNCH_NEEDS_APPROVAL", ran=2)


@pytest.mark.long
def test_a_red_stage_with_a_measured_limit_is_completed(project):
    (project.root / "measured.txt").write_text("60\n" * 100)
    project.stage("copier", "checker", ', "measured.txt"')
    done = project.run()
    assert (done.returncode, done.stdout) == (0, "COPY is completed\nNEXT is completed\n")


@pytest.mark.long
def test_a_skeleton_lets_nothing_pass(project):
    (project.root / SAFETY_CHECKS).write_bytes(template_bytes(None, TEMPLATES[Variant.SKELETON]))
    _refused(project, "is a skeleton", ran=2)


@pytest.mark.long
def test_a_stage_that_runs_already_is_refused(project):
    from governance_pipeline.framework.locks import Locks

    with Locks(GovernedFolder(project.root)).held("stage-copy", "somebody else"):
        _refused(project, "LOCK_HELD", ran=0)


def test_stages_run_in_order_once_and_their_markers_hold_what_was_hashed(project):
    done = project.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "COPY is completed\nNEXT is completed\n"
    mark = json.loads((project.root / MARKER).read_text())
    digest = hashlib.sha256((project.root / OUTPUT).read_bytes()).hexdigest()
    assert [(entry["path"], entry["sha256"]) for entry in mark["outputs"]] == [(OUTPUT, digest)]
    assert (mark["completed_by"], mark["run_id"]) == ("copier", project.trail[0]["run_id"])
    assert [entry["agent_id"] for entry in project.trail] == ["copier", "checker", "second", "checker"]
    trail = read_trail(GovernedFolder(project.root))
    assert (trail.lines, len(trail.entries)) == (4, 4)
    assert {entry.state for entry in trail.entries} == {HashState.MATCH}
    for entry in project.trail:
        assert (entry["independently_verified"], entry["self_reported_status"]) == (False, "completed")
    again = project.run()
    assert again.stdout.count("was completed before; its mark holds") == 2
    assert len(project.trail) == 4
    found = verify_layout(project.root, plan_of("en"), is_in_use=True)
    assert found.differences == ()


@pytest.mark.long
@pytest.mark.parametrize("change", ["output", "input", "renamed", "empty", "declared"])
def test_the_next_stage_does_not_start_because_a_mark_exists(change, project):
    project.run()
    marked, following = project.root / MARKER, project.root / MARKER.replace("COPY", "NEXT")
    following.unlink()
    if change in ("output", "input"):
        (project.root / (OUTPUT if change == "output" else "in.csv")).write_text("changed")
    elif change == "declared":
        text = (project.root / "run_orchestrator.py").read_text()
        (project.root / "run_orchestrator.py").write_text(text.replace('("in.csv",)', "()"))
    else:
        marked.write_text("{}" if change == "empty" else marked.read_text().replace('"COPY"', '"NEXT"'))
    done = project.run()
    assert done.returncode == 4
    assert not following.exists()
    assert len(project.trail) == 4


@pytest.mark.long
@pytest.mark.parametrize("more", ["answer.update(token_cost=float('nan'), status=1)", "answer['token_cost'] = True"])
def test_what_an_agent_says_of_itself_cannot_break_the_trail(more, project):
    project.agent("workers", "copier", more, writes=True)
    project.run()
    trail = read_trail(GovernedFolder(project.root))
    assert (trail.broken, trail.entries[0].members["token_cost"]) == ([], None)
    assert trail.entries[0].state is HashState.MATCH


@pytest.mark.long
def test_the_allowlist_of_the_project_decides_when_the_real_govern_is_asked(project):
    path = project.root / "run_orchestrator.py"
    path.write_text(
        path.read_text().replace(
            '(sys.executable, "authorize.py")', '(sys.executable, "-m", "governance_pipeline.cli")'
        )
    )
    _refused(project, "COPY is refused", ran=0)
    allowed = project.root / ALLOWLIST
    rows = f"|---|---|---|---|\n| copier | file_write | `{OUTPUT}` | it makes the copy |\n"
    allowed.write_text(allowed.read_text().replace("|---|---|---|---|\n", rows, 1))
    done = project.run()
    assert "COPY is completed\n" in done.stdout
    assert "NEXT is refused" in done.stderr


def test_without_stages_it_says_so_and_nothing_is_done(tmp_path, tree_of):
    lay_out(tmp_path, plan_of("es"))
    before = tree_of(tmp_path)
    done = subprocess.run([sys.executable, str(tmp_path / "run_orchestrator.py")], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"no stage is declared" in done.stderr
    assert tree_of(tmp_path) == before
