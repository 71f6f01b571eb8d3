"""`govern ledger prove|consistency|check-proof`: what a third party can check without the ledger.

What belongs here: arguments and printing. What does not: rules; they are in `ledger.proofs`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from governance_pipeline.cli.ledger_options import AS_JSON, CONFIG, LEDGER, head_in, head_of, path_of, state_of
from governance_pipeline.ledger.head import Head
from governance_pipeline.report.json_text import json_text
from governance_pipeline.vocabulary import ExitCode


@click.command(epilog="Example: govern ledger prove 17 --json > event-17.proof.json")
@click.argument("seq", type=click.IntRange(1))
@click.option("--size", type=click.IntRange(1), help="In the ledger of so many events; default: all.")
@CONFIG
@LEDGER
@AS_JSON
def prove(seq: int, size: int | None, config_path: Path | None, ledger_path: Path | None, as_json: bool) -> None:
    """Prove that event SEQ is in the ledger: its bytes and the hashes up to the root.

    With --json it is a file for whoever does not have the ledger.
    """
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.ledger.proofs import inclusion_proof

    proof = inclusion_proof(Ledger(path_of(config_path, ledger_path)), seq, size)
    _answer(proof, f"event {seq} is in the ledger with head {proof['size']}:{proof['root']}", as_json=as_json)


@click.command(epilog="Example: govern ledger consistency 100 250 --json > grown.proof.json")
@click.argument("old")
@click.argument("new", required=False)
@CONFIG
@LEDGER
@AS_JSON
def consistency(old: str, new: str | None, config_path: Path | None, ledger_path: Path | None, as_json: bool) -> int:
    """Prove that the first OLD events are the beginning of the first NEW (default: all).

    Each is a number of events, or the file of a checkpoint: then the ledger must have had its root as well. With --json
    it is a file for whoever kept the older head.
    """
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.ledger.proofs import consistency_proof

    (old_size, old_head), (size, head) = state_of(old), (None, None) if new is None else state_of(new)
    proof = consistency_proof(Ledger(path_of(config_path, ledger_path)), old_size, size)
    found = Head(old_size, proof["old_root"]), Head(proof["size"], proof["root"])
    for kept, here in zip((old_head, head), found, strict=True):
        if kept not in (None, here):
            click.echo(
                f"this ledger is not the one of the checkpoint: {here.size} events have root {here.root}", err=True
            )
            return ExitCode.FINDINGS
    heads = f"{old_size}:{proof['old_root']} is the beginning of {proof['size']}:{proof['root']}"
    _answer(proof, heads, as_json=as_json)
    return ExitCode.CLEAN


@click.command(
    "check-proof",
    epilog="\b\nExample: govern ledger check-proof event-17.proof.json --head 250:9f3c…\n"
    "Exit: 0 it proves what it says, 1 it does not or a head is another, 2 usage, 3 no proof that can be read",
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--head", "heads", multiple=True, metavar="SIZE:ROOT", help="A head you kept; each must be in it.")
@click.option("--checkpoint", "checkpoints", type=click.Path(dir_okay=False, path_type=Path), multiple=True,
              metavar="FILE", help="A checkpoint you kept; each must be in it.")  # fmt: skip
@click.option(
    "--log-key", metavar="KEY", help="Key of the log (`govern ledger checkpoint --json`) that must have signed."
)
@AS_JSON
def check_proof(
    file: Path, heads: tuple[str, ...], checkpoints: tuple[Path, ...], log_key: str | None, as_json: bool
) -> int:
    """Check a proof without the ledger; a head you kept yourself says whether it is about the true one."""
    if checkpoints and log_key is None:
        raise click.UsageError("--checkpoint needs --log-key; without it anybody could have written the file")
    kept = [head_in(checkpoint, log_key) for checkpoint in checkpoints]
    return _checked(file, [*(head_of(text) for text in heads), *kept], as_json=as_json)


def _answer(proof: dict[str, Any], said: str, *, as_json: bool) -> None:
    click.echo(json_text(proof) if as_json else f"{said}; --json writes the proof")


def _checked(file: Path, heads: list[Head], *, as_json: bool) -> int:
    """Check one proof file against heads that were kept, and say what it shows."""
    from governance_pipeline.ledger import proofs
    from governance_pipeline.strict.excerpt import escape_unprintable
    from governance_pipeline.strict.files import open_regular

    with open_regular(file) as stream:
        checked = proofs.check_proof(stream.read(proofs.PROOF_BYTES + 1))
    known = [] if checked is None else [head for head in (checked.head, checked.old_head) if head is not None]
    strange = [head for head in heads if head not in known]
    document = {
        "schema": "govern/ledger-proof-check/v1",
        "is_proof": checked is not None,
        "heads": [{"size": head.size, "root": head.root} for head in known],
        "event": checked.event if checked else None,
        "heads_not_in_it": [{"size": head.size, "root": head.root} for head in strange],
    }
    if as_json:
        click.echo(json_text(document))
    else:
        lines = [_said(document), *(f"  head {head.size}:{head.root}" for head in known)]
        lines += [f"  not about the head you kept: {head.size}:{head.root}" for head in strange]
        if document["event"] is not None:
            lines.append(f"  {document['event']}")
        for line in lines:
            click.echo(escape_unprintable(line))
    return ExitCode.CLEAN if checked is not None and not strange else ExitCode.FINDINGS


def _said(document: dict[str, Any]) -> str:
    if not document["is_proof"]:
        return "it proves nothing: the hashes do not lead from what it holds to its root"
    if document["event"] is None:
        return "the older state is the beginning of the newer one"
    return "the event is in the ledger with this head"
