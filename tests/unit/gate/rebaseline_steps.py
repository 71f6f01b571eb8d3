"""Takes the steps of a re-baseline straight in the ledger, as the governed folder does once their work is done."""

from __future__ import annotations

from datetime import timedelta

from governance_pipeline.ledger.rebaselines import EVENT_OF, Step, progress_of, read_rebaselines
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.rebaseline_statement import rebaseline_id, sign_declaration, sign_resumption

SECOND = timedelta(seconds=1)


def declaration(at, scope_change="a new type of data"):
    return {
        "schema": "govern/rebaseline-declaration/v1", "declared_on": f"{at:%Y-%m-%d}", "scope_change": scope_change,
        "from_baseline": "1.0.0", "documents": {}, "signed_at": instant_text(at),
    }  # fmt: skip


def take(ledger, name, step, at, **body):
    """Append one step; gives its event."""
    return ledger.append(EVENT_OF[step], "ana", {"rebaseline_id": name, "reason": "re-baseline", **body}, ts=at)


def declare(ledger, signer, at, scope_change="a new type of data"):
    """Append a signed declaration; gives the id."""
    said = declaration(at, scope_change)
    name = rebaseline_id(said)
    take(ledger, name, Step.DECLARE, at, envelope=sign_declaration(said, signer).decode())
    return name


def resume(ledger, name, version, signer, root, at):
    """Append a signed resumption of the steps as they are."""
    progress = progress_of(read_rebaselines(ledger), name, root, at)
    envelope = sign_resumption(name, progress.chain_sha256, version, signer, at)
    return take(ledger, name, Step.RESUME, at, envelope=envelope.decode(), baseline_version=version)


def walk(ledger, signer, root, at, *, to=Step.RESUME, version="2.0.0", scope_change="a new type of data"):
    """Take every step up to one; gives the id."""
    name = declare(ledger, signer, at, scope_change)
    for step in list(Step)[1:]:
        if step is Step.RESUME:
            break
        take(ledger, name, step, at)
        if step is to:
            return name
    if to is Step.RESUME:
        resume(ledger, name, version, signer, root, at)
    return name
