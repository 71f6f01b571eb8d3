"""Contracts: one pandera model per table, one file per contract; `registry` is the only list of them."""
