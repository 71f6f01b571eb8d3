"""Rows of the attack table as vectors: the library and the command line answer each with the same, expected code."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def load(name):
    """Import a module that lies beside this file."""
    key = f"vectors_{name}"
    if key not in sys.modules:
        spec = importlib.util.spec_from_file_location(key, FOLDER / f"{name}.py")
        sys.modules[key] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[key])
    return sys.modules[key]


players = load("players")
VECTORS = [
    pytest.param(kind, vector, id=vector["id"])
    for kind in players.PLAYERS
    for vector in json.loads((FOLDER / f"{kind}.json").read_text("utf-8"))
]

SAMPLE = {"line-sound", "row45-member-twice-in-a-log", "row44-nested-too-deep", "row46-invalid-utf8", "row46-nul"}
"""Lines that always go through a whole audit; all of them do in the long run."""
BY_COMMAND = [
    pytest.param(*param.values, id=param.id, marks=pytest.mark.long)
    if param.values[0] == "lines" and param.id not in SAMPLE
    else param
    for param in VECTORS
]


def _played(kind, vector, folder):
    player = players.PLAYERS[kind](folder / "place")
    player.prepare(vector["input"])
    return player


@pytest.mark.parametrize(("kind", "vector"), VECTORS)
def test_the_library_answers_with_the_code_of_the_vector(kind, vector, tmp_path):
    code, place = _played(kind, vector, tmp_path).library()
    assert code == vector["expect_code"]
    assert vector.get("first_bad") in (None, place)


@pytest.mark.parametrize(("kind", "vector"), BY_COMMAND)
def test_the_command_line_answers_with_the_code_of_the_vector(kind, vector, tmp_path, capfd, monkeypatch):
    player = _played(kind, vector, tmp_path)
    more = (monkeypatch,) if kind == "root" else ()
    code, place = player.command(players.Answers(capfd), *more)
    assert code == vector["expect_code"]
    assert vector.get("first_bad") in (None, place)


def test_no_two_vectors_have_one_name():
    gate = json.loads((FOLDER.parent / "unit" / "gate" / "vectors.json").read_text("utf-8"))
    names = [param.id for param in VECTORS] + [vector["id"] for vector in gate]
    assert len(names) == len(set(names))
