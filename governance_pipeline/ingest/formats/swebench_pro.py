"""Evaluation results of SWE-bench Pro: one object that says true or false of each instance.

Versions seen: `eval_results.json` of the public runs of October 2025 and of the paper. Semantics from SWE-bench Pro
`swe_bench_pro_eval.py`: true when all tests that must pass passed.

Traps:
- The file declares no rate and no number of instances: the rate stands on a leaderboard, the size of the public set
  (731) in a paper. Files hold 729, 730 or 955 instances, so a rate depends on what it is divided by; no number of the
  file says so, and none is invented here.
- It names no agent and no model. Each file is a unit of its own: two files hold the same instances of two agents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.extraction import value_raw
from governance_pipeline.ingest.formats.places import Place, escaped, records
from governance_pipeline.ingest.formats.swebench_kinds import is_verdicts
from governance_pipeline.ingest.formats.values import members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Sample

NAME: Final = "swebench_pro"
DECLARES: Final[tuple[str, ...]] = ()
RECOMPUTABLE: Final[tuple[str, ...]] = DECLARES
VERSIONS: Final = "eval_results.json of 2025"


def detect(sample: Sample) -> bool:
    """Tell by members that are instances, each true or false."""
    return sample.shape == "document" and bool(sample.values) and is_verdicts(sample.values[0])


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read each instance as one verdict; the instance stands for its run, which no file of these names."""
    for file in files:
        for record in records(file):
            verdicts = members(record.value)
            if not all(isinstance(verdict, bool) for verdict in verdicts.values()):
                file.quarantine(record, "bad_verdict")
                continue
            for instance, verdict in verdicts.items():
                Place.of(file, record, escaped(instance)).add(
                    out,
                    "core_approvals",
                    run_id=instance,
                    kind="review",
                    by="rule",
                    result=f"resolved: {value_raw(verdict)}",
                )
