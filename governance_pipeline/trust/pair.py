"""Two sides compared: is the one who validates anybody, or from anybody, who produced.

What belongs here: the rules about a pair, and which outcome is reported. What does not: finding the sides
(`independence`, `production`). A rule that holds gives no outcome; what cannot be decided gives one that says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.contracts.audit_independence import IndependenceRule as Rule
from governance_pipeline.trust.attestation import Outcome
from governance_pipeline.trust.principals import skeleton
from governance_pipeline.trust.production import same_actor
from governance_pipeline.trust.reasons import ReasonCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from governance_pipeline.trust.lineage import Lineage, Run
    from governance_pipeline.trust.root import TrustRoot

_ORDER: Final = {rule: place for place, rule in enumerate(Rule)}


class Side(NamedTuple):
    """One side of a comparison: its names, its run when one is known, and the key it signed with.

    `needs_no_run` is True for a person, who signs outside of any session.
    """

    names: frozenset[str]
    run: Run | None
    key_fingerprint: str | None = None
    needs_no_run: bool = False


def compared(one: Side, other: Side, lineage: Lineage, root: TrustRoot | None) -> Iterator[Outcome]:
    """Compare two sides by every rule; a rule that holds gives no outcome."""
    yield from _actor_outcomes(one, other, root)
    if one.run is None or other.run is None:
        if not one.needs_no_run:
            yield Outcome(Rule.RUN, None, shared="the run of the validator" if one.run is None else "the producing run")
        return
    yield from lineage_outcomes(one.run, other.run, lineage, root)


def lineage_outcomes(one: Run, other: Run, lineage: Lineage, root: TrustRoot | None) -> Iterator[Outcome]:
    """Compare two runs: the run itself, its session, and what both come from."""
    if skeleton(one.run_id) == skeleton(other.run_id):
        yield Outcome(Rule.RUN, False, ReasonCode.SELF_APPROVAL, one.run_id)
    sessions = (one.session_id, other.session_id)
    if None in sessions:
        yield Outcome(Rule.SESSION, None, shared="a session the log does not name")
    elif skeleton(str(sessions[0])) == skeleton(str(sessions[1])):
        yield Outcome(Rule.SESSION, False, shared=sessions[0])
    yield from _ancestry_outcomes(one, other, lineage, root)


def _actor_outcomes(one: Side, other: Side, root: TrustRoot | None) -> Iterator[Outcome]:
    if (name := same_actor(one.names, other.names)) is not None:
        yield Outcome(Rule.AGENT, False, ReasonCode.SELF_APPROVAL, name)
    if root is None:
        return
    owners = filter(None, map(root.principal, other.names))
    if one.key_fingerprint in {key.fingerprint for owner in owners for key in owner.keys}:
        yield Outcome(Rule.KEY, False, ReasonCode.SELF_APPROVAL, one.key_fingerprint)
    if (name := same_actor(one.names, other.names, root.identity)) is not None:
        yield Outcome(Rule.PRINCIPAL, False, ReasonCode.SELF_APPROVAL, name)
    if (name := same_actor(one.names, other.names, root.controller)) is not None:
        yield Outcome(Rule.CONTROLLER, False, ReasonCode.SELF_APPROVAL, root.controller(name))


def _ancestry_outcomes(one: Run, other: Run, lineage: Lineage, root: TrustRoot | None) -> Iterator[Outcome]:
    lines = (lineage.ancestry(one), lineage.ancestry(other))
    if (common := lineage.common(*lines)) is not None:
        yield Outcome(Rule.ANCESTRY, False, shared=common.name, path=common.path)
    elif (name := same_actor(lineage.agents(lines[0]), lineage.agents(lines[1]), identity_under(root))) is not None:
        yield Outcome(Rule.ANCESTRY, False, shared=name)
    elif not all(line.is_complete for line in lines):
        yield Outcome(Rule.ANCESTRY, None, shared="a run the round does not hold")


def approver_conflict(approver: str, actors: Iterable[str], root: TrustRoot) -> Outcome | None:
    """Tell why a person may not approve a round; None when nothing speaks against it.

    Args:
        approver: principal of the trust root.
        actors: producers, authors, requester and validators of the round (`actors.round_actors` and the requester).
        root: says who is whose controller; an agent it is silent on controls itself, so a person may approve what an
            agent they run has made.

    Returns:
        The rule that is broken (agent, principal or controller), with SELF_APPROVAL.
    """
    # This way round, so that the name that is reported is the one in the log: the approver knows their own.
    return decisive(_actor_outcomes(Side(frozenset(actors), None), Side(frozenset({approver}), None), root))


def decisive(outcomes: Iterable[Outcome | None]) -> Outcome | None:
    """Choose what to report: the first broken rule, else the first undecided one; None when all hold."""
    ordered = sorted((o for o in outcomes if o is not None and o.holds is not True), key=lambda o: _ORDER[o.rule])
    broken = [outcome for outcome in ordered if outcome.holds is False]
    return next(iter(broken or ordered), None)


def identity_under(root: TrustRoot | None) -> Callable[[str], str]:
    """Give how names are told apart: through the aliases of a trust root where there is one."""
    return skeleton if root is None else root.identity
