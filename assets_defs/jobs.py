"""Jobs: one per layer, and the whole audit.

They select by group, so a new table is in its job without a change here.
"""

import dagster as dg

_groups = dg.AssetSelection.groups

raw_job = dg.define_asset_job(
    "raw_job", _groups("raw"), description="Read the round folders again: files, records, refusals."
)
core_job = dg.define_asset_job(
    "core_job", _groups("core"), description="Translate rounds into the tables every log format shares."
)
audit_job = dg.define_asset_job(
    "audit_job", _groups("audit"), description="Recompute, compare and hash again from the core tables."
)
features_job = dg.define_asset_job(
    "features_job", _groups("features"), description="Measure the surface of each step and round again."
)
verdict_job = dg.define_asset_job(
    "verdict_job", _groups("verdict"), description="Find and judge again from the stored tables."
)
full_audit_job = dg.define_asset_job(
    "full_audit_job",
    _groups("raw", "core", "audit", "features", "verdict"),
    description="Everything from the round folder to the verdict.",
)

JOBS = [raw_job, core_job, audit_job, features_job, verdict_job, full_audit_job]
"""Every job of the project."""
