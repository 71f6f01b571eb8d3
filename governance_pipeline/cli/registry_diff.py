"""`govern registry diff`: the canonical file of an asset beside another version of it.

What belongs here: arguments and printing. What does not: comparing rows; that is `crosscheck.dataset_diff`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.governed_project import AS_JSON, PROJECT, folder_of
from governance_pipeline.cli.signing import answer
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from governance_pipeline.framework.folder import GovernedFolder


@click.command(
    epilog="\b\nExample: govern registry diff customers new.csv --key id\n"
    "Exit: 0 the same bytes, or the same rows where a key is given; 1 not; 3 a file cannot be compared"
)
@click.argument("name", metavar="ASSET")
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="[FILE]")
@click.option("--key", "keys", multiple=True, metavar="COLUMN", help="Also compare row by row, by this primary key.")
@PROJECT
@AS_JSON
def diff(name: str, file: Path | None, keys: tuple[str, ...], project: Path | None, as_json: bool) -> int:
    """Compare the canonical file of ASSET with FILE, or with the version it has replaced last; writes nothing."""
    from governance_pipeline.strict.files import digest_file

    old, new = _sides(folder_of(project), name, file)
    facts = [
        {"path": str(path), **dict(zip(("sha256", "bytes"), digest_file(path), strict=True))} for path in (old, new)
    ]
    rows, code = _row_diff(old, new, keys)
    is_same = facts[0]["sha256"] == facts[1]["sha256"]
    document: dict[str, Any] = {
        "schema": "govern/registry-diff/v1",
        "asset": name,
        "canonical": facts[0],
        "other": facts[1],
        "is_same_bytes": is_same,
        "rows": rows,
    }
    lines = [
        f"{side:<10} {fact['path']}  {fact['bytes']} bytes  {fact['sha256']}"
        for side, fact in zip(("canonical", "other"), facts, strict=True)
    ]
    lines.append("the same bytes" if is_same else "other bytes")
    if rows is not None:
        from governance_pipeline.report.json_text import json_text

        lines.append(json_text(rows))
    answer(document, lines, as_json=as_json)
    if code is not None:
        return code
    return ExitCode.CLEAN if is_same else ExitCode.FINDINGS


def _sides(folder: GovernedFolder, name: str, file: Path | None) -> tuple[Path, Path]:
    from governance_pipeline.framework.folder import REGISTRY
    from governance_pipeline.framework.refusal import FrameworkRefused
    from governance_pipeline.framework.registry import load_registry
    from governance_pipeline.framework.registry_proposal import RegistryCode

    asset = load_registry(folder.path(REGISTRY)).asset(name)
    if asset is None:
        raise FrameworkRefused(RegistryCode.NOT_REGISTERED, f"{name!r} is not registered; see `govern registry list`")
    if file is None and not asset.superseded_versions:
        raise click.UsageError(f"{name} has replaced nothing yet; name the FILE to compare it with")
    other = file if file is not None else folder.path(asset.superseded_versions[-1].path)
    return folder.path(asset.canonical_path), other


def _row_diff(old: Path, new: Path, keys: tuple[str, ...]) -> tuple[dict[str, Any] | None, int | None]:
    if not keys:
        return None, None
    from governance_pipeline.crosscheck.dataset_diff import compare_datasets_by_primary_key
    from governance_pipeline.crosscheck.dataset_diff_page import diff_document, exit_code

    found = compare_datasets_by_primary_key(old, new, list(keys))
    return dict(diff_document(found)), exit_code(found, fail_on_difference=True)
