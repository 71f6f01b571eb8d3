"""The page of formats says what the format modules say, of every one of them."""

from __future__ import annotations

from pathlib import Path

from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.formats_page import formats_markdown

PAGE = Path(__file__).parents[3] / "docs" / "formats.md"


def test_the_page_is_the_generated_one():
    assert PAGE.read_text("utf-8") == formats_markdown(), "run: govern rounds formats --markdown > docs/formats.md"


def test_every_format_has_a_section_with_its_versions_and_each_number_it_declares():
    sections = {part.partition("\n")[0]: part for part in PAGE.read_text("utf-8").split("\n## ")[1:]}
    assert list(sections) == [log_format.NAME for log_format in FORMATS]
    for log_format in FORMATS:
        section = sections[log_format.NAME]
        assert f"Versions seen: {log_format.VERSIONS}\n" in section
        assert all(f"`{name}`" in section for name in (*log_format.DECLARES, *log_format.RECOMPUTABLE))


def test_what_cannot_be_recomputed_is_called_unknown():
    section = formats_markdown().partition("## swe_agent\n")[2].partition("\n## ")[0]
    (unknown,) = (line for line in section.splitlines() if line.startswith("- Unknown"))
    assert "`tokens_sent`" in unknown
    assert "`api_calls`" not in unknown
    assert "Traps:" in section
