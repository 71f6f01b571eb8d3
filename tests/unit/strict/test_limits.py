"""Claims about the bounds."""

from __future__ import annotations

import dataclasses

import pytest

from governance_pipeline.strict.limits import LIMITS, Limits


def test_the_bounds_are_those_of_the_specification() -> None:
    assert (LIMITS.line_bytes, LIMITS.depth, LIMITS.keys) == (16 * 2**20, 64, 10_000)


def test_bounds_cannot_be_changed_in_place() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        LIMITS.depth = 1000  # type: ignore[misc]


def test_a_document_is_read_under_its_own_counts_and_the_same_depth() -> None:
    limits = Limits(depth=3, document_bytes=7, document_keys=8, document_values=9).of_document()
    assert (limits.line_bytes, limits.keys, limits.values, limits.depth) == (7, 8, 9, 3)
