"""The golden runs: the whole report, to the last digit and with every proof, and the exit code.

Each runs twice: as small sources run, and as large ones, whose records are made part by part and kept in files.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from governance_pipeline.cli.crosscheck import crosscheck
from governance_pipeline.crosscheck import report
from governance_pipeline.crosscheck.run import run_checks
from governance_pipeline.settings import Settings

CASES = Path(__file__).parent / "cases"
RUNS = json.loads((CASES / "cases.json").read_text("utf-8"))
SCHEMAS = Path(report.__file__).parent / "schemas"


def run(case: str, *arguments: str):
    return CliRunner().invoke(crosscheck, ["run", str(CASES / case / "checks.yaml"), *arguments])


def exact(text: str):
    return json.loads(text, parse_float=str, parse_int=str)


def schema(name: str) -> Draft202012Validator:
    document = json.loads((SCHEMAS / name).read_text("utf-8"))
    Draft202012Validator.check_schema(document)
    return Draft202012Validator(document)


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch) -> str:
    """Return how the sources of this test are run."""
    if request.param == "large":
        monkeypatch.setitem(run_checks.__kwdefaults__, "settings", Settings(large_check_bytes=0))
    return request.param


@pytest.fixture(scope="module")
def report_schema() -> Draft202012Validator:
    return schema("cross-check-report-v1.json")


@pytest.mark.parametrize("case", [c["case"] for c in RUNS if c["case"] != "35_source_cannot_be_read"])
@pytest.mark.usefixtures("size")
def test_the_report_equals_the_golden_one_to_the_last_digit(case, report_schema):
    result = run(case, "--json")
    found, expected = exact(result.stdout), exact((CASES / case / "expected.json").read_text("utf-8"))
    assert found == expected
    assert not list(report_schema.iter_errors(json.loads(result.stdout, parse_float=Decimal)))


@pytest.mark.parametrize("row", RUNS, ids=lambda row: row["case"])
@pytest.mark.usefixtures("size")
def test_the_exit_code_is_the_golden_one(row):
    result = run(row["case"], *row["args"])
    assert result.exit_code == row["exit_code"], result.output


@pytest.mark.parametrize("option", [[], ["--fail-on", "never"]])
@pytest.mark.usefixtures("size")
def test_a_run_that_looked_at_nothing_is_blocked_whatever_fails(option):
    result = run("31_nothing_was_checked", *option)
    assert result.exit_code == 4
    assert "looked at nothing" in result.output
    assert "The guardian blocks this batch: fields_verifiable" in result.output


@pytest.mark.usefixtures("size")
def test_a_check_that_cannot_fail_is_named_and_the_batch_is_blocked():
    result = run("30_check_that_cannot_fail", "--fail-on", "never")
    assert result.exit_code == 4
    assert "check_cannot_fail n: 1 of 1 shifted declared values were noticed" in result.output
    assert "check_cannot_fail sound" not in result.output


@pytest.mark.usefixtures("size")
def test_a_source_that_cannot_be_read_is_an_error_document_and_nothing_is_computed():
    result = run("35_source_cannot_be_read", "--json")
    document = json.loads(result.stdout)
    assert [(e["code"], e["line"]) for e in document["errors"]] == [("source_unreadable", 4)]
    assert not list(schema("crosscheck-errors-v1.json").iter_errors(document))


@pytest.mark.parametrize("case", [c["case"] for c in RUNS[2::9]])
def test_large_sources_give_the_same_bytes_page_and_proof_as_small_ones(case, monkeypatch, tmp_path):
    arguments = [["run", "--out", str(tmp_path)], ["run", "--json"], ["prove", "--json"]]
    outputs = []
    for bound in (2**40, 0):
        monkeypatch.setitem(run_checks.__kwdefaults__, "settings", Settings(large_check_bytes=bound))
        commands = [[name, str(CASES / case / "checks.yaml"), *more] for name, *more in arguments]
        results = [CliRunner().invoke(crosscheck, command) for command in commands]
        written = tmp_path / "report.json"
        outputs.append([(r.output, r.exit_code) for r in results] + [written.exists() and written.read_bytes()])
        written.unlink(missing_ok=True)
    assert outputs[0] == outputs[1]


@pytest.mark.usefixtures("size")
def test_no_source_is_changed_by_any_run():
    before = {path: path.read_bytes() for path in CASES.rglob("*") if path.is_file()}
    for row in RUNS[::4]:
        run(row["case"])
    assert {path: path.read_bytes() for path in CASES.rglob("*") if path.is_file()} == before
