"""The check files of the sample find what `expected.json` says, which was worked out without them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from governance_pipeline.crosscheck.check_set import load_check_set
from governance_pipeline.crosscheck.guardian import judge
from governance_pipeline.crosscheck.report import json_text, report_document
from governance_pipeline.crosscheck.run import run_checks

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
ANSWERS = json.loads((SAMPLE / "expected.json").read_text("utf-8"))["checks"]
CHECK_FILES = sorted({answer["file"] for answer in ANSWERS})
COMPARED = ("check_id", "subject_id", "declared", "computed", "delta", "status", "reason_code")


def test_every_check_file_has_its_answers():
    assert sorted(path.relative_to(SAMPLE).as_posix() for path in SAMPLE.glob("checks/*.yaml")) == CHECK_FILES


@pytest.mark.parametrize("file", CHECK_FILES)
def test_each_subject_gets_the_record_that_was_expected(file):
    batch = run_checks(load_check_set(SAMPLE / file))
    document = report_document(batch, judge(batch))
    records = json.loads(json_text(document), parse_float=str, parse_int=str)["records"]
    found = [{name: record[name] for name in COMPARED} for record in records]
    expected = [{name: answer[name] for name in COMPARED} for answer in ANSWERS if answer["file"] == file]
    assert sorted(found, key=str) == sorted(expected, key=str)
