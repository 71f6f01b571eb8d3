"""The round contract as values: what `round.toml` says once every rule has been checked.

What belongs here: frozen records, one per table of the document, without any judgement. What does not: reading and
refusing (`rounds.load`). One convention throughout: None means the contract is silent, which leaves unknown whatever
depends on it; an empty tuple is a list that was declared empty. Source: spec/ingest.md §2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SCHEMA = "govern/round/v1"
"""Value of `schema` in every document this package reads."""


class Mode(StrEnum):
    """How strictly a verdict treats what is missing (spec/verdict.md §3)."""

    QUICK = "quick"
    FINAL = "final"


class GoalPolicy(StrEnum):
    """What a contract may ask for when a round substitutes its goal; switching it off is not among them."""

    OBSERVE = "observe"
    WARN = "warn"


@dataclass(frozen=True, slots=True)
class KeyResult:
    """One `[[key_result]]`.

    Attributes:
        id: unique among the key results of the round.
        text: what it says.
    """

    id: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Criterion:
    """One `[[criterion]]`.

    Attributes:
        id: unique among the criteria of the round.
        kr: id of the key result it belongs to, always one the contract declares.
        required: the round must prove it.
        weight: finite, 0 or more; relative to the other criteria, without unit. Plays no part in E of v1.
        text: what it says.
        check: a step that runs exactly this command is evidence; the command is never executed by us.
    """

    id: str
    kr: str | None = None
    required: bool = True
    weight: float = 1.0
    text: str | None = None
    check: str | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """`[scope]`: lists of globs (`rounds.globs`), every one of them sound.

    Attributes:
        include: files the round may touch; the only list that counts for `outside_scope_ratio`.
        non_goals: files the round promised to leave alone.
        public: files that are a public boundary.
        objective_set: files that are the objective, for graph distances.
        module_rule: `dir:1` … `dir:99` as declared; None leaves the default to `rounds.modules`.
        canonical: assets of which there is one true version, written only with an approval.
    """

    include: tuple[str, ...] | None = None
    non_goals: tuple[str, ...] | None = None
    public: tuple[str, ...] | None = None
    objective_set: tuple[str, ...] | None = None
    module_rule: str | None = None
    canonical: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Module:
    """One entry of `[modules]`.

    Attributes:
        name: module of the files that match.
        globs: what matches; may be empty.
    """

    name: str
    globs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """`[policy]`: None leaves the value to the policy document.

    That these values only tighten the policy document is checked where one is at hand (spec/verdict.md §2).

    Attributes:
        goal_substitution: what to do with a substituted goal.
        material_files: distinct files from which a surface is material, at least 1.
        material_churn: lines added and deleted from which a surface is material, at least 1.
    """

    goal_substitution: GoalPolicy | None = None
    material_files: int | None = None
    material_churn: int | None = None


@dataclass(frozen=True, slots=True)
class Repo:
    """`[repo]`: the repository behind graph features.

    Attributes:
        path: where it is, as written.
        base: commit the round started from, as written.
        directed: distances follow the direction of edges.
    """

    path: str | None = None
    base: str | None = None
    directed: bool = False


@dataclass(frozen=True, slots=True)
class RoundContract:
    """A valid round contract.

    Attributes:
        objective: what the round promised.
        project: project the round belongs to.
        cohort: cohort it declares; without it project x task kind x language.
        task_kind: kind of task.
        language: main language.
        parent: id of the round this one continues.
        baseline_version: version of the baseline it is judged against.
        mode: quick unless the contract says final.
        contributes_to: ids of key results, each declared and none twice.
        key_results: in the order written.
        criteria: in the order written.
        scope: lists of globs and the module rule; all of it None when there is no `[scope]`.
        modules: entries of `[modules]` in the order written; () is a table without entries.
        policy: thresholds of this round; all None when there is no `[policy]`.
        repo: None when there is no `[repo]`.
    """

    objective: str | None = None
    project: str | None = None
    cohort: str | None = None
    task_kind: str | None = None
    language: str | None = None
    parent: str | None = None
    baseline_version: str | None = None
    mode: Mode = Mode.QUICK
    contributes_to: tuple[str, ...] | None = None
    key_results: tuple[KeyResult, ...] | None = None
    criteria: tuple[Criterion, ...] | None = None
    scope: Scope = Scope()
    modules: tuple[Module, ...] | None = None
    policy: Policy = Policy()
    repo: Repo | None = None

    @property
    def required(self) -> tuple[Criterion, ...]:
        """Criteria the round must prove, in the order written; none when none is declared."""
        return tuple(criterion for criterion in self.criteria or () if criterion.required)
