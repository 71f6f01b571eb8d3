"""1,000 pending requests in the inbox: the command's document and the page, in under 2 s (research/hitl.md d, test 8).

Every twentieth round has a claim that does not match: only there tables are read, for the case and what was tried.
Processor time is measured, the best of three, because other work on the machine is none of the inbox; prints one line
per side and fails over the bound. Making the rounds takes minutes. `python bench/inbox.py [REQUESTS]`.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
BOUND_S = 2.0
REQUESTS = 1_000
REPEATS = 3
MISMATCH_EVERY = 20


def world_of(folder: Path, requests: int):
    spec = importlib.util.spec_from_file_location("gate_world", ROOT / "tests" / "unit" / "gate" / "gate_world.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["gate_world"] = module
    spec.loader.exec_module(module)
    world = module.World.create(folder)
    names = [f"round-{number:04}" for number in range(requests)]
    for name in names:
        world.make_round(name, mismatch=int(name[-4:]) % MISMATCH_EVERY == 0)
    world.request(*names)
    return world, module.NOON + module.HOUR


def best_s(measured) -> float:
    times = []
    for _ in range(REPEATS):
        begin = time.process_time()
        measured()
        times.append(time.process_time() - begin)
    return min(times)


def main() -> int:
    from governance_pipeline.gate.answers import inbox_document
    from governance_pipeline.gate.events import read_history
    from governance_pipeline.gate.inbox.pages import list_page
    from governance_pipeline.gate.inbox.rendering import html

    requests = int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS
    with tempfile.TemporaryDirectory() as folder:
        world, now = world_of(Path(folder) / "world", requests)
        verifier = world.verifier(now)

        def document() -> None:
            found = inbox_document(verifier, read_history(verifier.ledger), now)
            assert len(found["requests"]) == requests
            claims = [claim for entry in found["requests"] for claim in entry["open_claims"]]
            assert len(claims) == -(-requests // MISMATCH_EVERY)
            assert all(claim["case"] for claim in claims)

        def page() -> None:
            template, members = list_page(verifier, now)
            assert html(template, token="", **members).body.count(b'class="card"') == requests

        taken = {"document": best_s(document), "page": best_s(page)}
    for name, seconds in taken.items():
        print(f"{name:<9} {requests} requests {seconds:.2f} s (bound {BOUND_S} s)")
    return int(max(taken.values()) > BOUND_S)


if __name__ == "__main__":
    sys.exit(main())
