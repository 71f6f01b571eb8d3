"""Claims about an audit of planned rounds: kept or not it finds the same, and a round that breaks ends itself only."""

from __future__ import annotations

import json
import os

import pygit2
import pytest

from governance_pipeline import auditing
from governance_pipeline.auditing import NOT_ANALYZED, audit_plan
from governance_pipeline.contracts.registry import is_by_round
from governance_pipeline.errors import StorageError
from governance_pipeline.ingest.formats import mini_swe_agent
from governance_pipeline.ingest.planning import plan_import
from governance_pipeline.pipeline import TABLES
from governance_pipeline.report.audit_document import audit_document
from governance_pipeline.report.audit_summary import unread, verdict

LOG = {
    "trajectory_format": "mini-swe-agent-1.1",
    "info": {"model_stats": {"instance_cost": 0.2, "api_calls": 2}},
    "messages": [{"role": "assistant", "content": "a", "extra": {"cost": 0.1, "actions": []}} for _ in range(2)],
}
BROKEN = "r-3"


def crash(files, out):
    raise KeyError("a bug of ours")


def misfit(files, out):
    """Give a value no column takes: the table cannot even be typed."""
    for file in files:
        out.add("core_runs", file, file.document(), run_id=7)


def repeat(files, out):
    """Give one key twice: the table is typed and breaks its contract."""
    for file in files:
        for _ in range(2):
            out.add("core_runs", file, file.document(), run_id="x", format="mini_swe_agent", run_unit="run")


@pytest.fixture
def plan(landing):
    """Plan two sound rounds and one between nothing and everything: a log of a format, a contract, an odd file."""
    folder = landing / BROKEN
    (folder / "logs").mkdir(parents=True)
    (folder / "round.toml").write_text('schema = "govern/round/v1"\n[round]\nparent = "r-1"\n', "utf-8")
    (folder / "logs" / "a.traj.json").write_text(json.dumps(LOG), "utf-8")
    (folder / "logs" / "link").symlink_to("a.traj.json")
    return plan_import([landing])


def audited(plan, root, *, keep, failures=None):
    said = [] if failures is None else failures
    return audit_plan(
        plan, root, keep=keep, on_round=lambda: None, on_failure=lambda name, error: said.append((name, error))
    )


