"""`govern rebaseline`: what to do when a documented assumption no longer holds, step by step.

What belongs here: arguments, prompts and printing. What does not: rules; they are in `framework.rebaseline`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.governed_project import AS_JSON, CONFIG, PROJECT, folder_of
from governance_pipeline.cli.signing import KEY, LAKE, PASSPHRASE, answer, clock, signer_of
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.framework.rebaseline.protocol import Project

CONFIRM_CHARACTERS = 8


@click.group(
    epilog="\b\nExample: govern rebaseline status\n"
    "Exit: 0, 2 wrong argument or folder, 3 a file or the ledger cannot be read, 4 the step may not be taken"
)
def rebaseline() -> None:
    """Change the baseline of a governed project: seven steps, none skipped, nothing critical runs meanwhile.

    declare, freeze, rederive, revalidate, reissue, record, resume. The first and the last are signed.
    """


@rebaseline.command(epilog="Example: govern rebaseline declare --scope 'logs carry costs in euro' --key ana.pem")
@click.option("--scope", "scope_change", prompt="What changes in the scope", help="Which assumption does not hold.")
@KEY
@PASSPHRASE
@PROJECT
@CONFIG
@AS_JSON
def declare(
    scope_change: str, key_path: Path, passphrase_file: Path | None, project: Path | None, config_path: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Declare, signed, that an assumption no longer holds. Needs the role approver."""
    from governance_pipeline.framework.rebaseline.declaring import declare as take_step

    opened = _open(project, config_path)
    take_step(opened, scope_change, signer_of(key_path, passphrase_file))
    _answer(opened, as_json=as_json)


@rebaseline.command(epilog="Example: govern rebaseline freeze --project ~/projects/sales")
@PROJECT
@CONFIG
@AS_JSON
def freeze(project: Path | None, config_path: Path | None, as_json: bool) -> None:
    """Freeze gated assets, critical runs and canonical writes until the re-baseline ends."""
    from governance_pipeline.framework.rebaseline.declaring import freeze as take_step

    opened = _open(project, config_path)
    take_step(opened)
    _answer(opened, as_json=as_json)


