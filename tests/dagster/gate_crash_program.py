"""Program of test_gate_crash: publishes a round and dies at a given moment, or looks at what is left and goes on.

gate_crash_program.py FOLDER die MOMENT     # MOMENT: a type of event, or half-written, written
gate_crash_program.py FOLDER go-on          # another run first, then the same root run again; prints JSON
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from pathlib import Path

import dagster as dg
from gate_house import ASSETS, Clock, GateHouse, executed_again, refusal_of

from governance_pipeline.gate import publication
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.storage.lake import Lake

ROUND = "r-1"


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def after(owner: object, name: str, is_moment) -> None:
    """Die when a call has been made that is the moment."""
    real = getattr(owner, name)

    def call(*args, **more):
        result = real(*args, **more)
        if is_moment(*args):
            die()
        return result

    setattr(owner, name, call)


def lie_in_wait(moment: str) -> None:
    if moment == "written":
        after(publication, "write", lambda *_: True)
    elif moment == "half-written":
        real = Lake.put
        Lake.put = lambda lake, table, *rest, **more: (die if table in ASSETS else real)(lake, table, *rest, **more)
    else:
        after(Ledger, "append_all", lambda _, entries: entries[0].type == moment)


def go_on(house: GateHouse) -> dict[str, object]:
    """Let another run of the asset that was caught try first, then the run that was killed, for both assets."""
    [killed] = house.instance.get_runs()
    house.instance.report_run_failed(killed)
    files = sorted(house.files(ROUND))
    caught = [asset for asset in ASSETS if house.events(ROUND, asset)]
    other = house.run_selection(dg.AssetSelection.assets(*caught), ROUND)
    with executed_again(house, killed.run_id, ROUND, *ASSETS) as result:
        again = "" if result.success else refusal_of(result)
    return {
        "caught": caught,
        "files_before": files,
        "other_run": "" if other.success else refusal_of(other),
        "same_root_run": again,
        "files": sorted(house.files(ROUND)),
        "events": {asset: house.events(ROUND, asset) for asset in ASSETS},
    }


def main(folder: Path, action: str, moment: str = "") -> None:
    warnings.simplefilter("ignore")
    (folder / "history").mkdir(exist_ok=True)
    with dg.DagsterInstance.local_temp(str(folder / "history")) as instance:
        house = GateHouse(folder, instance, Clock())
        house.register(ROUND)
        if action == "die":
            lie_in_wait(moment)
            result = house.run(ROUND)
            sys.exit(f"it lives: {'published' if result.success else refusal_of(result)}")
        print(json.dumps(go_on(house)))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
