"""`govern audit-trail`: what agents did by the trail, which hashes hold, and who verified it.

What belongs here: arguments and printing. What does not: rules; they are in `framework.audit_trail` and
`framework.trail_checks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.governed_project import AS_JSON, CONFIG, PROJECT, folder_of
from governance_pipeline.cli.incident import opened_ledger
from governance_pipeline.cli.signing import KEY, PASSPHRASE, answer, clock, signer_of
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from governance_pipeline.framework.trail_checks import CheckedEntry

SCHEMA = "govern/audit-trail-check/v1"
METHODS = ("hash recomputed", "count recomputed", "query reproduced", "render inspected")


@click.group(
    name="audit-trail",
    epilog="\b\nExample: govern audit-trail verify\n"
    "Exit: 0, 1 a hash is false, a line broken or a claim unconfirmed, 3 a hash cannot be computed anew, 4 refused",
)
def audit_trail() -> None:
    """The audit trail of a governed project: every output hash computed anew, and who verified which entry."""


@audit_trail.command(epilog="Example: govern audit-trail verify --json")
@PROJECT
@CONFIG
@AS_JSON
def verify(project: Path | None, config_path: Path | None, as_json: bool) -> int:
    """Compute every output hash anew and say which entries somebody but the agent has verified."""
    from governance_pipeline.framework.trail_checks import check_trail

    folder, (ledger, root) = folder_of(project), opened_ledger(config_path)
    trail, checked = check_trail(folder, ledger, root, clock())
    document = {
        "schema": SCHEMA,
        "lines": trail.lines,
        "blank": trail.blank,
        "broken": [each._asdict() for each in trail.broken],
        "entries": [_entry(each) for each in checked],
    }
    answer(document, _lines(document), as_json=as_json)
    if trail.broken or any(each.is_claim_only or each.entry.state == "mismatch" for each in checked):
        return ExitCode.FINDINGS
    return ExitCode.UNKNOWN if any(each.entry.state == "unverifiable" for each in checked) else ExitCode.CLEAN


@audit_trail.command(epilog="Example: govern audit-trail confirm 1f3a90c4d2b7 --method 'hash recomputed' --key eva.pem")
@click.argument("entry", metavar="ENTRY")
@click.option("--method", type=click.Choice(METHODS), required=True, help="How its result was derived again.")
@KEY
@PASSPHRASE
@PROJECT
@CONFIG
@AS_JSON
def confirm(
    entry: str, method: str, key_path: Path, passphrase_file: Path | None, project: Path | None,
    config_path: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Sign that the result of ENTRY was derived again. Needs the role validator or approver, and other work."""
    from governance_pipeline.framework.trail_checks import confirm as record

    folder, (ledger, root) = folder_of(project), opened_ledger(config_path)
    done = record(folder, ledger, root, entry, method, signer_of(key_path, passphrase_file), clock())
    document = {"schema": "govern/audit-trail-confirmation/v1", **_entry(done)}
    answer(document, [f"recorded: {_line(_entry(done))}"], as_json=as_json)


def _entry(checked: CheckedEntry) -> dict[str, Any]:
    entry, confirmed = checked.entry, checked.confirmed
    names = ("timestamp", "agent_id", "run_id", "tool_called", "self_reported_status", "output_hash")
    return {
        "entry": entry.name,
        "line": entry.line,
        **{name: entry.members[name] for name in names},
        "hash_state": str(entry.state),
        "computed_hash": entry.computed,
        "reason": entry.reason,
        "claims_verification": entry.claims_verification,
        "verified_by": [] if confirmed is None else list(confirmed.people),
        "verification_method": None if confirmed is None else confirmed.method,
    }


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    entries, broken = document["entries"], document["broken"]
    yield f"{document['lines']} lines = {len(entries)} entries + {len(broken)} broken + {document['blank']} blank"
    for each in broken:
        yield f"line {each['line']}: {each['code']}: {each['message']}"
    yield from map(_line, entries)


def _line(each: Mapping[str, Any]) -> str:
    verified = f"verified by {', '.join(each['verified_by'])}" if each["verified_by"] else "not verified"
    claim = ", claims to be" if each["claims_verification"] and not each["verified_by"] else ""
    reason = f" ({each['reason']})" if each["reason"] else ""
    return (
        f"line {each['line']} {each['entry']}: {each['agent_id']} {each['tool_called']}: output hash "
        f"{each['hash_state']}{reason}; {verified}{claim}"
    )
