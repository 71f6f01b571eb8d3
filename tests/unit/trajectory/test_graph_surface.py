"""Table `features_graph_surface`: a row for every step, a reason for every null, numbers from the repository alone."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.contracts.registry import validate
from governance_pipeline.trajectory.graph_surface import graph_surface
from governance_pipeline.trajectory.repositories import Repositories

BASE = {
    "src/a.py": "import src.b\n\n\ndef f():\n    return src.b.g()\n",
    "src/b.py": "def g():\n    return 1\n",
    "src/far.py": "x = 1\n",
    "README.md": "# a\n",
}
CHANGED = {**BASE, "src/a.py": "import src.b\n\n\ndef f():\n    return src.b.g() + 1\n", "README.md": "# b\n"}


def contract(repository, base, *, objective='["src/b.py"]', more="") -> str:
    lines = ['schema = "govern/round/v1"', "[scope]", 'include = ["src/**"]', "public = []"]
    if objective is not None:
        lines.append(f"objective_set = {objective}")
    lines += ["[repo]", f'path = "{repository.path}"', *([] if base is None else [f'base = "{base}"']), more]
    return "\n".join(lines) + "\n"


def log_of(*commits: tuple[str, list[str]]) -> list[dict]:
    return [
        {
            "schema": "govern/git-log/v1", "sha": sha, "parents": [], "ts": f"2026-01-01T00:00:{at:02d}Z", "author": "a",
            "files": [{"path": path, "added": 1, "deleted": 1} for path in paths],
        }
        for at, (sha, paths) in enumerate(commits)
    ]  # fmt: skip


def changes_of(log: list[dict]) -> list[dict]:
    return [
        {"step": step, "ts": line["ts"], "run_id": "git", "files": line["files"]} for step, line in enumerate(log, 1)
    ]


@pytest.fixture
def surface(tables):
    """Give a function that makes the rows of one round from its commits and contract."""

    def make(toml: str | None, log: list[dict] | None = None, changes: list[dict] | None = None):
        files = {"changes.jsonl": changes_of(log or []) if changes is None else changes}
        if log is not None:
            files["logs/git-log.jsonl"] = log
        if toml is not None:
            files["round.toml"] = toml
        frame = graph_surface(tables({"r-1": files}), Repositories())
        validate("features_graph_surface", frame)
        return [
            {name: None if missing else value for (name, value), missing in zip(row.items(), absent, strict=True)}
            for row, absent in zip(frame.to_dict("records"), frame.isna().to_numpy().tolist(), strict=True)
        ]

    return make


@pytest.mark.parametrize(
    ("toml", "reason"),
    [
        (None, "no_contract"),
        ('schema = "other"\n', "contract_invalid"),
        ('schema = "govern/round/v1"\n', "no_repo"),
        ('schema = "govern/round/v1"\n[repo]\npath = "../nowhere"\nbase = "0123456789"\n', "repo_unreadable"),
        ('schema = "govern/round/v1"\n[repo]\npath = "/nowhere"\n', "no_base"),
        ('schema = "govern/round/v1"\n[repo]\npath = "/nowhere"\nbase = "main"\n', "base_not_pinned"),
    ],
)
def test_a_round_without_a_readable_repository_has_its_rows_with_the_reason(surface, toml, reason):
    [row] = surface(toml, changes=[{"step": 1, "files": [{"path": "src/a.py", "added": 1, "deleted": 0}]}])
    unknown = json.loads(row["unknown"])
    assert {term: unknown[term] for term in "YDC"} == dict.fromkeys("YDC", reason)
    assert (row["files_count"], row["surface_sum"], row["tree_id"]) == (1, None, None)


def test_a_base_that_is_not_in_the_repository_is_a_reason(surface, repository):
    repository.commit(BASE)
    [row] = surface(contract(repository, "f" * 40), changes=[{"step": 1, "files": []}])
    assert json.loads(row["unknown"])["D"] == "base_not_found"


def test_a_whole_vector_from_a_commit(surface, repository):
    base, head = repository.commit(BASE), repository.commit(CHANGED)
    [row] = surface(contract(repository, base), log_of((head, ["README.md", "src/a.py"])))
    assert json.loads(row["unknown"]) == {}
    assert (row["symbols_count"], row["symbols_source"]) == (1, "git")
    assert json.loads(row["changed_symbols"]) == ["src/a.py::f"]
    assert row["objective_hops"] == 1.0  # README.md reaches nothing and is left out
    assert row["unreachable_weight_share"] == 0.5
    assert 0 < row["centrality_share"] < 1
    vector = [row[name] for name in (
        "files_count", "churn_count", "symbols_count", "modules_count", "public_count", "objective_hops", "entropy_nats",
        "centrality_share",
    )]  # fmt: skip
    assert row["surface_sum"] == pytest.approx(sum(vector))
    assert (row["base_commit_id"], row["commit_id"]) == (base, head)


def test_a_commit_the_repository_does_not_have_leaves_its_symbols_unknown(surface, repository):
    base = repository.commit(BASE)
    [row] = surface(contract(repository, base), log_of(("e" * 40, ["src/a.py"])))
    assert json.loads(row["unknown"]) == {"Y": "symbols_unknown"}
    assert row["objective_hops"] == 1.0


def test_no_objective_set_and_one_that_matches_nothing_are_told_apart(surface, repository):
    base, head = repository.commit(BASE), repository.commit(CHANGED)
    log = log_of((head, ["src/a.py"]))
    [without] = surface(contract(repository, base, objective=None), log)
    assert json.loads(without["unknown"]) == {"D": "no_objective_set"}
    assert without["objective_source"] is None


def test_an_objective_set_that_matches_nothing_is_counted(surface, repository):
    base, head = repository.commit(BASE), repository.commit(CHANGED)
    [row] = surface(contract(repository, base, objective='["gone/**", "x.py"]'), log_of((head, ["src/a.py"])))
    assert json.loads(row["unknown"]) == {"D": "objective_not_in_graph"}
    assert (row["objective_nodes_count"], row["objective_unmatched_count"]) == (0, 2)


def test_names_an_event_lists_count_as_it_gives_them(surface, repository):
    base = repository.commit(BASE)
    files = [{"path": "src/a.py", "added": 1, "deleted": 0, "symbols": ["f", "g", "f"]}]
    [row] = surface(contract(repository, base), changes=[{"step": 1, "files": files}])
    assert (row["symbols_count"], row["symbols_source"]) == (2, "event")
    files.append({"path": "src/b.py", "added": 1, "deleted": 0})
    [row] = surface(contract(repository, base), changes=[{"step": 1, "files": files}])
    assert row["symbols_count"] is None


def test_areas_add_up_and_idle_time_shows_in_the_seconds_only(surface, repository):
    base, head = repository.commit(BASE), repository.commit(CHANGED)
    again = repository.commit(BASE)
    log = log_of((head, ["src/a.py"]), (again, ["src/a.py"]), ("d" * 40, []))
    log[1]["ts"], log[2]["ts"] = "2026-01-01T01:00:00Z", "2026-01-01T09:00:00Z"
    rows = surface(contract(repository, base), log)
    first, second, idle = (row["surface_sum"] for row in rows[:2]), None, rows[2]
    total = sum(first)
    assert (idle["has_changes"], second) == (False, None)
    assert rows[1]["aus_to_step"] == rows[1]["aus_discrete_to_step"] == pytest.approx(total)
    assert rows[1]["surface_seconds_to_step"] == pytest.approx(rows[1]["surface_sum"] * 3600)
    assert idle["aus_reason"] == "s_unknown"  # its commit is not in the repository, so Y is not known


def test_a_missing_step_forbids_the_areas_after_it(surface, repository):
    base = repository.commit(BASE)
    rows = surface(contract(repository, base), changes=[{"step": 1, "files": []}, {"step": 3, "files": []}])
    assert [row["aus_reason"] for row in rows] == [None, "step_gap"]
    assert rows[0]["aus_to_step"] == 0.0


def test_a_step_two_events_claim_has_a_row_and_no_terms(surface, repository):
    base = repository.commit(BASE)
    [row] = surface(contract(repository, base), changes=[{"step": 1, "F": 1}, {"step": 1, "F": 2}])
    assert set(json.loads(row["unknown"]).values()) == {"step_repeated"}
