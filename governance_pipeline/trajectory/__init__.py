"""Trajectory features: how far the change of each step spread, and how much was proven by then.

One module per term, each a pure function; two tables (`features_step_surface`, `features_round`), the cross-checks of
the numbers events carry themselves, and the documents and pages made of these. Nothing here judges: no threshold, no
alert, no finding (verdict). Source of every formula: spec/trajectory.md §1; interface: §9.
"""
