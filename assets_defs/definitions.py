"""The one code location: everything named here, nothing found by searching.

What belongs here: the assembly. A new module of assets, checks, jobs, sensors or schedules must be added to its list,
and a test insists.
"""

from collections.abc import Mapping

import dagster as dg

from assets_defs.assets import ASSETS
from assets_defs.checks import CHECKS
from assets_defs.governed import project
from assets_defs.jobs import JOBS
from assets_defs.resources import gate, workspace
from assets_defs.schedules import SCHEDULES
from assets_defs.scoring import confidence
from assets_defs.sensors import SENSORS


def build_defs(*, resources: Mapping[str, object] | None = None) -> dg.Definitions:
    """Assemble the definitions; `resources` replace ours by name, which is how tests use another workspace or gate.

    Steps share one process: starting one costs about 2 s of imports, most steps take less.
    """
    return dg.Definitions(
        assets=ASSETS,
        asset_checks=CHECKS,
        jobs=JOBS,
        schedules=SCHEDULES,
        sensors=SENSORS,
        resources={
            "workspace": workspace,
            "gate": gate,
            "confidence": confidence,
            "project": project,
            **(resources or {}),
        },
        executor=dg.in_process_executor,
    )


defs = build_defs()
