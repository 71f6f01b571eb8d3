"""Documents name only commands, files and tables that exist."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from governance_pipeline.cli.main import govern
from governance_pipeline.contracts.catalogue import markdown

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "data" / "README.md"]


def _relative(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=_relative)
def test_every_link_and_image_of_a_page_exists(page):
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))
    local = [t for t in targets if "://" not in t]
    assert [t for t in local if not (page.parent / t).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=_relative)
def test_every_govern_command_of_a_page_exists(page):
    commands = re.findall(
        r"^\s*(?:\$ |\.venv/bin/)?govern ([a-z-]+)(?: ([a-z-]+))?", page.read_text("utf-8"), re.MULTILINE
    )
    assert [c for c in commands if not _exists(*c)] == []


@pytest.mark.parametrize("page", PAGES, ids=_relative)
def test_every_make_target_of_a_page_exists(page):
    targets = set(re.findall(r"`make ([a-z-]+)`|^\s*make ([a-z-]+)", page.read_text("utf-8"), re.MULTILINE))
    made = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert {a or b for a, b in targets} - made == set()


def test_the_table_catalogue_is_the_generated_one():
    assert markdown().strip() in (ROOT / "docs" / "tables.md").read_text("utf-8")


def _exists(noun: str, verb: str) -> bool:
    context = click.Context(govern)
    command = govern.get_command(context, noun)
    if command is None:
        return False
    if isinstance(command, click.Group) and verb:
        return command.get_command(context, verb) is not None
    return True
