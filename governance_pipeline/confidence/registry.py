"""Who and what is known: pools, subjects with their weights, teams and the patterns users added.

What belongs here: merging registry lines and refusing what contradicts. What does not: events. A broken registry
makes every score doubtful, so it is an error of the whole file and not a refused line. Source: spec/confidence.md §12.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.confidence import event_fields as form
from governance_pipeline.confidence.patterns import Pattern, shipped_patterns
from governance_pipeline.confidence.terms import Domain, PatternKind, Role
from governance_pipeline.errors import UsageError
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.numbers import exact_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from decimal import Decimal

REGISTRY_SCHEMA = "govern/confidence-registry/v1"
MOST_WEIGHT = 1000
WEIGHT_PLACES = 4

_LISTS = ("pools", "subjects", "teams", "patterns")


class Team(NamedTuple):
    """One agent and one user."""

    team_id: str
    agent_id: str
    user_id: str


@dataclass
class Registry:
    """The merged registry.

    Attributes:
        pools: known runtimes.
        weights: (role, subject) -> weight of each domain, in ten-thousandths; every known subject is a key.
        teams: by team id.
        patterns: by code, the shipped ones included.
    """

    pools: set[str] = field(default_factory=set)
    weights: dict[tuple[Role, str], dict[Domain, int]] = field(default_factory=dict)
    teams: dict[str, Team] = field(default_factory=dict)
    patterns: dict[str, Pattern] = field(default_factory=lambda: dict(shipped_patterns()))

    def add(self, value: Mapping[str, Any], where: str) -> None:
        """Merge one registry line.

        Args:
            value: the object of the line.
            where: for messages, such as ``line 3``.

        Raises:
            UsageError: an entry is broken, or contradicts an earlier or a shipped one.
        """
        _only(value, {"schema", *_LISTS}, where)
        for name in _LISTS:
            entries = value.get(name)
            if entries is None:
                continue
            if not isinstance(entries, list):
                raise UsageError(f"{where}: {name} of a registry is a list")
            for index, entry in enumerate(entries):
                _ADD[name](self, entry, f"{where}, {name}[{index}]")

    def check(self) -> None:
        """Look at what only the whole registry can show.

        Raises:
            UsageError: a team names a member nobody registered.
        """
        for team in self.teams.values():
            for member in ((Role.AGENT, team.agent_id), (Role.USER, team.user_id)):
                if member not in self.weights:
                    what = f"team {team.team_id} names the {member[0]} {member[1]}"
                    raise UsageError(f"{what}, whom no registry line registers; add it under subjects")


def _add_pool(registry: Registry, entry: Any, where: str) -> None:
    registry.pools.add(_form(entry, form.runtime, where, "a runtime is platform/model/thinking"))


def _add_subject(registry: Registry, entry: Any, where: str) -> None:
    _only(entry, {"role", "subject_id", "weights"}, where)
    role = _form(entry.get("role"), form.role, where, "role is agent or user")
    subject_id = _form(entry.get("subject_id"), form.identifier, where, "subject_id is an identifier")
    _put(registry.weights, (role, subject_id), _weights(entry.get("weights"), where), where)


def _add_team(registry: Registry, entry: Any, where: str) -> None:
    _only(entry, set(Team._fields), where)
    ids = [_form(entry.get(name), form.identifier, where, f"{name} is an identifier") for name in Team._fields]
    _put(registry.teams, ids[0], Team(*ids), where)


def _add_pattern(registry: Registry, entry: Any, where: str) -> None:
    _only(entry, {"pattern_code", "role", "kind", "domain", "severity"}, where)
    code = _form(entry.get("pattern_code"), form.pattern_code, where, "pattern_code is capitals, digits and _")
    role = _form(entry.get("role"), form.role, where, "role is agent or user")
    kind = entry.get("kind")
    if kind not in (PatternKind.ANTI, PatternKind.PRO):
        raise UsageError(f"{where}: kind is anti or pro")
    domain, severity = entry.get("domain"), entry.get("severity")
    if domain is not None:
        domain = _form(domain, form.domain, where, "domain is one of the five")
    if severity is not None:
        if kind != PatternKind.ANTI:
            raise UsageError(f"{where}: only an anti pattern has a severity")
        severity = _form(severity, form.severity, where, "severity is mild, medium, severe or critical")
    _put(registry.patterns, code, Pattern(code, role, PatternKind(kind), domain, severity), where)


_ADD: dict[str, Callable[[Registry, Any, str], None]] = {
    "pools": _add_pool,
    "subjects": _add_subject,
    "teams": _add_team,
    "patterns": _add_pattern,
}


def _weights(value: Any, where: str) -> dict[Domain, int]:
    """Read weights as ten-thousandths; a domain that is not named weighs 1."""
    weights = dict.fromkeys(Domain, 10**WEIGHT_PLACES)
    if value is None:
        return weights
    if not isinstance(value, dict):
        raise UsageError(f"{where}: weights is an object of domain and number")
    for name, number in value.items():
        weights[_form(name, form.domain, where, "weights are named by the five domains")] = _weight(number, where)
    if not sum(weights.values()):
        raise UsageError(f"{where}: the weights add to 0, so there is no global score; give one domain a weight")
    return weights


def _weight(value: Any, where: str) -> int:
    number: Decimal | None = None
    if isinstance(value, int | Lexeme) and not isinstance(value, bool):
        number = exact_number(str(value))
    scaled = None if number is None else number.scaleb(WEIGHT_PLACES)
    if scaled is None or scaled != scaled.to_integral_value() or not 0 <= scaled <= MOST_WEIGHT * 10**WEIGHT_PLACES:
        raise UsageError(f"{where}: a weight is a number from 0 to {MOST_WEIGHT} with at most {WEIGHT_PLACES} decimals")
    return int(scaled)


def _put(known: dict[Any, Any], key: Any, entry: Any, where: str) -> None:
    """Add an entry; the same one again is fine, another one under the same name is not."""
    if known.setdefault(key, entry) != entry:
        name = key if isinstance(key, str) else " ".join(key)
        raise UsageError(f"{where}: {name} is already registered otherwise; keep one of the two entries")


def _only(entry: Any, names: set[str], where: str) -> None:
    if not isinstance(entry, dict):
        raise UsageError(f"{where}: an object is expected here")
    unknown = entry.keys() - names
    if unknown:
        raise UsageError(f"{where}: unknown key {min(unknown)!r}; known are {', '.join(sorted(names))}")


def _form(value: Any, read: Callable[[Any], Any], where: str, rule: str) -> Any:
    try:
        return read(value)
    except form.NotOfThisForm:
        raise UsageError(f"{where}: {rule}") from None
