"""Jobs: one per layer, the whole audit, and publication.

They select by group, so a new table is in its job without a change here.
"""

import dagster as dg

from assets_defs.tables import DECISIONS, LEDGER_COPY, REQUESTS
from governance_pipeline.framework.lake_tables import FOLDER_TABLES
from governance_pipeline.pipeline import COHORT_WIDE

_groups = dg.AssetSelection.groups
_assets = dg.AssetSelection.assets

raw_job = dg.define_asset_job(
    "raw_job", _groups("raw"), description="Read the round folders again: files, records, refusals."
)
core_job = dg.define_asset_job(
    "core_job", _groups("core"), description="Translate rounds into the tables every log format shares."
)
audit_job = dg.define_asset_job(
    "audit_job",
    _groups("audit") - _assets(*FOLDER_TABLES),
    description="Recompute, compare and hash again from the core tables.",
)
features_job = dg.define_asset_job(
    "features_job", _groups("features"), description="Measure the surface of each step and round again."
)
measure_job = dg.define_asset_job(
    "measure_job",
    _groups("raw", "core", "audit", "features") - _assets(*COHORT_WIDE, *FOLDER_TABLES),
    description="Everything that is made of a round by itself; what the cohort tables of a backfill wait for.",
)
cohort_job = dg.define_asset_job(
    "cohort_job",
    _assets(*COHORT_WIDE, *FOLDER_TABLES),
    description="What the verdicts of all rounds rest on: each round beside the comparable ones before it, and how the "
    "governed folder stands.",
)
folder_job = dg.define_asset_job(
    "folder_job",
    _assets(*FOLDER_TABLES),
    description="Verify the governed folder: hash every registered asset, look at locks, incidents and re-baselines.",
)
judge_job = dg.define_asset_job(
    "judge_job",
    _groups("verdict") | _assets(REQUESTS),
    description="Find and judge again where the cohort of a round changed, then ask a person; publishes nothing.",
)
verdict_job = dg.define_asset_job(
    "verdict_job", _groups("verdict"), description="Find and judge again from the stored tables."
)
full_audit_job = dg.define_asset_job(
    "full_audit_job",
    (_groups("raw", "core", "audit", "features", "verdict") - _assets(*FOLDER_TABLES)) | _assets(REQUESTS),
    description="Everything from the round folder to the verdict, then ask a person; publishes nothing.",
)
confidence_job = dg.define_asset_job(
    "confidence_job",
    _groups("confidence"),
    description="List verified facts of rounds and score them again; apart from every audit, which never waits for it.",
)
gate_job = dg.define_asset_job(
    "gate_job", _assets(REQUESTS), description="Ask a person about rounds whose work has not been asked about."
)
publish_job = dg.define_asset_job(
    "publish_job",
    _groups("published") | _assets(DECISIONS),
    description="Publish a round a person has approved; refused for any other.",
)
ledger_job = dg.define_asset_job(
    "ledger_job",
    _assets(LEDGER_COPY),
    description="Copy the ledger to where it can be queried, and look for files that did not pass the gate.",
)

JOBS = [
    raw_job,
    core_job,
    audit_job,
    features_job,
    measure_job,
    cohort_job,
    folder_job,
    judge_job,
    verdict_job,
    full_audit_job,
    confidence_job,
    gate_job,
    publish_job,
    ledger_job,
]
"""Every job of the project."""
