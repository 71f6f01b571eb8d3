"""A re-baseline in Dagster: the gated assets of an approved round are refused as FROZEN until it ends."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from governance_pipeline.framework.folder import GovernedFolder
from governance_pipeline.framework.rebaseline.declaring import declare, freeze
from governance_pipeline.framework.rebaseline.protocol import Project
from governance_pipeline.framework.rebaseline.recording import record
from governance_pipeline.framework.rebaseline.rederiving import rederive
from governance_pipeline.framework.rebaseline.reissuing import reissue
from governance_pipeline.framework.rebaseline.resuming import resume
from governance_pipeline.framework.rebaseline.revalidating import revalidate
from governance_pipeline.framework.scaffold.laying_out import lay_out
from governance_pipeline.framework.scaffold.plan import plan_of
from governance_pipeline.trust.keys import load_signer

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "rounds" / "atlas-0001"


@pytest.mark.long
def test_a_gated_asset_is_frozen_from_freeze_to_resumption_and_then_needs_a_new_approval(asked):
    lay_out(asked.folder / "project", plan_of("en"))
    shutil.copytree(SAMPLE, asked.folder / "sample" / "r-1")
    ana = load_signer(asked.config.parent / "ana.pem", None)
    root = asked.gate.verifier(asked.lake).root
    project = Project(GovernedFolder(asked.folder / "project"), asked.ledger, root, asked.clock)
    asked.approve("r-1")
    declare(project, "costs are in euro", ana)
    freeze(project)
    assert not asked.run("r-1").success
    assert not asked.lake.has("published_features", "r-1")
    rederive(project, asked.folder / "sample")
    revalidate(project, {})
    reissue(project, [], "each rule was read and holds")
    record(project, "nobody asked for the unit", "ask")
    assert not asked.run("r-1").success
    resume(project, "2.0.0", ana)
    assert not asked.run("r-1").success, "what was approved under the old baseline fits no longer"
    asked.ask("r-1")
    asked.approve("r-1")
    assert asked.run("r-1").success
    assert asked.lake.has("published_features", "r-1")
