"""Audit tables: what was recomputed, what goes to a person, whether hashes hold and validators are independent."""

from assets_defs.one_table import one_asset_each

audit_tables = one_asset_each("audit")
