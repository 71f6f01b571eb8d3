"""Table `features_amplification`: two providers, a baseline and a candidate, and signals that blame nobody for a touch."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.contracts.registry import validate
from governance_pipeline.trajectory.amplification_rows import amplification
from governance_pipeline.trajectory.repositories import Repositories

HUB = "def h():\n    return 1\n"
USERS = {f"user_{number:02d}.py": "import hub\n" for number in range(4)}
TRIPLES = {
    name: content
    for number in range(8)
    for name, content in (
        (f"a{number}.py", ""),
        (f"b{number}.py", f"import a{number}\n"),
        (f"c{number}.py", f"import b{number}\n"),
    )
}  # impacts 2, 1 and 0, eight times: median 1, MAD 1


def log_line(sha: str, *paths: str) -> dict:
    files = [{"path": path, "added": 1, "deleted": 0} for path in paths]
    return {"schema": "govern/git-log/v1", "sha": sha, "parents": [], "ts": "2026-01-01T00:00:00Z", "author": "a",
            "files": files}  # fmt: skip


@pytest.fixture
def rows(tables, repository):
    """Give a function that makes the rows of one round, by unit, from its commits."""

    def make(base: str | None, *log: dict):
        changes = [{"step": at, "run_id": "git", "files": line["files"]} for at, line in enumerate(log, 1)]
        files = {"changes.jsonl": changes, "logs/git-log.jsonl": list(log)}
        if base is not None:
            repo = f'path = "{repository.path}"\nbase = "{base}"\n'
            files["round.toml"] = f'schema = "govern/round/v1"\n[repo]\n{repo}'
        frame = amplification(tables({"r-1": files}), Repositories())
        validate("features_amplification", frame)
        found = {}
        for row, absent in zip(frame.to_dict("records"), frame.isna().to_dict("records"), strict=True):
            found[row["unit"]] = {name: None if absent[name] else value for name, value in row.items()}
        return found

    return make


def test_without_a_repository_every_touched_file_has_its_row_and_the_reason(rows):
    found = rows(None, log_line("a" * 40, "x.py", "y.md"))
    assert set(found) == {"x.py", "y.md"}
    assert set(json.loads(found["x.py"]["unknown"]).values()) == {"no_contract"}
    assert found["x.py"]["baseline_frequency_count"] is None


def test_commits_nobody_can_read_leave_the_candidate_unknown_and_the_baseline_known(rows, repository):
    base = repository.commit({"hub.py": HUB, **USERS})
    row = rows(base, log_line("e" * 40, "hub.py"))["hub.py"]
    assert (row["baseline_frequency_count"], row["baseline_impact_count"]) == (1, 4)
    assert (row["candidate_impact_count"], row["candidate_commit_id"], row["is_in_candidate"]) == (None, None, None)
    assert json.loads(row["unknown"])["impact_increase"] == "factor_unknown"


def test_new_and_gone_units_have_no_signal_and_say_why(rows, repository):
    base = repository.commit({"a.py": "", "b.py": ""})
    head = repository.commit({"a.py": "", "c.py": ""})
    found = rows(base, log_line(head, "b.py", "c.py"))
    assert json.loads(found["c.py"]["unknown"])["impact_increase"] == "no_baseline"
    assert json.loads(found["b.py"]["unknown"])["impact_increase"] == "no_candidate"


def test_a_file_of_no_language_has_a_frequency_and_no_impact(rows, repository):
    base, head = repository.commit({"a.md": "1"}), repository.commit({"a.md": "2"})
    row = rows(base, log_line(head, "a.md"))["a.md"]
    assert (row["baseline_frequency_count"], row["candidate_frequency_count"]) == (1, 2)
    assert (row["baseline_impact_count"], row["is_impact_increase"]) == (None, None)


def test_a_touch_alone_is_no_increase_and_no_crossing(rows, repository):
    base = repository.commit({"hub.py": HUB, **TRIPLES})
    head = repository.commit({"hub.py": HUB + "# more\n", **TRIPLES})
    row = rows(base, log_line(head, "hub.py"))["hub.py"]
    assert (row["is_impact_increase"], row["is_outlier_crossing"], row["impact_delta_count"]) == (False, False, 0)
    assert row["candidate_frequency_count"] == row["baseline_frequency_count"] + 1
    assert (row["reference_units_count"], row["region_median"], row["region_mad"]) == (25, 1.0, 1.0)


def test_new_users_are_an_increase_and_a_crossing_at_the_old_frequency(rows, repository):
    base = repository.commit({"hub.py": HUB, **TRIPLES})
    used = {path: content + "import hub\n" for path, content in TRIPLES.items() if path.startswith("c")}
    head = repository.commit({"hub.py": HUB + "\n", **TRIPLES, **used})
    row = rows(base, log_line(head, "hub.py", *sorted(used)))["hub.py"]
    assert (row["baseline_impact_count"], row["candidate_impact_count"]) == (0, 8)
    assert row["region_threshold"] == pytest.approx(1 + 3 * 1.4826)
    assert (row["is_impact_increase"], row["is_outlier_crossing"], row["is_touched_outlier"]) == (True, True, False)


def test_tests_are_counted_apart_and_large_commits_left_out(rows, repository):
    many = {f"f_{number:02d}.py": "" for number in range(31)}
    repository.commit({"hub.py": HUB, **many})
    base = repository.commit({"hub.py": HUB, **many, "tests/test_hub.py": "import hub\n", "app.py": "import hub\n"})
    head = repository.commit(
        {"hub.py": HUB + "\n", **many, "tests/test_hub.py": "import hub\n", "app.py": "import hub\n"}
    )
    row = rows(base, log_line(head, "hub.py"))["hub.py"]
    assert (row["baseline_impact_count"], row["baseline_tests_count"]) == (2, 1)
    assert (row["baseline_frequency_count"], row["commits_used_count"], row["commits_left_out_count"]) == (0, 1, 1)
    assert row["is_whole_history"] is True
