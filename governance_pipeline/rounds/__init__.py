"""The round contract (`govern/round/v1`): what a round promised, and what follows from it for a path.

What belongs here: reading `round.toml` with every fault and its line, globs, modules, lexical paths, and the fold of
criterion evidence. What does not: the policy document a contract may only tighten (verdict), the numbers made from
scope and modules (trajectory), and where a round lies on disk (ingest). Nothing is re-exported: import the module
that holds the word you need.
"""
