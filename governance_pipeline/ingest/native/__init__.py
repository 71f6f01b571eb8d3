"""The native files of a round (spec/ingest.md §3), one module each; `kinds` is the only list of them."""
