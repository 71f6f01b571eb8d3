"""The one append-only record of everything that was decided, and proofs over its exact bytes.

What belongs here: appending, reading, the Merkle tree, verification, and folds of events that more than one package
needs. What does not: what an event means to its package. No package keeps a log of its own (spec/gate.md §5).
Nothing is re-exported: import the module that holds the word you need.
"""
