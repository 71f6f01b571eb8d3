"""`govern features amplification`: refusals leave stdout empty, exit codes are as promised, ids are never obeyed."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.cli.main import run

SCHEMA = "govern/amplification-input/v1"


def side(frequency, impact):
    return {"frequency": frequency, "impact": impact}


GREW = {"id": "grew", "touched": True, "baseline": side(1, 5), "candidate": side(1, 6)}
SAME = {"id": "same", "touched": True, "baseline": side(1, 5), "candidate": side(9, 5)}
UNTOUCHED = {**GREW, "id": "untouched", "touched": False}
NEW = {"id": "new", "touched": True, "baseline": None, "candidate": side(1, 5)}
BLIND = {"id": "blind", "touched": True, "baseline": side(1, None), "candidate": side(1, 5)}
GONE = {"id": "gone", "touched": True, "baseline": side(1, 5), "candidate": None}


@pytest.fixture
def amplification(capsys, tmp_path):
    """Run the command on units (or raw bytes); gives (exit code, stdout, stderr)."""

    def _amplification(given, *options, **members):
        is_raw = isinstance(given, bytes)
        data = given if is_raw else json.dumps({"schema": SCHEMA, "units": given, **members}).encode()
        (tmp_path / "in.json").write_bytes(data)
        code = run(["features", "amplification", str(tmp_path / "in.json"), *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return _amplification


@pytest.mark.parametrize("options", [(), ("--json",), ("--json", "--fail-on", "impact_increase")])
@pytest.mark.parametrize("given", [b"", b"{}", b'{"schema": "govern/amplification-input/v1", "units": [], "x": 1}'])
def test_refused_input_is_a_usage_error_with_nothing_on_stdout(amplification, given, options):
    code, out, err = amplification(given, *options)
    assert (code, out) == (2, "")
    assert "the input is" in err


def test_a_file_that_cannot_be_read_is_refused_the_same_way(capsys, tmp_path):
    for path in (tmp_path / "missing.json", tmp_path):
        assert run(["features", "amplification", str(path), "--json"]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "cannot be read" in captured.err


def test_another_signal_cannot_fail_a_run(amplification):
    code, out, err = amplification([SAME], "--fail-on", "outlier_crossing")
    assert (code, out) == (2, "")
    assert "impact_increase" in err


@pytest.mark.parametrize(
    ("units", "expected", "named"),
    [
        ([SAME, UNTOUCHED], 0, ""),
        ([], 0, ""),
        ([SAME, GONE], 0, ""),
        ([SAME, GREW], 1, "grew"),
        ([GREW, NEW, BLIND], 1, "grew"),
        ([SAME, NEW], 3, "new (no_baseline)"),
        ([SAME, BLIND], 3, "blind (factor_unknown)"),
    ],
)
def test_an_increase_fails_and_an_unknown_one_is_not_taken_for_none(amplification, units, expected, named):
    code, out, err = amplification(units, "--json", "--fail-on", "impact_increase")
    assert code == expected
    assert json.loads(out)["schema"] == "govern/amplification/v1"
    assert named in err
    assert amplification(units, "--json")[::2] == (0, "")


def test_many_units_are_counted_and_not_listed(amplification):
    units = [{**GREW, "id": f"u{at}"} for at in range(9)]
    _, _, err = amplification(units, "--json", "--fail-on", "impact_increase")
    assert err == "impact_increase: u0, u1, u2, u3, u4 and 4 more\n"


def test_the_provider_is_passed_on_as_it_was_given(amplification):
    provider = {"provenance": "grimp", "coverage": 0.5, "gaps": ["tests/"], "confidence": None}
    _, out, _ = amplification([SAME], "--json", provider=provider)
    assert json.loads(out)["provider"] == provider


def test_an_id_that_speaks_to_the_terminal_is_shown_and_not_obeyed(amplification):
    hostile = {**NEW, "id": "[red]\u001b[2J\u202e"}
    for options in ((), ("--json",)):
        _, out, err = amplification([hostile], *options, "--fail-on", "impact_increase")
        assert "\u001b" not in out + err
        assert "\u202e" not in out + err
        assert "[red]" in out


def test_the_page_shows_region_factors_and_what_is_unknown_with_its_reason(amplification):
    units = [{**SAME, "id": f"s{at}", "touched": False, "baseline": side(1, at)} for at in range(1, 30)]
    _, out, _ = amplification([*units, GREW, NEW, {**GREW, "id": "far", "candidate": side(1, 500)}])
    assert "outlier region: amplification above" in out
    assert "impact grew materially; became an outlier" in out
    assert "the unit is new in this round" in out
    assert "3 touched units, 29 others; frequencies as given" in out


def test_the_page_says_when_the_region_is_unknown_and_how_many_commits_count(amplification):
    history = [{"id": "c", "files": ["a"]}, {"id": "d", "files": ["a", "b"]}]
    code, out, _ = amplification([SAME], rule={"max_files": 1}, history=history)
    assert code == 0
    assert "outlier region unknown: too few units" in out
    assert "1 commits counted, 1 left out (more than 1 files)" in out
