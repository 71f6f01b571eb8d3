"""Nothing disappears: every file has a row, every record a place."""

from __future__ import annotations

import pandas as pd
import pytest

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.errors import UnreadableError
from governance_pipeline.ingest.conservation import lost, unbalanced, unlisted

COUNTS = {"lines_in": 10, "accepted": 4, "quarantined": 3, "blank": 2, "duplicates": 1}


def _files(*rows):
    known = {"round_id": "r-1", "record_unit": "line", "bytes": 0, "file_sha256": None}
    return frame_of("raw_log_files", [{**known, **COUNTS, **row} for row in rows])


@pytest.mark.parametrize("column", list(COUNTS))
@pytest.mark.parametrize("step", [1, -1])
def test_one_record_too_many_or_too_few_in_any_count_is_found(column, step):
    sound, wrong = {"path": "a"}, {"path": "b", column: COUNTS[column] + step}
    found = unbalanced(_files(sound, wrong))
    assert found["path"].tolist() == ["b"]
    assert found["fault"].tolist() == ["unbalanced"]
    assert found[column].tolist() == [COUNTS[column] + step]


def test_a_balanced_round_and_an_empty_one_have_no_fault(tmp_path):
    (tmp_path / "a").write_text("")
    assert lost(tmp_path, _files({"path": "a"})).empty
    (tmp_path / "a").unlink()
    assert lost(tmp_path, _files()).empty


def test_every_kind_of_file_without_a_row_is_found_hidden_ones_and_links_too(tmp_path):
    (tmp_path / "logs").mkdir()
    for name in ("a", ".hidden", "logs/b"):
        (tmp_path / name).write_text("")
    (tmp_path / "link").symlink_to("a")
    found = unlisted(tmp_path, _files({"path": "a"}))
    assert found["path"].tolist() == [".hidden", "link", "logs/b"]
    assert set(found["fault"]) == {"no_row"}
    assert found["lines_in"].isna().all()


def test_both_kinds_of_fault_are_listed_with_the_same_columns(tmp_path):
    (tmp_path / "new").write_text("")
    found = lost(tmp_path, _files({"path": "a", "accepted": 0}))
    assert found[["path", "fault"]].to_dict("records") == [
        {"path": "new", "fault": "no_row"},
        {"path": "a", "fault": "unbalanced"},
    ]
    assert list(found.columns) == ["path", "fault", *COUNTS]
    assert found["lines_in"].dtype == pd.Int64Dtype()


def test_a_folder_that_is_gone_is_unknown_and_not_balanced(tmp_path):
    with pytest.raises(UnreadableError):
        lost(tmp_path / "gone", _files({"path": "a"}))
