"""A verdict as JUnit XML, for CI servers that show test results.

What belongs here: the two suites. What does not: finding anything. `detectors` has one case per detector: a case fails
for block and warn, so that a false total never looks clean, and is an error where the verdict is unknown. `checks` has
one case per kind of check that ran, and a skipped one for each that did not, with its reason. JUnit has no word for
unknown or warn: the decision stands in `type` and in the properties of the suite. Source: spec/verdict.md §5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Document = Mapping[str, Any]

OUTCOMES: Final = {"block": "failure", "unknown": "error", "pause": "failure", "warn": "failure"}
"""Decision -> element of a test case, worst first; anything else leaves the case passed."""
_TEXT_CHARACTERS: Final = 1000


def junit_xml(document: Document, codes: Iterable[str]) -> str:
    """Give a `govern/verdict/v1` document as JUnit XML, with a final line feed.

    Args:
        document: the verdict.
        codes: codes of the detectors that ran, silent ones too.
    """
    found: dict[str, list[Document]] = {code: [] for code in codes}
    for finding in (*document["new_findings"], *document["known_findings"]):
        found.setdefault(finding["code"], []).append(finding)
    root = ET.Element("testsuites", name="govern verdict")
    name = f"govern.verdict.{document['round_id']}"
    _suite(root, f"{name}.detectors", document, [_detector(code, name, some) for code, some in found.items()])
    _suite(root, f"{name}.checks", document, [*_ran(document, name), *_skipped(document, name)])
    for kind in ("tests", "failures", "errors", "skipped"):
        root.set(kind, str(sum(int(suite.get(kind) or 0) for suite in root)))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(root: ET.Element, name: str, document: Document, cases: Sequence[ET.Element]) -> None:
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {many: str(sum(case.find(one) is not None for case in cases)) for many, one in kinds.items()}
    suite = ET.SubElement(root, "testsuite", {"name": name, "tests": str(len(cases)), **counts, "time": "0"})
    policy = document["policy"]
    _properties(
        suite,
        {
            "verdict": document["status"],
            "scope": document["scope"],
            "mode": document["mode"],
            "policy": f"{policy['version']} {policy['digest']}",
            "inputs_digest": document["inputs_digest"],
            "reproduce": document["reproduce"],
        },
    )
    suite.extend(cases)


def _detector(code: str, name: str, findings: Sequence[Document]) -> ET.Element:
    case = ET.Element("testcase", {"classname": f"{name}.detectors", "name": code, "time": "0"})
    counted = [finding for finding in findings if finding["decision"] in OUTCOMES]
    if counted:
        worst = next(decision for decision in OUTCOMES if any(one["decision"] == decision for one in counted))
        message = _text(next(one["message"] for one in counted if one["decision"] == worst))
        outcome = ET.SubElement(case, OUTCOMES[worst], {"type": worst, "message": message})
        outcome.text = "\n".join(map(_line, counted))
    silent = [finding for finding in findings if finding["decision"] not in OUTCOMES]
    if silent:
        ET.SubElement(case, "system-out").text = "\n".join(map(_line, silent))
    return case


def _ran(document: Document, name: str) -> Iterable[ET.Element]:
    for row in document["checks_run"]:
        case = ET.Element("testcase", {"classname": f"{name}.checks", "name": _text(row["id"]), "time": "0"})
        ET.SubElement(case, "system-out").text = f"came to a result {row['count']} times"
        yield case


def _skipped(document: Document, name: str) -> Iterable[ET.Element]:
    for row in document["checks_skipped"]:
        case = ET.Element("testcase", {"classname": f"{name}.checks", "name": _text(row["id"]), "time": "0"})
        said = f"{row['reason']}{' (required)' if row['required'] else ''}"
        ET.SubElement(case, "skipped", {"message": _text(said)})
        yield case


def _line(finding: Document) -> str:
    place = finding["evidence"]
    where = "" if place is None else f" at {place['path']}{'' if place['line'] is None else ':' + str(place['line'])}"
    dismissed = finding["dismissed"]
    said = "" if dismissed is None else f", dismissed by {dismissed['by']}: {dismissed['reason']}"
    return _text(f"{finding['decision']}: {finding['message']}{where} [{finding['finding_id'][:12]}]{said}")


def _properties(suite: ET.Element, values: Mapping[str, object]) -> None:
    element = ET.SubElement(suite, "properties")
    for name, value in values.items():
        ET.SubElement(element, "property", {"name": name, "value": _text(str(value))})


def _text(text: str) -> str:
    """Text every XML 1.0 reader takes: no control character or lone surrogate is left after escaping."""
    return excerpt(text, _TEXT_CHARACTERS)
