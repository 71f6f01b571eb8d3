"""Rounds of the parser project: bug fixes, each with a check that fails before and passes after."""

from __future__ import annotations

from generator.model import Plan

PLANS = (
    Plan(
        1,
        "Escaped quotes inside quoted scalars end at the right character",
        "A scalar with an escaped quote keeps the quote and ends at the next bare one",
        "python -m pytest tests/test_quotes.py -q",
        (
            (("tests/test_quotes.py", 26, 0),),
            (("src/lexer/quotes.py", 19, 7), ("src/lexer/cursor.py", 4, 1)),
        ),
        orphan=True,
    ),
    Plan(
        2,
        "Numbers with digit separators keep their exact value",
        "1_000.10 reads as the decimal 1000.10, and a separator at either end is refused",
        "python -m pytest tests/test_numbers.py -q",
        (
            (("tests/test_numbers.py", 34, 2),),
            (("src/lexer/numbers.py", 28, 11),),
            (("src/grammar/scalars.py", 6, 6), ("tests/test_numbers.py", 8, 0)),
        ),
        mode="final",
        has_scout=True,
    ),
    Plan(
        3,
        "A comment after a closing fence no longer swallows the next block",
        "The block after a commented fence is parsed",
        "python -m pytest tests/test_fences.py -q",
        (
            (("tests/test_fences.py", 9, 0),),
            (("src/grammar/fences.py", 7, 3),),
        ),
        kind="mini_swe_agent",
    ),
    Plan(
        4,
        "Nested lists keep their indentation when a blank line splits them",
        "The list tree is the same with and without the blank line",
        "python -m pytest tests/test_lists.py -q",
        (
            (("tests/test_lists.py", 31, 0),),
            (("src/grammar/lists.py", 22, 14), ("src/lexer/indent.py", 9, 2)),
        ),
    ),
    Plan(
        5,
        "Error positions count characters, not bytes",
        "The column of an error after a three-byte character points at the same glyph as an editor",
        "python -m pytest tests/test_positions.py -q",
        (
            (("tests/test_positions.py", 18, 0),),
            (("src/lexer/cursor.py", 15, 9), ("src/lexer/errors.py", 12, 4)),
            (("src/api/reader.py", 3, 3),),
        ),
        has_scout=True,
    ),
    Plan(
        6,
        "Tables with ragged rows are refused with the row number",
        "A short row raises RaggedRow with its number, counted from the header",
        "python -m pytest tests/test_tables.py -q",
        (
            (("tests/test_tables.py", 24, 0),),
            (("src/grammar/tables.py", 33, 12),),
        ),
        baseline_version="1.1.0",
    ),
    Plan(
        7,
        "Heading anchors stay stable when a heading repeats",
        "The second heading of one name gets the suffix -2, the first keeps its anchor",
        "python -m pytest tests/test_anchors.py -q",
        (
            (("src/grammar/headings.py", 17, 5),),
            (("tests/test_anchor_collisions.py", 0, 41), ("tests/test_anchors.py", 12, 0)),
        ),
        baseline_version="1.1.0",
    ),
    Plan(
        8,
        "Byte-order marks are accepted at the start of included files",
        "An include that starts with a mark gives the same tree as one without",
        "python -m pytest tests/test_includes.py -q",
        (
            (("tests/test_includes.py", 16, 0),),
            (("src/lexer/source.py", 8, 2),),
        ),
        baseline_version="1.1.0",
    ),
    Plan(
        9,
        "Include cycles end with an error instead of a recursion limit",
        "A cycle of three files names all three in the order they were opened",
        "python -m pytest tests/test_cycles.py -q",
        (
            (("tests/test_cycles.py", 29, 0),),
            (("src/grammar/includes.py", 24, 6),),
            (("src/grammar/includes.py", 5, 9), ("src/lexer/source.py", 6, 0)),
            (("tests/test_cycles.py", 7, 1),),
        ),
        baseline_version="1.1.0",
    ),
    Plan(
        10,
        "Trailing commas in inline maps are reported once",
        "One trailing comma gives one warning",
        "python -m pytest tests/test_maps.py -q",
        (
            (("tests/test_maps.py", 8, 0),),
            (("src/grammar/maps.py", 6, 4),),
        ),
        kind="claude_code",
        baseline_version="1.1.0",
    ),
    Plan(
        11,
        "Tabs after a list marker count as indentation",
        "A tab and four spaces after the marker give the same tree",
        "python -m pytest tests/test_tabs.py -q",
        (
            (("tests/test_tabs.py", 7, 0),),
            (("src/lexer/indent.py", 5, 2),),
        ),
        kind="claude_code",
        baseline_version="1.1.0",
    ),
    Plan(
        12,
        "Duration literals accept weeks",
        "2w reads as fourteen days",
        "python -m pytest tests/test_durations.py -q",
        (
            (("src/lexer/durations.py", 6, 1),),
            (("tests/test_durations.py", 1, 0),),
        ),
        kind="claude_code",
        baseline_version="1.1.0",
        written=(("tests/test_durations.py", '@pytest.mark.skip(reason="unstable since weeks were added")'),),
    ),
)
