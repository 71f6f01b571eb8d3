"""Looking whether everything is in order: what a person asks before they believe that silence means health.

What belongs here: one module per organ that is looked at, and the examination that asks them all. What does not:
repair; nothing here writes. Nothing here needs Dagster: that a sensor or the daemon runs is told by the age of its
heartbeat.
"""
