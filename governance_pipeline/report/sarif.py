"""A verdict as SARIF 2.1.0, for code hosts and editors that read findings.

What belongs here: the members of the log. What does not: finding anything. SARIF has four levels and no unknown, so the
verdict stays as a word in the properties of each result and of the run: a reader of levels alone sees `note` where
nobody could tell. Source: SARIF 2.1.0 (OASIS); spec/verdict.md §5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Document = Mapping[str, Any]

SCHEMA_URI: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
VERSION: Final = "2.1.0"
ROUND_FOLDER: Final = "ROUND"
"""Base of every artifact: the round folder, wherever it lies on the machine of the reader."""

LEVELS: Final = {"block": "error", "warn": "warning", "pause": "warning", "unknown": "note"}
"""Decision -> level; what is only recorded, proposed or dismissed has none."""
_INFORMATIONAL: Final = {"kind": "informational", "level": "none"}
_MESSAGE_CHARACTERS: Final = 1000


def sarif_log(document: Document, rules: Mapping[str, str], version: str) -> dict[str, Any]:
    """Give a `govern/verdict/v1` document as a SARIF log with one run.

    Args:
        document: the verdict.
        rules: code -> when its detector fires, as one sentence; every detector that ran, silent ones too.
        version: of this program.
    """
    new, known = document["new_findings"], document["known_findings"]
    codes = sorted({*rules, *(finding["code"] for finding in (*new, *known))})
    new_state = "new" if document["baseline"]["is_at_hand"] else None
    run = {
        "tool": {
            "driver": {
                "name": "govern",
                "semanticVersion": version,
                "rules": [_rule(code, rules.get(code)) for code in codes],
            }
        },
        "automationDetails": {"id": f"govern/verdict/{document['round_id']}/"},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _left_out(document)}],
        "originalUriBaseIds": {ROUND_FOLDER: {"description": {"text": "The round folder."}}},
        "columnKind": "unicodeCodePoints",
        "results": [
            *(_result(finding, codes, document["round_id"], new_state) for finding in new),
            *(_result(finding, codes, document["round_id"], "unchanged") for finding in known),
        ],
        "properties": {name: document[name] for name in _RUN_PROPERTIES} | {"verdict": document["status"]},
    }
    return {"$schema": SCHEMA_URI, "version": VERSION, "runs": [run]}


_RUN_PROPERTIES: Final = (
    "round_id", "requires_justification", "scope", "mode", "checks_run", "unknowns", "impact", "policy",
    "inputs_digest", "reproduce",
)  # fmt: skip


def _rule(code: str, text: str | None) -> dict[str, Any]:
    said = "No detector of this program has this code." if text is None else f"A finding when {text}."
    name = "".join(word.capitalize() for word in code.split("-"))
    return {
        "id": code,
        "name": name,
        "shortDescription": {"text": code.replace("-", " ")},
        "fullDescription": {"text": _plain(said)},
        "help": {"text": _plain(f"{said} See `govern verdict check --finding ID` to run the detector again.")},
    }


def _result(finding: Document, codes: Sequence[str], round_id: str, baseline: str | None) -> dict[str, Any]:
    decision = finding["decision"]
    level = LEVELS.get(decision)
    result: dict[str, Any] = {
        "ruleId": finding["code"],
        "ruleIndex": codes.index(finding["code"]),
        **({"level": level} if level is not None else _INFORMATIONAL),
        "message": {"text": _plain(finding["message"])},
        "locations": [_location(finding["evidence"], round_id)],
        "partialFingerprints": {"findingId/v1": finding["finding_id"], "codeAndSubject/v1": finding["fingerprint"]},
        "properties": {
            "verdict": decision,
            **{name: finding[name] for name in ("class", "severity", "required", "reason", "factors", "first_seen")},
            "reproduce": finding["reproduce"],
        },
    }
    if baseline is not None:
        result["baselineState"] = baseline
    return result | _suppressed(finding["dismissed"])


def _suppressed(dismissed: Document | None) -> dict[str, Any]:
    """What a person dismissed stays a result; readers that follow suppressions do not count it."""
    if dismissed is None:
        return {}
    said = f"{dismissed['by']}: {dismissed['reason']}"
    return {"suppressions": [{"kind": "external", "status": "accepted", "justification": excerpt(said, 1000)}]}


def _location(evidence: Document | None, round_id: str) -> dict[str, Any]:
    """The place in the round folder; the round itself where a finding is about nothing in particular."""
    location: dict[str, Any] = {"logicalLocations": [{"name": round_id, "kind": "round"}]}
    if evidence is None:
        return location
    artifact = {"uri": _relative(evidence["path"]), "uriBaseId": ROUND_FOLDER}
    place: dict[str, Any] = {"artifactLocation": artifact}
    if evidence["line"] is not None:
        place["region"] = {"startLine": evidence["line"]}
    pointer = {name: evidence[name] for name in ("file_sha256", "pointer")}
    return {**location, "physicalLocation": place, "properties": pointer}


def _relative(path: str) -> str:
    """A path below the round folder as a relative reference: no text of it is a scheme or a host."""
    return "/".join(quote(part.encode("utf-8", "surrogatepass"), safe="") for part in path.split("/") if part)


def _left_out(document: Document) -> list[dict[str, Any]]:
    return [
        {
            "level": "note",
            "message": {"text": _plain(f"left out: {excerpt(row['id'], 200)}: {row['reason']}")},
            "properties": {"required": row["required"]},
        }
        for row in document["checks_skipped"]
    ]


def _plain(text: str) -> str:
    """Text of a message without embedded links (SARIF 3.11.6): a bracket of a log is a bracket, not a link."""
    safe = excerpt(text, _MESSAGE_CHARACTERS)
    return safe.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]") if "](" in safe else safe
