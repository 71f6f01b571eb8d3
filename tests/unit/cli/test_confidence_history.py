"""The picture of scores: a file by its name, the same bytes for the same events, and nothing where there is nothing."""

from __future__ import annotations

import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.report.score_history import SHOWN_TRACKS, score_history

RUNTIME = "claude-code/opus-4-6/high"


@pytest.fixture
def govern(tmp_path, capsys, monkeypatch):
    """Run `govern confidence …` on an initialised place; gives exit code and stderr."""
    monkeypatch.setenv("GOVERN_CONFIDENCE", str(tmp_path / "confidence"))

    def _govern(*arguments):
        code = run(["confidence", *arguments])
        return code, capsys.readouterr().err

    assert _govern("init", "--agent", "ada", "--runtime", RUNTIME, "--user", "kim")[0] == 0
    return _govern


def row(number: int, subject: str = "ada", score: float = 50.0) -> dict:
    return {"role": "agent", "subject_id": subject, "runtime": RUNTIME, "domain": "TECH",
            "day_on": f"2026-03-{number:02d}", "score": score}  # fmt: skip


def test_a_file_of_another_kind_and_a_history_without_events_are_refused(govern, tmp_path):
    assert govern("history", str(tmp_path / "scores.gif"))[0] == 2
    code, err = govern("history", str(tmp_path / "scores.svg"))
    assert (code, "nothing to draw" in err) == (2, True)
    assert not (tmp_path / "scores.svg").exists()


def test_a_picture_is_written_and_drawn_again_with_the_same_bytes(govern, tmp_path):
    govern("rate", "error", "--pattern", "EXCUSE")
    for name in ("one.svg", "one.png"):
        assert govern("history", str(tmp_path / name))[0] == 0
    with_facts = ("--with-facts", "--lake", str(tmp_path / "lake"))  # of which there are none
    assert govern("history", str(tmp_path / "two.svg"), *with_facts)[0] == 0
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert "agent ada" in (tmp_path / "one.svg").read_text()
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("days", [["0001-01-01"], ["9999-12-31"], ["0001-01-01", "9999-12-31"], ["0003-01-01"]])
def test_days_at_the_ends_of_the_calendar_are_drawn(days):
    assert b"TECH" in score_history([{**row(1), "day_on": day} for day in days], "svg")


def test_more_tracks_than_fit_are_counted_and_the_order_of_rows_plays_no_part():
    rows = [row(day, f"a{n:02d}") for n in range(SHOWN_TRACKS + 2) for day in (1, 2)]
    drawn = score_history(rows, "svg")
    assert f"{SHOWN_TRACKS} of {SHOWN_TRACKS + 2} tracks".encode() in drawn
    assert score_history(rows[::-1], "svg") == drawn
