"""`govern features plot`: writes what is known, says what is not, and answers with the numbers drawn."""

from __future__ import annotations

import json
from importlib.resources import files

import jsonschema
from click.testing import CliRunner

from governance_pipeline.cli.features_plot import plot

CONTRACT = """schema = "govern/round/v1"
[scope]
include = ["src/**"]
public = ["api/**"]
[[criterion]]
id = "C1"
"""


def round_folder(tmp_path):
    folder = tmp_path / "rounds" / "r-1"
    folder.mkdir(parents=True)
    (folder / "round.toml").write_text(CONTRACT)
    known = {"step": 1, "files": [{"path": "src/a", "added": 3, "deleted": 0}]}
    unknown = {"step": 3, "files": [{"path": "src/a"}]}
    (folder / "changes.jsonl").write_text(f"{json.dumps(known)}\n{json.dumps(unknown)}\n")
    return folder


def run(tmp_path, *more):
    arguments = [str(round_folder(tmp_path)), "--out", str(tmp_path / "figures"), "--lake", str(tmp_path / "no"), *more]
    return CliRunner().invoke(plot, arguments, standalone_mode=False)


def test_a_round_that_does_not_exist_is_a_usage_error_and_writes_nothing(tmp_path):
    gone = [str(tmp_path / "gone"), "--out", str(tmp_path / "figures"), "--lake", str(tmp_path)]
    assert CliRunner().invoke(plot, gone).exit_code == 2
    assert not (tmp_path / "figures").exists()


def test_the_numbers_drawn_are_answered_with_gaps_as_null(tmp_path):
    result = run(tmp_path, "--json")
    document = json.loads(result.stdout)
    schema = files("governance_pipeline.report") / "schemas" / "features-plot-v1.json"
    jsonschema.validate(document, json.loads(schema.read_text("utf-8")))
    assert document["surface"] == [
        {"step": 1, "S": 5.0, "E": 0.0}, {"step": 2, "S": None, "E": None}, {"step": 3, "S": None, "E": 0.0},
    ]  # fmt: skip
    assert document["nothing_to_draw"] == ["cohort", "amplification"]
    assert "nothing known to draw: amplification" in result.stderr
    assert {unit["before"] for unit in document["amplification"]} == {None}
    assert (tmp_path / "figures" / document["files"][0]["file"]).read_bytes().startswith(b"<svg")


def test_png_in_spanish_is_written_and_named_on_stdout(tmp_path):
    result = run(tmp_path, "--format", "png", "--lang", "es")
    [name] = result.stdout.split("\n")[:-1]
    assert name.endswith("r-1-surface.png")
    assert (tmp_path / "figures" / "r-1-surface.png").read_bytes().startswith(b"\x89PNG")
