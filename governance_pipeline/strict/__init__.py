"""The one bounded reader: bytes become records or refusals, numbers stay exactly as written.

What belongs here: reading hostile bytes under limits, canonical JSON, digests, exact numbers and the comparison
of a declared number with a computed one. What does not: the meaning of a log format (ingest) and where bytes are
kept (storage). Nothing is re-exported: import the module that holds the word you need.
"""
