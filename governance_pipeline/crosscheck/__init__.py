"""Cross-checks: what a source declares against what is computed from rawer data. Never a repair."""
