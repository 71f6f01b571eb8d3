"""`govern gate export|sign|import`: deciding where the key is, which need not be where the ledger is.

What belongs here: arguments, prompts and printing. What does not: rules; they are in `gate.elsewhere` and
`gate.deciding`.
"""

from __future__ import annotations

import base64
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.signing import (
    AS_JSON,
    CONFIG,
    KEY,
    LAKE,
    PASSPHRASE,
    REASON,
    answer,
    clock,
    open_trusted,
    signer_of,
)
from governance_pipeline.report.json_text import json_text
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.trust.reasons import Refusal

VERBS = ("approve", "reject", "revoke")


@click.command(
    "export",
    epilog="\b\nExample: govern gate export 3f2a91c0 --reason 'read it' --out ~/to-sign\n"
    "On the other machine: govern gate sign 3f2a91c0-approve.json --key ana.pem > signed.json",
)
@click.argument("request")
@REASON
@click.option("--decision", "verb", type=click.Choice(VERBS), default="approve", show_default=True,
              help="What is decided.")  # fmt: skip
@click.option("--as", "person", metavar="PRINCIPAL",
              help="Who is going to sign; needed to take back an own rejection or revocation.")  # fmt: skip
@click.option("--out", "folder", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="Folder for the document, the bytes to sign and the text; default with --json: stdout.")  # fmt: skip
@LAKE
@CONFIG
@AS_JSON
def export(
    request: str, reason: str, verb: str, person: str | None, folder: Path | None, lake: Path,
    config_path: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Write a decision on REQUEST to be signed elsewhere: the statement, the bytes to sign, and the text to read.

    Nothing is recorded. The signature may be made by `govern gate sign`, or by `ssh-keygen -Y sign -n
    governance-pipeline` over the .pae file.
    """
    from governance_pipeline.gate.decision import Verb
    from governance_pipeline.gate.drafts import draft_decision
    from governance_pipeline.gate.elsewhere import export_document

    if folder is None and not as_json:
        raise click.UsageError("name a folder with --out, or take the document with --json")
    now = clock()
    verifier = open_trusted(config_path, lake, now)
    people = frozenset() if person is None else frozenset({person})
    draft = draft_decision(
        verifier, request, Verb(verb.upper()), reason, people, now=now, nonce=secrets.token_hex(16)
    )  # fmt: skip
    document = export_document(draft)
    paths = [] if folder is None else _written(folder, f"{draft.decision.request_id[:8]}-{verb}", document)
    answer(document, [f"written  {path}" for path in paths], as_json=as_json)
    return ExitCode.CLEAN


@click.command(epilog="Example: govern gate sign 3f2a91c0-approve.json --key ana.pem > signed.json")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@KEY
@PASSPHRASE
@click.option("--digest", metavar="HEX", help="First 8 digits or more of the digest you have read; default: ask.")
@AS_JSON
def sign(file: Path, key_path: Path, passphrase_file: Path | None, digest: str | None, as_json: bool) -> int:
    """Show the decision in FILE and sign exactly that; needs neither ledger nor configuration.

    The envelope goes to stdout; bring it back and `govern gate import` it.
    """
    from governance_pipeline.gate.display import CONFIRM_CHARACTERS, is_confirmed
    from governance_pipeline.gate.elsewhere import read_export, sign_export
    from governance_pipeline.strict.canonical import sha256_hex
    from governance_pipeline.trust.keys import fingerprint
    from governance_pipeline.trust.reasons import ReasonCode, Refusal

    exported = read_export(file)
    said = exported.decision
    click.echo(exported.text, nl=False, err=True)
    click.echo(f"decision   {said.verb}: {said.reason!r}", err=True)
    if digest is None:
        digest = str(click.prompt(f"First {CONFIRM_CHARACTERS} digits of the digest", err=True))
    if not is_confirmed(digest, said.subject_sha256):
        message = f"{digest!r} is not the beginning of the digest that was shown; read it, then type it"
        raise Refusal(ReasonCode.DIGEST_MISMATCH, message)
    signer = signer_of(key_path, passphrase_file)
    envelope = sign_export(exported, signer).decode()
    document = {
        "schema": "govern/gate-signed/v1",
        "decision_id": sha256_hex(exported.statement),
        "request_id": said.request_id,
        "decision": str(said.verb),
        "key_fingerprint": fingerprint(signer.public_key),
        "envelope": envelope,
    }
    click.echo(json_text(document) if as_json else envelope)
    return ExitCode.CLEAN


@click.command(
    "import",
    epilog="\b\nExample: govern gate import signed.json\n"
    "         govern gate import 3f2a91c0-approve.json --signature 3f2a91c0-approve.pae.sig\n"
    "Exit: 0 the gate is open now, 4 it is not, with the reason code; --json says whether it was recorded",
)
@click.argument("envelope", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--signature", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Made by another program over the .pae file; ENVELOPE is then the exported document.")  # fmt: skip
@LAKE
@CONFIG
@AS_JSON
def import_(envelope: Path, signature: Path | None, lake: Path, config_path: Path | None, as_json: bool) -> int:
    """Record a decision that was signed elsewhere, after every question that is asked of one signed here."""
    from governance_pipeline.gate.answers import results_document
    from governance_pipeline.gate.elsewhere import read_envelope
    from governance_pipeline.gate.page import head_line, result_line

    verifier = open_trusted(config_path, lake, clock())
    result = _recorded(verifier, read_envelope(envelope, signature))
    document = results_document(verifier, [result])
    answer(document, [result_line(result), head_line(document)], as_json=as_json)
    is_granted = result["recorded"] and result["code"] is None
    return ExitCode.CLEAN if is_granted else ExitCode.REFUSED


def _recorded(verifier: Verifier, data: bytes) -> dict[str, Any]:
    from governance_pipeline.gate.answers import result
    from governance_pipeline.gate.deciding import record_signed
    from governance_pipeline.gate.decision import decision_of
    from governance_pipeline.gate.events import read_history
    from governance_pipeline.gate.shown import request_of
    from governance_pipeline.gate.states import standing_of
    from governance_pipeline.trust import dsse
    from governance_pipeline.trust.reasons import Refusal
    from governance_pipeline.trust.statement import statement_of

    refusal: Refusal | None = None
    decision_id: str | None = None
    try:
        decision_id = str(record_signed(verifier, data, now=clock()).body["decision_id"])
    except Refusal as error:
        refusal = error
    try:
        said = decision_of(statement_of(dsse.parse_envelope(data)))
    except Refusal:
        raise refusal or AssertionError("recorded, and cannot be read") from None
    history = read_history(verifier.ledger, is_strict=False)
    standing = standing_of(request_of(history, said.request_id), verifier, history, clock())
    return result(said.request_id, str(said.verb), decision_id, standing, refusal)


def _written(folder: Path, name: str, document: dict[str, Any]) -> list[Path]:
    from governance_pipeline.trust.new_files import taken_back_on_failure, write_new

    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        ".json": json_text(document).encode() + b"\n",
        ".pae": base64.b64decode(document["pae_base64"]),
        ".txt": str(document["display"]).encode(),
    }
    with taken_back_on_failure() as made:
        for ending, data in contents.items():
            write_new(folder / f"{name}{ending}", data)
            made.append(folder / f"{name}{ending}")
    return made
