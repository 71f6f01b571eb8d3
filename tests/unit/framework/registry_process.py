"""Carries out an approved change of a registered asset in a process of its own, which kills itself at one effect.

Arguments: folder of the house, number of the effect to die at (0: none), instant. An effect is a rename, a removal, or
an append to the ledger; the process dies before even ones and after odd ones, so both sides of each are met.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from datetime import datetime
from pathlib import Path


def _house(root: Path):
    spec = importlib.util.spec_from_file_location("registry_house", Path(__file__).with_name("registry_house.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules["registry_house"] = module
    spec.loader.exec_module(module)
    return module.House(root, is_new=False)


class Fuse:
    """Kills the process at the nth moment; each effect has two, before and after."""

    def __init__(self, at: int) -> None:
        self.at, self.count = at, 0

    def moment(self) -> None:
        self.count += 1
        if self.count == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, function):
        def fused(*arguments, **named):
            self.moment()
            result = function(*arguments, **named)
            self.moment()
            return result

        return fused


def main() -> None:
    root, at, now = Path(sys.argv[1]), int(sys.argv[2]), datetime.fromisoformat(sys.argv[3])
    house = _house(root)
    from governance_pipeline.framework.registry_proposal import Wanted
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.reasons import Refusal

    wanted = Wanted("customers", house.path("work/new.csv"), "worker", "a new month")
    fuse = Fuse(at)
    os.replace, os.unlink = fuse.around(os.replace), fuse.around(os.unlink)
    Ledger.append_all = fuse.around(Ledger.append_all)
    try:
        done = house.supersede(wanted, now)
    except Refusal as refusal:
        sys.stdout.write(f"refused {refusal.code}\n")
    else:
        sys.stdout.write(f"done {done.asset.last_verified_hash} {fuse.count}\n")


if __name__ == "__main__":
    main()
