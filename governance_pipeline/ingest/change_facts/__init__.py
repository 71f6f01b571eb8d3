"""Typed facts about what a change did to tests, parsability, signatures and dependencies (spec/verdict.md §1)."""
