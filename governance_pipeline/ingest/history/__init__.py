"""Rounds from a git history: commits read, grouped into rounds, written as round folders and as an export."""
