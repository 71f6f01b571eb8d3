"""The exception tree on the first page is the one that is raised."""

from __future__ import annotations

import importlib
import pkgutil
import re

import governance_pipeline
from governance_pipeline import errors
from governance_pipeline.errors import GovernError


def _drawn() -> set[tuple[str, str]]:
    """Give (parent, child) of every branch of the drawing."""
    pairs, stack = set(), ["GovernError"]
    for indent, name in re.findall(r"^([│ ]*)[├└]── (\w+)", errors.__doc__, re.MULTILINE):
        depth = len(indent) // 4 + 1
        stack[depth:] = [name]
        pairs.add((stack[depth - 1], name))
    return pairs


def _raised(parent: type[Exception]) -> set[tuple[str, str]]:
    pairs = set()
    for child in parent.__subclasses__():
        if child.__module__.startswith("governance_pipeline."):
            pairs |= {(parent.__name__, child.__name__)} | _raised(child)
    return pairs


def test_every_error_of_the_library_is_drawn_in_its_place():
    for module in pkgutil.walk_packages(governance_pipeline.__path__, "governance_pipeline."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    assert _drawn() == _raised(GovernError)
