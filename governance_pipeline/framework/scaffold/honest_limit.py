"""The opening of a project's README: what is enforced today and what is convention, from the coverage of this version.

What belongs here: the generated block and where it goes (words: `honest_limit.yaml`). What does not: what is covered
(`framework.coverage`). The seed asks for it (§6.10, §8): a team must know from the first day that prose stops nothing.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final

from governance_pipeline.framework.coverage import State, covered_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.framework.coverage import CoveredRule

PLACEHOLDER: Final = "{{ honest_limit }}"
"""Line of a README template that the generated block replaces."""


def honest_limit(language: str, *, is_skeleton: bool) -> str:
    """Give the generated block in a language; it ends without a line feed."""
    words = _words(language)
    parts = [words["limit"]]
    if is_skeleton:
        parts.append(words["skeleton"])
    rules = covered_rules(language, has_safety_checks=not is_skeleton)
    for state in State:
        lines = list(_lines([rule for rule in rules if rule.state is state], words)) or [f"- {words['none']}"]
        parts.append("\n".join([words[str(state)], "", *lines]))
    parts.append(words["scope"])
    return "\n\n".join(parts)


def filled_readme(template: str, language: str, *, is_skeleton: bool) -> str:
    """Put the block in the place a README template keeps for it."""
    return template.replace(PLACEHOLDER, honest_limit(language, is_skeleton=is_skeleton), 1)


def placeholder_fault(template: str) -> Iterator[str]:
    """Say why a README template does not open with the block: only blank lines and headings may come before it."""
    lines = template.splitlines()
    places = [at for at, line in enumerate(lines) if line.strip() == PLACEHOLDER]
    if len(places) != 1 or template.count(PLACEHOLDER) != 1:
        yield f"it needs the line {PLACEHOLDER} once; `govern init` puts there what is enforced and what is not"
    elif any(line.strip() and not line.startswith("#") for line in lines[: places[0]]):
        yield f"{PLACEHOLDER} must open it: only headings may come before"


@cache
def _words(language: str) -> Mapping[str, str]:
    import yaml

    text = (resources.files("governance_pipeline.framework.scaffold") / "honest_limit.yaml").read_text("utf-8")
    found: Mapping[str, str] = yaml.safe_load(text)[language]
    return found


def _lines(rules: list[CoveredRule], words: Mapping[str, str]) -> Iterator[str]:
    for rule in rules:
        checks = ", ".join(f"`{_short(check.name)}`" for check in rule.checks)
        by = f". {words['by']}: {checks}" if checks else ""
        left = f". {words['left']}: {rule.convention}" if rule.convention else ""
        yield f"- {rule.label}: {rule.title}{by}{left}"


def _short(name: str) -> str:
    """Give module and function without their packages; `govern framework coverage` prints the whole name."""
    module, _, function = name.partition(":")
    return f"{module.rpartition('.')[2]}.{function}"
