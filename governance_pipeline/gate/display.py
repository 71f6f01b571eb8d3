"""The exact text a person is shown before signing, and its digest.

What belongs here: manifest and request as lines of text, complete and escaped. What does not: colours and columns of a
terminal; they are no part of what was shown. Every value from a log stands in JSON quotes on one line, so that none of
it can pass for a line of ours; characters a screen would not show are written out, and words that mix alphabets are
named (research/security.md row 52). Nothing is cut: a claim that is not shown was not approved (OWASP AISVS 9.2.2).
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.excerpt import escape_unprintable
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from governance_pipeline.gate.events import Requested, Resolution
    from governance_pipeline.gate.manifest import Manifest

CONFIRM_CHARACTERS: Final = 8
"""Hex digits of the digest a person types to say that this is the one that was read."""

_TYPED: Final = re.compile(rf"[0-9a-f]{{{CONFIRM_CHARACTERS},64}}", re.ASCII)
_WORD: Final = re.compile(r"\w+")
_ORDER: Final = {"mismatch": 0, "unverifiable": 1, "match": 2}
_SAME: Final = frozenset({"DIGIT", "LOW", "MODIFIER", "SUPERSCRIPT", "COMBINING"})
"""First words of Unicode names that belong to no alphabet of their own."""


def display_text(request: Requested, manifest: Manifest, resolutions: Iterable[Resolution] = ()) -> str:
    """Write everything a decision is about.

    Args:
        request: the request, as recorded.
        manifest: the manifest its subject digest names.
        resolutions: recorded resolutions of the round's cases, up to the checkpoint of the decision.

    Returns:
        Lines with a line feed each; the same arguments give the same text.
    """
    document = manifest.document
    is_act = "action" in document
    of_subject = _action_lines(document["action"]) if is_act else _round_lines(document, resolutions)
    lines = [*_request_lines(request, document), *of_subject]
    mixed = sorted({word for line in lines for word in _WORD.findall(line) if is_mixed(word)})
    lines += [f"warning    {_quoted(word)} mixes alphabets: it may not be what it looks like" for word in mixed]
    # Once more as a whole: codes and states stand unquoted, and a file nobody validated may hold anything there.
    return "".join(f"{escape_unprintable(line)}\n" for line in lines)


def closing_text(request: Requested) -> str:
    """Write what a rejection or revocation is about: the request, by the ledger alone.

    Nothing more is shown before somebody closes a gate, and no table or manifest that is gone may keep them from it.
    """
    lines = (
        "closes     nothing passes on this request any more",
        f"gate       {request.gate}",
        f"round      {_quoted(request.round_id)}",
        f"request    {request.request_id}",
        f"digest     {request.subject_sha256}",
    )
    return "".join(f"{escape_unprintable(line)}\n" for line in lines)


def display_sha256(text: str) -> str:
    """Digest of the text as it was shown, in UTF-8."""
    return sha256_hex(text.encode())


def is_confirmed(typed: str, subject_sha256: str) -> bool:
    """Tell whether what a person typed is the beginning of a digest: 8 hex digits of it at least, and nothing else.

    Spaces around it and capital letters are forgiven; what is left of it must be digits, for nothing at all is the
    beginning of every digest.
    """
    text = typed.strip().lower()
    return _TYPED.fullmatch(text) is not None and subject_sha256.startswith(text)


def is_mixed(word: str) -> bool:
    """Tell whether the letters of a word come from more than one alphabet."""
    names = {unicodedata.name(c, "").partition(" ")[0] for c in word if c.isalpha()}
    return len(names - _SAME) > 1


def _request_lines(request: Requested, document: Mapping[str, Any]) -> Iterator[str]:
    policy = document["policy"]
    yield f"gate       {document['gate']}"
    yield f"round      {_quoted(document['round_id'])}"
    yield f"request    {request.request_id}"
    yield f"digest     {request.subject_sha256}"
    yield f"releases   {', '.join(document['releases'])}"
    yield f"baseline   {_quoted(document['baseline_version'])}"
    if document.get("project_baseline_version") is not None:
        yield f"re-based   the project, to version {_quoted(document['project_baseline_version'])}"
    yield f"asked      {instant_text(request.created)} by {_quoted(request.requester)}"
    yield f"expires    {instant_text(request.expires)}"
    yield f"policy     version {_quoted(policy['version'])} sha256 {policy['sha256']}"
    yield f"code       sha256 {document['code_sha256']}"
    yield f"producers  {_listed(document['producers'])}"


def _round_lines(document: Mapping[str, Any], resolutions: Iterable[Resolution]) -> Iterator[str]:
    counts = document["conservation"]
    yield (
        f"records    {counts['files']} files: {counts['lines_in']} in = {counts['accepted']} accepted + "
        f"{counts['quarantined']} quarantined + {counts['blank']} blank + {counts['duplicates']} duplicates"
    )
    yield from _verdict_lines(document["verdict"])
    yield from _validator_lines(document["validators"])
    yield from _claim_lines(document["claims"])
    for r in resolutions:
        yield f"resolved   {_quoted(r.case_id)} as {_quoted(r.resolution)} by {_quoted(r.actor)}: {_quoted(r.reason)}"
    yield from _table_lines(document)


def _action_lines(action: Mapping[str, Any]) -> Iterator[str]:
    """Write what an act does, a line per member and per item of a list; nothing of it is left out."""
    for name, value in sorted(action.items()):
        items = value if isinstance(value, list) else [value]
        if not items:
            yield f"{name:<10} none"
        for item in items:
            yield f"{name:<10} {item if type(item) is int else _quoted(item)}"


def _verdict_lines(verdict: Mapping[str, Any]) -> Iterator[str]:
    extra = ", a justification is required" if verdict["requires_justification"] else ""
    yield f"verdict    {verdict['status']} ({verdict['mode']} mode){extra}"
    for found in verdict["findings"]:
        needed = "required" if found["is_required"] else "not required"
        yield (
            f"finding    {found['decision']} {found['class']} {found['code']} ({needed}): {_quoted(found['message'])}"
            f"{_place(found['evidence'])}"
        )
        if "dismissed_by" in found:
            until = found["dismissed_until_on"]
            yield (
                f"dismissed  by {_quoted(found['dismissed_by'])}{'' if until is None else f' until {until}'}, would be "
                f"{found['dismissed_decision']}: {_quoted(found['dismissal_reason'])}"
            )


def _validator_lines(validators: list[Mapping[str, Any]]) -> Iterator[str]:
    if not validators:
        yield "validator  none"
    words = {True: "independent", False: "NOT independent", None: "independence unknown"}
    for said in validators:
        rules = f" ({', '.join(said['rules'])})" if said["rules"] else ""
        yield (
            f"validator  {_quoted(said['validator_id'])} says {_quoted(said['result'])}, "
            f"{words[said['is_independent']]}{rules}, sha256 {said['attestation_sha256']}"
        )


def _claim_lines(claims: list[Mapping[str, Any]]) -> Iterator[str]:
    counts = {status: sum(claim["status"] == status for claim in claims) for status in _ORDER}
    yield f"claims     {', '.join(f'{number} {status}' for status, number in counts.items())}"
    for claim in sorted(claims, key=lambda claim: _ORDER[claim["status"]]):
        yield (
            f"claim      {claim['status']} {_quoted(claim['field'])} of {_quoted(claim['subject_id'])}: "
            f"declared {_number(claim['declared'])}, computed {_number(claim['computed'])}, "
            f"delta {_number(claim['delta'])}, epsilon {_number(claim['epsilon'])}{_unit(claim['unit'])}"
            f"{_because(claim['reason_code'])}{_place(claim['evidence'])}, record {claim['record_id']}"
        )


def _table_lines(document: Mapping[str, Any]) -> Iterator[str]:
    for table in document["upstream"]:
        yield f"table      {table['table']}: {table['rows']} rows, {table['bytes']} bytes, sha256 {table['sha256']}"


def _place(evidence: Mapping[str, Any] | None) -> str:
    if evidence is None:
        return ""
    line = "" if evidence["line"] is None else f":{evidence['line']}"
    pointer = "" if not evidence["pointer"] else f" {_quoted(evidence['pointer'])}"
    return f", at {_quoted(evidence['path'])}{line}{pointer} (sha256 {evidence['file_sha256']})"


def _quoted(value: str | None) -> str:
    """Quote a text of somebody else: one line, every character visible; null is the word unknown, without quotes."""
    return "unknown" if value is None else escape_unprintable(json.dumps(value, ensure_ascii=False))


def _listed(values: list[str]) -> str:
    return ", ".join(map(_quoted, values)) if values else "unknown"


def _number(lexeme: str | None) -> str:
    return "unknown" if lexeme is None else lexeme


def _unit(unit: str | None) -> str:
    return "" if unit is None else f" {_quoted(unit)}"


def _because(reason: str | None) -> str:
    return "" if reason is None else f" ({reason})"
