"""Verdict tables: findings of each round, and what they add up to.

A verdict also reads the rounds its round continues; `workspace` makes their tables first when they are missing.
"""

from assets_defs.one_table import one_asset_each

verdict_tables = one_asset_each("verdict")
