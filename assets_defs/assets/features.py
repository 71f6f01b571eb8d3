"""Feature tables: how far each step and round of work spread from its objective."""

from assets_defs.one_table import one_asset_each

features_tables = one_asset_each("features")