@pytest.mark.parametrize("keep", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("fault", [crash, misfit, repeat])
def test_a_round_that_breaks_is_listed_as_not_analyzed_and_the_others_as_ever(plan, tmp_path, monkeypatch, fault, keep):
    sound = audited([planned for planned in plan if planned.round_id != BROKEN], tmp_path / "sound", keep=keep)
    monkeypatch.setattr(mini_swe_agent, "read", fault)
    failures = []
    tables = audited(plan, tmp_path / "store", keep=keep, failures=failures)
    assert [name for name, _ in failures] == [BROKEN]
    for table in filter(is_by_round, TABLES):
        frame = tables[table]
        assert frame[frame["round_id"] != BROKEN].reset_index(drop=True).equals(sound[table]), table
    files = tables["raw_log_files"]
    rows = files[files["round_id"] == BROKEN].set_index("path")
    assert rows["reason_code"].to_dict() == {
        "logs/a.traj.json": NOT_ANALYZED,
        "logs/link": "symlink",
        "round.toml": None,
    }
    assert (files["lines_in"] == files[["accepted", "quarantined", "blank", "duplicates"]].sum(axis=1)).all()


def test_a_round_that_breaks_leaves_the_audit_unknown_not_clean(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(mini_swe_agent, "read", crash)
    tables = audited([planned for planned in plan if planned.round_id == BROKEN], tmp_path, keep=False)
    document = audit_document(tables, tables["core_declared"].iloc[:0])
    assert [file["path"] for file in unread(document)] == ["logs/a.traj.json", "logs/link"]
    assert verdict(document, "warn").exit_code == 3


@pytest.mark.parametrize("keep", [False, True])
def test_a_full_disk_ends_the_audit_and_is_no_fault_of_a_round(plan, tmp_path, monkeypatch, keep):
    def full(*_):
        raise StorageError("no space left")

    monkeypatch.setattr(mini_swe_agent, "read", full)
    with pytest.raises(StorageError, match="no space left"):
        audited(plan, tmp_path / "store", keep=keep)


def test_rounds_that_break_together_and_not_apart_are_never_blamed_one_by_one(plan, tmp_path, monkeypatch):
    whole = auditing.run_in_memory

    def picky(rounds, trust):
        if len(rounds) == len(plan):
            raise ZeroDivisionError
        return whole(rounds, trust)

    monkeypatch.setattr(auditing, "run_in_memory", picky)
    with pytest.raises(ZeroDivisionError):
        audited(plan, tmp_path, keep=False)


def test_an_audit_without_a_fault_makes_every_table_once(plan, tmp_path, monkeypatch):
    calls = []
    whole = auditing.run_in_memory
    monkeypatch.setattr(auditing, "run_in_memory", lambda *given: calls.append(1) or whole(*given))
    audited(plan, tmp_path, keep=False)
    assert calls == [1]


def test_a_repository_beside_the_rounds_is_found_by_an_audit_that_keeps_nothing(tmp_path):
    objects = pygit2.init_repository(str(tmp_path / "repo"), bare=True)
    index = pygit2.Index()
    index.add(pygit2.IndexEntry("a.py", objects.create_blob(b"import os\nos.sep\n"), 0o100644))
    who = pygit2.Signature("A", "a@example.org", 1)
    base = objects.create_commit("refs/heads/main", who, who, "m", index.write_tree(objects), [])
    for name, path in {"near": "../../repo", "astray": "../repo"}.items():
        folder = tmp_path / "rounds" / name
        folder.mkdir(parents=True)
        (folder / "round.toml").write_text(
            f'schema = "govern/round/v1"\n[repo]\npath = "{path}"\nbase = "{base}"\n', "utf-8"
        )
        change = {"step": 1, "files": [{"path": "a.py", "added": 1, "deleted": 1}]}
        (folder / "changes.jsonl").write_text(json.dumps(change) + "\n", "utf-8")
    tables = audited(plan_import([tmp_path / "rounds"]), tmp_path / "scratch", keep=False)
    shares = tables["features_round"].set_index("round_id")
    assert shares["rewrite_share"]["near"] == 0.5
    assert shares["rewrite_share_reason"]["astray"] == "repo_unreadable"
    surface = tables["features_graph_surface"].set_index("round_id")
    assert surface["graph_nodes_count"]["near"] >= 1
    assert json.loads(surface["unknown"]["astray"])["C"] == "repo_unreadable"


def test_an_audit_that_keeps_its_rounds_finds_what_one_in_memory_finds(landing, tmp_path):
    plan = plan_import([landing])
    rounds = []
    kept, in_memory = (
        audit_plan(plan, tmp_path / f"store-{keep}", keep=keep, on_round=lambda: rounds.append(1))
        for keep in (True, False)
    )
    assert len(rounds) == 2 * len(plan), "each round moves the progress bar once"
    for table in TABLES:
        assert kept[table].equals(in_memory[table]), table


def test_files_that_are_not_copied_count_in_the_verdict_with_a_store_as_without(landing, tmp_path):
    heap = landing / "heap"
    heap.mkdir()
    (heap / "a.traj.json").write_text(json.dumps(LOG), "utf-8")
    (heap / "copy.traj.json").write_text(json.dumps(LOG), "utf-8")
    (heap / "empty.jsonl").touch()
    (heap / f"{'x' * 200}.txt").write_text("x", "utf-8")
    (heap / "link.json").symlink_to("a.traj.json")
    (heap / "nowhere").symlink_to("gone")
    os.mkfifo(heap / "pipe")
    (landing / "r-1" / "logs" / "link").symlink_to("a.traj.json")
    (landing / "r-1" / "evidence.jsonl").unlink()
    (landing / "r-1" / "evidence.jsonl").symlink_to("gone")
    plan = plan_import([landing])
    kept, in_memory = (audited(plan, tmp_path / f"store-{keep}", keep=keep) for keep in (True, False))
    for table in TABLES:
        assert kept[table].equals(in_memory[table]), table
    findings = kept["verdict_findings"]
    left_out = {"heap/link.json", "heap/nowhere", "heap/pipe", "logs/link", "evidence.jsonl"}
    names = {name.rpartition("/")[2] for name in left_out}
    assert names <= {path.rpartition("/")[2] for path in findings["path"].dropna()}
