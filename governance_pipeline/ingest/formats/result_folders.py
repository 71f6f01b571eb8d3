"""The folder whose result files are about the same thing, where the outcomes of single instances lie further down.

What belongs here: names of folders. What does not: what is in the files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.ingest.formats.swebench_kinds import is_instance_id

if TYPE_CHECKING:
    from pathlib import Path


def result_folder(source: Path, outcomes: str) -> Path:
    """Give the folder of a result file: the one above the folder called `outcomes` it lies in, else its own.

    Inside `outcomes` only an instance of SWE-bench may have a folder of its own, at any depth.
    """
    folder = source.parent
    above = folder.parents if is_instance_id(folder.name) else (folder,)
    return next((holder.parent for holder in above if holder.name == outcomes), folder)
