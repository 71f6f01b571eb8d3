"""Ingest: a round folder in, typed tables out; every byte is kept, every record accounted for."""
