"""Rounds of the atlas project: steps of a data pipeline; its cohort is derived, not declared."""

from __future__ import annotations

from generator.model import Plan

PLANS = (
    Plan(
        1,
        "Tide gauge readings are de-duplicated by station and minute",
        "No station has two readings for one minute",
        "atlas check readings_unique",
        (
            (("pipelines/readings/dedupe.sql", 28, 0), ("pipelines/readings/load.sql", 5, 9)),
            (("checks/readings_unique.sql", 11, 0),),
        ),
        orphan=True,
    ),
    Plan(
        2,
        "Station metadata keeps its history when a sensor moves",
        "Each position of a sensor has a first and a last day",
        "atlas check positions_closed",
        (
            (("models/stations/positions.sql", 10, 2),),
            (("checks/positions_closed.sql", 8, 0),),
        ),
        kind="swe_agent",
    ),
    Plan(
        3,
        "Missing readings stay null instead of being interpolated",
        "A gap of one hour gives twelve null readings",
        "atlas check gaps_stay_null",
        (
            (
                ("pipelines/readings/fill.sql", 4, 31),
                ("dashboards/overview/layout.yaml", 62, 18),
                ("dashboards/overview/theme.yaml", 40, 22),
                ("dashboards/stations/map.yaml", 57, 9),
                ("dashboards/stations/legend.yaml", 21, 6),
            ),
            (
                ("dashboards/export/pdf.yaml", 33, 0),
                ("dashboards/export/print.yaml", 28, 0),
                ("web/widgets/tide_clock.js", 96, 12),
                ("web/widgets/moon_phase.js", 74, 0),
                ("web/widgets/colours.js", 19, 27),
                ("web/pages/index.html", 38, 15),
                ("docs/screenshots.md", 12, 3),
            ),
        ),
        goal_substitution="warn",
    ),
    Plan(
        4,
        "Harmonic constants are refit once a month",
        "The refit of March uses readings of March only",
        "atlas check refit_window",
        (
            (("models/harmonics/refit.sql", 9, 4),),
            (("checks/refit_window.sql", 7, 0),),
        ),
        kind="mini_swe_agent",
    ),
    Plan(
        5,
        "Warnings are sent once per threshold",
        "A level that stays above the threshold gives one warning",
        "atlas check one_warning",
        (
            (("pipelines/warnings/thresholds.sql", 19, 6),),
            (("checks/one_warning.sql", 13, 0),),
        ),
    ),
    Plan(
        6,
        "Datum shifts are applied once",
        "A reading moved to the new datum is never moved again",
        "atlas check datum_once",
        (
            (("pipelines/readings/datum.sql", 26, 11),),
            (("checks/datum_once.sql", 12, 0),),
        ),
        second_criterion=("Readings before the shift keep the old datum", "atlas check datum_before"),
    ),
    Plan(
        7,
        "Quality flags follow the station operator's codes",
        "Each operator code maps to one flag",
        "atlas check flags_mapped",
        (
            (("models/quality/flags.sql", 22, 5), ("schemas/flags.json", 9, 3)),
            (("checks/flags_mapped.sql", 10, 0),),
        ),
        baseline_version="1.1.0",
    ),
    Plan(
        8,
        "Surge residuals are stored with their model version",
        "No residual is without a model version",
        "atlas check residual_version",
        (
            (("models/surge/residuals.sql", 17, 4), ("schemas/residuals.json", 6, 0)),
            (("checks/residual_version.sql", 9, 0),),
        ),
        baseline_version="1.1.0",
    ),
    Plan(
        9,
        "Late files update only the days they cover",
        "A late file of one day changes one day of the daily table",
        "atlas check late_days",
        (
            (("pipelines/readings/late.sql", 24, 3),),
            (("pipelines/daily/update.sql", 31, 14), ("checks/late_days.sql", 8, 0)),
        ),
        baseline_version="1.2.0",
        modules=(("readings", "pipelines/readings/**"), ("daily", "pipelines/daily/**"), ("checks", "checks/**")),
    ),
    Plan(
        10,
        "Daily extremes name the reading they come from",
        "Each extreme has the id of a reading with its level",
        "atlas check extremes_traced",
        (
            (("models/daily/extremes.sql", 29, 10), ("schemas/extremes.json", 5, 1)),
            (("checks/extremes_traced.sql", 14, 0),),
        ),
        mode="final",
        baseline_version="1.3.0",
        has_scout=True,
        modules=(("models", "models/**"), ("schemas", "schemas/**"), ("checks", "checks/**")),
    ),
    Plan(
        11,
        "Station outages open a gap record",
        "An outage of two hours is one gap record with both ends",
        "atlas check gap_records",
        (
            (("pipelines/outages/gaps.sql", 33, 0),),
            (("checks/gap_records.sql", 12, 0),),
        ),
        baseline_version="1.4.0",
    ),
    Plan(
        12,
        "Published tables carry the run that made them",
        "Each published row has the id of its run",
        "atlas check run_ids",
        (
            (("pipelines/publish/tables.sql", 21, 8),),
            (("checks/run_ids.sql", 9, 0),),
        ),
        mode="final",
        baseline_version="1.4.0",
        second_criterion=("A table whose run failed is not published", "atlas check failed_runs"),
    ),
)
