"""Dagster definitions only: every asset body is one call into governance_pipeline."""
