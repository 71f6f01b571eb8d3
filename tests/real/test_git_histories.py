"""Three public histories as rounds: every commit is one, every file of it is in the tables, nothing is left over."""

from __future__ import annotations

from pathlib import Path

import pytest

from governance_pipeline.ingest.history.exports import read_export
from governance_pipeline.ingest.history.folders import Promise, write_folder
from governance_pipeline.ingest.history.grouping import RoundBy, rounds_of
from governance_pipeline.ingest.round import read_round
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.trajectory.step_surface import step_surface

GIT = Path(__file__).parents[2].parent / "shared" / "data" / "git"
COMMITS = {
    "SWE-agent+mini-swe-agent": 891, "anthropics+claude-agent-sdk-python": 754, "simonw+llm": 1095,
}  # fmt: skip

pytestmark = pytest.mark.skipif(
    not GIT.is_dir(), reason="no exported histories beside the checkout (../shared/data/git)"
)


@pytest.mark.parametrize("name", COMMITS)
def test_every_commit_of_a_history_is_in_exactly_one_round(name):
    commits = read_export(GIT / f"{name}.jsonl")
    assert len(commits) == COMMITS[name]
    for by in (RoundBy.COMMIT, RoundBy.DAY, RoundBy.WEEK, RoundBy.PR_MERGE):
        found = rounds_of(commits, by, name)
        assert sorted(c.sha for one in found for c in one.commits) == sorted(c.sha for c in commits)


@pytest.mark.parametrize("name", COMMITS)
def test_a_whole_history_as_one_round_gives_a_surface_for_every_commit(name, tmp_path):
    commits = read_export(GIT / f"{name}.jsonl")
    folder = write_folder(rounds_of(commits, RoundBy.DAY, "h")[0]._replace(commits=tuple(commits)), Promise(), tmp_path)
    tables = read_round(folder, folder.name, ContentStore(tmp_path / "store")).frames
    assert tables["raw_quarantine"].empty
    surface = step_surface(tables)
    assert len(surface) == len(commits)
    assert surface["files_count"].tolist() == [len(c.files) for c in commits]
    known = [
        None if any(f.added is None for f in c.files) else sum(f.added + f.deleted for f in c.files) for c in commits
    ]
    churn = surface["churn_count"].astype(object)
    assert churn.where(churn.notna(), None).tolist() == known
