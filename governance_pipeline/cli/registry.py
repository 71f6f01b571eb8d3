"""`govern registry`: which file of a governed project is the source of truth of each shared asset.

What belongs here: arguments and printing. What does not: rules; they are in `framework.registry_changes`, and approving
is `govern gate approve`'s.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.governed_project import AS_JSON, CONFIG, PROJECT, folder_of
from governance_pipeline.cli.registry_diff import diff
from governance_pipeline.cli.signing import LAKE, answer, clock, open_trusted
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from governance_pipeline.framework.registry import Asset
    from governance_pipeline.gate.passage import Verifier

NAME = click.argument("name", metavar="ASSET")
AGENT = click.option("--agent", required=True, metavar="ID", help="Who wants this; nobody approves their own change.")
WHY = click.option("--reason", required=True, help="Why, in words; it is kept with the change.")


@click.group(
    epilog="\b\nExample: govern registry supersede customers new.csv --agent worker --reason 'a new month'\n\b\n"
    "Exit: 4 when a change is not approved for these bytes, with the reason code"
)
def registry() -> None:
    """The canonical registry of a governed project: one file counts, what it replaced is archived."""


@registry.command(epilog="Example: govern registry add customers data/customers.csv --agent worker --reason shared")
@NAME
@click.argument("file", type=click.Path(path_type=Path))
@AGENT
@WHY
@PROJECT
@LAKE
@CONFIG
@AS_JSON
def add(
    name: str, file: Path, agent: str, reason: str, project: Path | None, lake: Path, config_path: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Register FILE as the canonical one of ASSET, with its digest; from then on it changes only when approved."""
    from governance_pipeline.framework.registry_changes import add as register

    folder, now = folder_of(project), clock()
    asset = register(folder, _trusted(config_path, lake), name, file, agent=agent, reason=reason, now=now)
    _changed(asset, (), (), as_json=as_json, said=f"{name} is {asset.canonical_path}, {asset.last_verified_hash}")


@registry.command(
    epilog="\b\nExample: govern registry supersede customers new.csv --agent worker --reason 'a new month'\n"
    "Exit: 0 it is in force, 4 it awaits a decision or was refused; run the same command again once it is approved"
)
@NAME
@click.argument("file", type=click.Path(path_type=Path))
@AGENT
@WHY
@click.option("--keep-canonical", is_flag=True, help="What is registered stays; FILE is the version that is archived.")
@click.option("--ask", "asks", is_flag=True, help="Ask about these bytes even where others are asked about already.")
@PROJECT
@LAKE
@CONFIG
@AS_JSON
def supersede(
    name: str, file: Path, agent: str, reason: str, keep_canonical: bool, asks: bool, project: Path | None, lake: Path,
    config_path: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Put FILE in force as ASSET once a person has approved exactly these bytes; what it replaces is archived."""
    from governance_pipeline.framework.registry_asking import carry_out_or_ask
    from governance_pipeline.framework.registry_proposal import Kind, Wanted

    folder, verifier = folder_of(project), _trusted(config_path, lake)
    wanted = Wanted(name, file, agent, reason, Kind.ARCHIVE if keep_canonical else Kind.SUPERSEDE)
    done = carry_out_or_ask(folder, verifier, wanted, clock(), asks=asks)
    asset = done.asset
    archived = "".join(f"; archived {path}" for path in done.archived)
    said = f"{name} is {asset.canonical_path}, {asset.last_verified_hash}, approved by {', '.join(done.approvers)}"
    _changed(asset, done.archived, done.approvers, as_json=as_json, said=f"{said}{archived}")


@registry.command(
    epilog="\b\nExample: govern registry verify --json\n"
    "Exit: 0 all is as registered and recorded, 1 something is not, 3 there is no ledger to hold it to"
)
@click.option("--record", is_flag=True, help="Record of what was found verified that it was, in ledger and registry.")
@click.option("--restore", "restores", is_flag=True, help="First write the registry file as the ledger has it.")
@PROJECT
@LAKE
@CONFIG
@AS_JSON
def verify(
    record: bool, restores: bool, project: Path | None, lake: Path, config_path: Path | None, as_json: bool
) -> int:
    """Hash every registered and archived file again and hold the registry to the ledger; writes nothing by itself."""
    from governance_pipeline.framework import registry_changes
    from governance_pipeline.framework.registry_rows import UNKNOWN, VERIFIED, registry_document, registry_rows

    folder, now = folder_of(project), clock()
    is_needed = record or restores
    verifier = _trusted(config_path, lake) if is_needed or _is_configured(config_path) else None
    if restores and verifier is not None:
        registry_changes.restore(folder, verifier, now)
    rows = registry_rows(folder, verifier, now)
    sound = {row["name"] for row in rows} - {row["name"] for row in rows if row["state"] != VERIFIED}
    if record and verifier is not None:
        registry_changes.record_verified(folder, verifier, sorted(sound), now)
        rows = registry_rows(folder, verifier, now)
    document = registry_document(rows)
    answer(document, _verification_lines(document), as_json=as_json)
    states = {row["state"] for row in rows}
    if states - {VERIFIED, UNKNOWN}:
        return ExitCode.FINDINGS
    return ExitCode.UNKNOWN if verifier is None else ExitCode.CLEAN


@registry.command("list", epilog="Example: govern registry list --json")
@PROJECT
@AS_JSON
def list_(project: Path | None, as_json: bool) -> None:
    """List the registered assets as the file has them; nothing is hashed."""
    from governance_pipeline.framework.folder import REGISTRY
    from governance_pipeline.framework.registry import load_registry

    found = load_registry(folder_of(project).path(REGISTRY))
    document = {"schema": "govern/registry-list/v1", "assets": [asset.document for asset in found.assets]}
    lines = [
        f"{asset.name}  {asset.canonical_path}  {asset.last_verified_hash[:16]}  verified {asset.last_verified_at}  "
        f"{len(asset.superseded_versions)} archived  {asset.status}"
        for asset in found.assets
    ]
    answer(document, lines or ["no asset is registered"], as_json=as_json)


registry.add_command(diff)


def _trusted(config_path: Path | None, lake: Path) -> Verifier:
    """Open what is trusted; without a gate nobody can approve and nothing is recorded, so nothing is changed."""
    from governance_pipeline.trust.config import default_config_path
    from governance_pipeline.trust.reasons import ReasonCode, Refusal

    if not _is_configured(config_path):
        message = (
            f"no gate is configured ({default_config_path()}), so nobody can approve a change of the registry and "
        )
        raise Refusal(ReasonCode.MISSING, f"{message}nothing would be recorded; make one with `govern trust init`")
    return open_trusted(config_path, lake, clock())


def _is_configured(config_path: Path | None) -> bool:
    from governance_pipeline.trust.config import default_config_path

    return config_path is not None or default_config_path().exists()


def _changed(asset: Asset, archived: tuple[str, ...], approvers: tuple[str, ...], *, as_json: bool, said: str) -> None:
    document: dict[str, Any] = {
        "schema": "govern/registry-change/v1",
        "asset": asset.document,
        "archived": list(archived),
        "approved_by": list(approvers),
    }
    answer(document, [said], as_json=as_json)


def _verification_lines(document: dict[str, Any]) -> list[str]:
    lines = [
        f"{row['state']:<12} {row['name']}  {row['version']}  {row['path']}"
        + (
            f"  recorded {row['recorded_sha256']}, found {row['computed_sha256']}: {row['reason']}"
            if row["reason"]
            else ""
        )
        for row in document["versions"]
    ]
    return lines or ["no asset is registered"]
