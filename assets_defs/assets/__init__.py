"""Assets: one module per layer, each wrapping the steps of `governance_pipeline.pipeline`, the gate or confidence."""

from assets_defs.assets.audit import audit_tables
from assets_defs.assets.confidence import confidence_tables
from assets_defs.assets.core import core_tables
from assets_defs.assets.features import features_tables
from assets_defs.assets.gate import gate_tables
from assets_defs.assets.published import published_tables
from assets_defs.assets.raw import raw_tables
from assets_defs.assets.verdict import verdict_tables

ASSETS = [
    raw_tables,
    core_tables,
    *audit_tables,
    *features_tables,
    *verdict_tables,
    *confidence_tables,
    *gate_tables,
    *published_tables,
]
"""Every asset definition of the project, upstream first."""

__all__ = ["ASSETS"]