@rebaseline.command(epilog="Example: govern rebaseline rederive data/rounds --round r-41 --round r-42")
@click.argument("sample", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--round", "round_ids", multiple=True, metavar="ROUND", help="Rounds to measure; default: all in DIR.")
@PROJECT
@CONFIG
@AS_JSON
def rederive(
    sample: Path, round_ids: tuple[str, ...], project: Path | None, config_path: Path | None, as_json: bool
) -> None:
    """Measure the rounds in DIR anew: the trusted numbers under the new scope. No number can be given by hand."""
    from governance_pipeline.framework.rebaseline.rederiving import rederive as take_step

    opened = _open(project, config_path)
    take_step(opened, sample, round_ids)
    _answer(opened, as_json=as_json)


@rebaseline.command(epilog="Example: govern rebaseline revalidate --mark sales=reconfirmed --mark old-sales=obsolete")
@click.option(
    "--mark", "marks", multiple=True, metavar="ASSET=MARK",
    help="reconfirmed, obsolete or pending_replacement, for each entry of the canonical registry.",
)  # fmt: skip
@PROJECT
@CONFIG
@AS_JSON
def revalidate(marks: tuple[str, ...], project: Path | None, config_path: Path | None, as_json: bool) -> None:
    """Say of every registered asset what becomes of it; each file is hashed anew."""
    from governance_pipeline.framework.rebaseline.revalidating import Mark
    from governance_pipeline.framework.rebaseline.revalidating import revalidate as take_step

    chosen: dict[str, Mark] = {}
    for given in marks:
        name, equals, mark = given.rpartition("=")
        if not equals or mark not in set(Mark) or name in chosen:
            raise click.BadParameter(f"{given!r} is no ASSET=MARK, or named twice", param_hint="--mark")
        chosen[name] = Mark(mark)
    opened = _open(project, config_path)
    take_step(opened, chosen)
    _answer(opened, as_json=as_json)


@rebaseline.command(epilog="Example: govern rebaseline reissue --retire policies '7' 'labels come from the source now'")
@click.option(
    "--retire", "retired", nargs=3, multiple=True, metavar="DOCUMENT RULE WHY",
    help="policies or requirements, the rule that applies no longer, and why; into the changelog of the document.",
)  # fmt: skip
@click.option("--nothing-because", "why_nothing", metavar="WHY", help="Why every rule still applies.")
@PROJECT
@CONFIG
@AS_JSON
def reissue(
    retired: tuple[tuple[str, str, str], ...], why_nothing: str | None, project: Path | None,
    config_path: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Issue policies and requirements again: edit them first, then name what you retired."""
    from governance_pipeline.framework.rebaseline.reissuing import Retired
    from governance_pipeline.framework.rebaseline.reissuing import reissue as take_step

    opened = _open(project, config_path)
    take_step(opened, [Retired(*entry) for entry in retired], why_nothing)
    _answer(opened, as_json=as_json)


@rebaseline.command(
    epilog="Example: govern rebaseline record --cause 'costs were taken for dollars' --lesson 'read unit'"
)
@click.option("--cause", prompt="Root cause", help="Which assumption did not hold, and why.")
@click.option("--lesson", prompt="Resolution or lesson", help="What was done, or learned.")
@PROJECT
@CONFIG
@AS_JSON
def record(cause: str, lesson: str, project: Path | None, config_path: Path | None, as_json: bool) -> None:
    """Write the re-baseline into the incident log, also when nothing failed."""
    from governance_pipeline.framework.rebaseline.recording import record as take_step

    opened = _open(project, config_path)
    take_step(opened, cause, lesson)
    _answer(opened, as_json=as_json)


@rebaseline.command(epilog="Example: govern rebaseline resume --version 2.0.0 --key ana.pem")
@click.option("--version", "version", required=True, metavar="VERSION", help="New baseline version, such as 2.0.0.")
@click.option("--digest", metavar="HEX", help="First 8 digits or more of the digest of the steps; default: ask.")
@KEY
@PASSPHRASE
@PROJECT
@LAKE
@CONFIG
@AS_JSON
def resume(
    version: str, digest: str | None, key_path: Path, passphrase_file: Path | None, project: Path | None, lake: Path,
    config_path: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Show every step, ask for their digest, and end the re-baseline, signed. Needs the role approver.

    Approvals, calibrations and audited rules of the old baseline do not carry over.
    """
    from governance_pipeline.framework.rebaseline.assumptions import noted_entries, tables_of
    from governance_pipeline.framework.rebaseline.protocol import require_step
    from governance_pipeline.framework.rebaseline.resuming import resume as take_step
    from governance_pipeline.framework.rebaseline.resuming import version_of
    from governance_pipeline.ledger.rebaselines import Step
    from governance_pipeline.storage.lake import Lake

    version_of(version)
    opened = _open(project, config_path)
    require_step(opened, Step.RESUME)  # nobody is asked to confirm what cannot be done
    seen = _confirmed(opened, digest, quiet=as_json)
    tables = tables_of(Lake(lake))

    def noted() -> list[Any]:
        return noted_entries(opened.folder, opened.ledger, version, tables, clock())

    take_step(opened, version, signer_of(key_path, passphrase_file), chain_sha256=seen, noted=noted)
    _answer(opened, as_json=as_json)


@rebaseline.command(epilog="Example: govern rebaseline status --json")
@click.option("--note", "is_noting", is_flag=True, help="Note the assumptions of the baseline, when nobody has.")
@PROJECT
@LAKE
@CONFIG
@AS_JSON
def status(is_noting: bool, project: Path | None, lake: Path, config_path: Path | None, as_json: bool) -> None:
    """Show how far a re-baseline is, and every assumption that does not hold."""
    from governance_pipeline.framework.rebaseline.assumptions import note, tables_of
    from governance_pipeline.framework.rebaseline.declaring import baseline_version
    from governance_pipeline.framework.rebaseline.due import due
    from governance_pipeline.storage.lake import Lake

    opened = _open(project, config_path)
    tables = tables_of(Lake(lake))
    if is_noting:
        note(opened.folder, opened.ledger, baseline_version(opened), tables, clock())
    _answer(opened, as_json=as_json, found=due(opened, tables))


def _open(project: Path | None, config_path: Path | None) -> Project:
    from governance_pipeline.framework.rebaseline.protocol import Project
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.ledger.trusted_root import trusted_root
    from governance_pipeline.trust.config import load_config

    config = load_config(config_path)
    ledger = Ledger(config.ledger)
    return Project(folder_of(project), ledger, trusted_root(config, ledger, clock()), clock)


def _confirmed(opened: Project, given: str | None, *, quiet: bool) -> str | None:
    """Show the steps of the open re-baseline, have their digest confirmed, and give it; None when none is open."""
    from governance_pipeline.framework.rebaseline.status import status_document
    from governance_pipeline.gate.display import is_confirmed
    from governance_pipeline.strict.excerpt import escape_unprintable
    from governance_pipeline.trust.reasons import ReasonCode, Refusal

    shown = status_document(opened, None)["open"]
    if shown is None:
        return None
    for line in _progress_lines(shown):
        click.echo(escape_unprintable(line), err=quiet)
    sha256 = str(shown["chain_sha256"])
    if given is None:
        given = str(click.prompt(f"First {CONFIRM_CHARACTERS} digits of the digest", err=True))
    if not is_confirmed(given, sha256):
        message = (
            f"{given!r} is not the beginning of the digest that was shown; read the steps, then type 8 digits of it"
        )
        raise Refusal(ReasonCode.DIGEST_MISMATCH, message)
    return sha256


def _answer(opened: Project, *, as_json: bool, found: Any = None) -> int:
    from governance_pipeline.framework.rebaseline.status import status_document

    document = status_document(opened, found)
    answer(document, _lines(document), as_json=as_json)
    return ExitCode.CLEAN


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    frozen = ", frozen" if document["is_frozen"] else ""
    yield f"baseline {document['baseline_version']}{frozen}"
    if document["open"] is not None:
        yield from _progress_lines(document["open"])
    for ended in document["ended"]:
        versions = f"{ended['from_baseline']} -> {ended['to_baseline']}"
        yield f"ended: {ended['rebaseline_id']}, {versions}: {ended['scope_change']}"
    for each in document["due"] or ():
        yield f"{each['state']}: {each['trigger']}: {each['subject']} ({each['pointer']})"
    for path in document["edited_checkpoints"]:
        yield f"edited: {path} is not what was signed; the ledger has the envelope that counts"


def _progress_lines(shown: Mapping[str, Any]) -> Iterator[str]:
    yield f"{shown['rebaseline_id']} of {shown['declared_on']}, authorized by {', '.join(shown['authorized_by'])}"
    yield f"  scope change: {shown['scope_change']}"
    for step in shown["steps"]:
        yield f"  {step['step']}: event {step['ledger_seq']}, {step['at']}, {step['by']}"
    for name, number in shown["numbers"].items():
        yield f"    {name}: {number}"
    if shown["missing"]:
        yield f"  next: {shown['missing'][0]}; left: {', '.join(shown['missing'])}"
    yield f"  digest of the steps: {shown['chain_sha256']}"
