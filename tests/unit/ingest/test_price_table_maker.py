"""The shipped table is made of releases laid side by side: only what one of them says, or two agree on, stands."""

from __future__ import annotations

import importlib.util
import json
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "data" / "prices" / "make_table.py"


def entry(fresh=3e-6, output=1.5e-5, **members):
    return {"mode": "chat", "input_cost_per_token": fresh, "output_cost_per_token": output, **members}


@pytest.fixture
def made(tmp_path, capsys):
    """Give a function that makes the table of some releases and returns its rows without source, and the sources."""
    spec = importlib.util.spec_from_file_location("make_table", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    def _made(releases):
        for number, (day, models) in enumerate(releases.items(), 1):
            (tmp_path / day).mkdir()
            with zipfile.ZipFile(tmp_path / day / f"litellm-1.{number}-py3-none-any.whl", "w") as wheel:
                wheel.writestr(f"litellm/{script.LIST_NAME}", json.dumps(models))
        script.main(tmp_path)
        document = json.loads(capsys.readouterr().out)
        return [row[:9] for row in document["rows"]], [row[9] for row in document["rows"]]

    return _made


def test_a_model_without_a_price_or_of_no_listed_provider_is_left_out(made):
    models = {
        "free": entry(0, 0),
        "half": {"mode": "chat", "input_cost_per_token": 1e-6},
        "picture": entry() | {"mode": "image_generation"},
        "nobody/m": entry(),
        "text": "x",
    }
    assert made({"2026-01-01": models}) == ([], [])


def test_a_price_stands_from_the_first_to_the_last_release_that_has_it(made):
    rows, sources = made({"2026-01-01": {"m": entry()}, "2026-02-01": {"m": entry()}, "2026-03-01": {}})
    assert rows == [["m", "2026-01-01", "2026-02-01", "3", "15", None, None, None, None]]
    assert sources == ["litellm 1.1 to 1.2"]


def test_between_two_releases_only_what_both_agree_on_stands(made):
    cached = entry(cache_read_input_token_cost=3e-7)
    tiered = entry(cache_read_input_token_cost=6e-7, input_cost_per_token_above_200k_tokens=6e-6)
    rows, sources = made({"2026-01-01": {"m": cached}, "2026-02-01": {"m": tiered}})
    assert rows == [
        ["m", "2026-01-01", "2026-01-01", "3", "15", "0.3", None, None, None],
        ["m", "2026-01-02", "2026-01-31", "3", "15", None, None, None, "200000"],
        ["m", "2026-02-01", "2026-02-01", "3", "15", "0.6", None, None, "200000"],
    ]
    assert sources[1] == "litellm 1.1 and 1.2 agree"


def test_a_changed_price_leaves_a_gap_and_so_does_a_release_without_the_model(made):
    releases = {"2026-01-01": {"m": entry()}, "2026-02-01": {"m": entry(output=2e-5)}, "2026-03-01": {},
                "2026-04-01": {"m": entry(output=2e-5)}}  # fmt: skip
    rows, _ = made(releases)
    assert [(row[1], row[2], row[4]) for row in rows] == [
        ("2026-01-01", "2026-01-01", "15"),
        ("2026-02-01", "2026-02-01", "20"),
        ("2026-04-01", "2026-04-01", "20"),
    ]
