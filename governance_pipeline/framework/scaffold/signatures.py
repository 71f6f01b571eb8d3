"""Which of the two safety_checks.py a folder has, and whether it shows the six signatures.

What belongs here: telling library, skeleton and neither apart by bytes, and reading signatures without running the
file. What does not: what the functions do (`framework.safety_checks`). An agent may have written the file: nothing of
it is executed, it is only parsed.
"""

from __future__ import annotations

import ast
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from governance_pipeline.framework import folder
from governance_pipeline.framework.scaffold.file_bytes import file_bytes
from governance_pipeline.framework.scaffold.template_files import template_bytes
from governance_pipeline.strict.files import FileRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SIX: Final[Mapping[str, tuple[str, ...]]] = {
    "verify_output_hash": ("claimed_path", "expected_hash"),
    "compare_datasets_by_primary_key": ("old", "new", "key_field"),
    "check_lock_orphaned": ("lock_path",),
    "derive_timeout_from_percentiles": ("sample_durations", "percentile", "safety_multiplier"),
    "enforce_single_canonical": ("asset_name", "registry_path"),
    "validator_is_independent": ("validator_agent_id", "worker_agent_id", "run_id"),
}
"""Function to the names of its first parameters, spec/framework.md §2; a project may add parameters after them."""


class Variant(StrEnum):
    """What a safety_checks.py is."""

    LIBRARY = "library"
    SKELETON = "skeleton"
    NEITHER = "neither"


TEMPLATES: Final = {
    Variant.LIBRARY: "safety_checks.py.txt",
    Variant.SKELETON: "safety_checks_skeleton.py.txt",
}


def variant_of(data: bytes) -> Variant:
    """Tell which shipped file these bytes are; one changed byte makes it neither."""
    for variant, name in TEMPLATES.items():
        if data == template_bytes(None, name):
            return variant
    return Variant.NEITHER


def variant_of_folder(root: Path) -> Variant:
    """Tell which of the two a project folder has; a file that is missing or cannot be read is neither."""
    try:
        return variant_of(file_bytes(root / folder.SAFETY_CHECKS))
    except FileRefused:
        return Variant.NEITHER


def signature_faults(data: bytes) -> Iterator[str]:
    """Yield what of the six signatures a file does not show, reading it as text."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError) as error:
        yield f"it is no Python: {error}"
        return
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for name, wanted in SIX.items():
        if name not in functions:
            yield f"it defines no {name}({', '.join(wanted)})"
            continue
        arguments = functions[name].args
        found = tuple(a.arg for a in (*arguments.posonlyargs, *arguments.args))
        if found[: len(wanted)] != wanted:
            yield f"{name}({', '.join(found)}) does not begin with ({', '.join(wanted)})"
