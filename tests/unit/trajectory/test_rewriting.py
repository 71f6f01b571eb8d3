"""The rewritten share of a round is unknown with its reason, or deleted lines over the lines that were there."""

from __future__ import annotations

import pytest

from governance_pipeline.trajectory.base_lines import BaseReason
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.rewriting import REWRITING_TABLES, rewritten
from governance_pipeline.trajectory.round_features import round_features
from governance_pipeline.trajectory.step_surface import step_surface

COMMIT = "4f1c2d4f1c2d"
WITH_REPO = f'schema = "govern/round/v1"\n[repo]\npath = "/repo"\nbase = "{COMMIT}"\n'


class TenLines:
    """A base in which every file below old/ has ten lines."""

    def has(self, path):
        return path.startswith("old/")

    def lines(self, path):
        return None if path.endswith(".png") else 10


def share(tables, base=None):
    asked = []

    def opened(*named):
        asked.append(named)
        return TenLines() if base is None else base

    (found,) = rewritten({name: tables[name] for name in REWRITING_TABLES}, opened).values()
    assert asked in ([], [("r-1", "/repo", COMMIT)])
    return found


@pytest.mark.parametrize("toml", [None, 'schema = "govern/round/v1"\n', WITH_REPO.partition("base")[0]])
def test_without_repository_and_commit_there_is_no_base(one_round, file, toml):
    assert share(one_round([{"step": 1, "files": [file("old/a", 0, 1)]}], toml)) == (None, "no_repo")


@pytest.mark.parametrize("reason", BaseReason)
def test_a_base_that_cannot_be_read_is_named(one_round, file, reason):
    assert share(one_round([{"step": 1, "files": [file("old/a", 0, 1)]}], WITH_REPO), reason) == (None, reason)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ([{"step": 1, "files": []}, {"step": 1, "F": 0}], "step_repeated"),
        ([{"step": 1, "F": 2}], "files_not_listed"),
        ([{"step": 1, "files": [{"path": "/abs/old/a", "added": 0, "deleted": 1}]}], "path_outside"),
        ([{"step": 1, "files": [{"path": "old/a", "added": 0, "deleted": None}]}], "churn_unknown"),
        ([{"step": 1, "files": [{"path": "old/a.png", "added": 0, "deleted": 1}]}], "churn_unknown"),
        ([{"step": 1, "files": [{"path": "new/a", "added": 3, "deleted": 0}]}], "no_base_lines"),
        ([{"step": 1, "files": []}], "no_base_lines"),
    ],
)
def test_what_forbids_the_share_is_named(one_round, changes, reason):
    assert share(one_round(changes, WITH_REPO)) == (None, reason)


def test_deleted_lines_add_up_over_steps_and_spellings_and_a_file_counts_once_at_most(one_round, file):
    changes = [
        {"step": 1, "files": [file("old/a", 0, 2), file("./old/a", 0, 1), file("new/b", 5, 0)]},
        {"step": 2, "files": [file("old/a", 0, 1), file("old/c", 9, 25)]},
        {"step": 3, "F": 0},
    ]
    assert share(one_round(changes, WITH_REPO)) == ((4 + 10) / 20, None)


def test_an_unknown_file_that_was_not_there_does_not_matter(one_round, file):
    changes = [{"step": 1, "files": [file("new/logo.png", None, None), file("old/a", 1, 1)]}]
    assert share(one_round(changes, WITH_REPO)) == (0.1, None)


def rows(tables):
    given = {**tables, "features_step_surface": step_surface(tables)}
    return list(rows_of(round_features(given, lambda *_: TenLines())))


def test_a_missing_step_may_have_been_the_largest_so_no_compared_number_is_known(one_round, file):
    (row,) = rows(one_round([{"step": 2, "files": [file("old/a", 0, 1)]}], WITH_REPO))
    assert (row["largest_s"], row["largest_h"], row["unproven_growth"], row["rewrite_share"]) == (None,) * 4
    names = ("aus_reason", "largest_h_reason", "unproven_growth_reason", "rewrite_share_reason")
    assert [row[name] for name in names] == ["step_gap"] * 4


def test_peaks_and_growth_are_those_of_the_steps(one_round, file, contract):
    changes = [
        {"step": 1, "files": [file("src/a", 10)]},
        {"step": 2, "files": [file("src/a", 2), file("lib/b", 2)]},
        {"step": 3, "files": [file("src/a", 30)]},
    ]
    (row,) = rows(one_round(changes, contract, evidence__jsonl=[{"step": 3, "criterion_id": "C1", "state": "proven"}]))
    assert row["largest_s"] == 1 + 30 + 1
    assert row["largest_h"] == pytest.approx(0.6931471805599453)
    assert row["unproven_growth"] == 1 + 10 + 1  # S fell in step 2, and what grew in step 3 was proven
    assert (row["rewrite_share"], row["rewrite_share_reason"]) == (None, "no_repo")


def test_unknown_evidence_and_unknown_surface_say_which(one_round, file):
    (row,) = rows(one_round([{"step": 1, "files": [file("src/a", None)]}]))
    assert (row["largest_s"], row["aus_reason"], row["unproven_growth_reason"]) == (None, "s_unknown", "s_unknown")
    (row,) = rows(one_round([{"step": 1, "files": [file("a"), file("b", None)]}], None))
    assert (row["largest_h"], row["largest_h_reason"]) == (0.0, None)
