"""Reprocessing the whole corpus: replacing stored tables of every ingested round by ones made otherwise.

What belongs here: when replacing is reprocessing, the proposal a person approves, and refusing without it. What does
not: the stamps in the lake (`storage.making`) and the digests behind them (`making_digest`).

A first run, a run with what made the tables, and one that gives the same bytes replace nothing and are asked nothing.
Of the others, a run counts as reprocessing when no ingested round would be left as it was: the rounds it plans to make
(of a backfill all of them, not the chunk at hand) hold every round whose table was made otherwise. So the first chunk
of a backfill is refused, and so is the last of many small runs that would come to the same. The approval names the
rounds and the digests of what makes them; each run asks for itself, and none uses it up. Where no gate is configured
nobody can approve, and the run is refused all the same: whoever could take the configuration away would else need no
approval. The way out needs none: another lake, where everything is a first run. Source: spec/framework.md §5.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import StorageError
from governance_pipeline.framework.making_digest import keep_made_with, kept_made_with, made_with
from governance_pipeline.gate.acting import check_act
from governance_pipeline.gate.gates import AUTHORITY
from governance_pipeline.gate.passage import open_verifier
from governance_pipeline.gate.proposals import Proposal, kept_proposal
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.storage.making import Making
from governance_pipeline.trust import config as account
from governance_pipeline.trust.config import load_config
from governance_pipeline.trust.reasons import ReasonCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from governance_pipeline.framework.making_digest import MadeWith
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.storage.lake import Lake

ACTION: Final = "reprocess_corpus"
"""The entry of the critical list, and the subject of its requests."""
UNKNOWN: Final = "unknown"
"""Stamp of a table of which nobody has said what made it."""
COMMAND: Final = "govern authorize reprocess_corpus --agent NAME --ask"
_WHAT: Final = "this would replace tables of every ingested round by ones made with other code, policies or settings"


class Keeper(NamedTuple):
    """Whom to ask: opens what is trusted for a lake (None: no gate is configured), and gives the time.

    `without_gate` is told what goes on where no gate is configured and it goes on all the same: only the store of an
    audit that needs no set-up may do so, from which nothing is ever published. None: it is refused.
    """

    verifier: Callable[[Lake], Verifier | None]
    clock: Callable[[], datetime]
    without_gate: Callable[[str], None] | None = None


def account_keeper(without_gate: Callable[[str], None] | None = None) -> Keeper:
    """Give whom to ask by the configuration of this account, and by the clock of this machine."""

    def now() -> datetime:
        return datetime.now(UTC)

    def verifier(lake: Lake) -> Verifier | None:
        if not account.default_config_path().exists():
            return None
        config = load_config(None)
        return open_verifier(config, Ledger(config.ledger), lake, now())

    return Keeper(verifier, now, without_gate)


class Reprocessing:
    """Asks before whole histories are replaced.

    Args:
        lake: where the tables are.
        keeper: whom to ask; None: nobody can approve.
        made: what makes tables here; None means what runs here.
    """

    def __init__(self, lake: Lake, keeper: Keeper | None, made: MadeWith | None = None) -> None:
        self._lake = lake
        self._keeper = keeper
        self._made = made
        self._is_said = False

    def making(self, planned: Collection[str]) -> Making:
        """Give the stamp of what is stored now, with the question before other tables are replaced.

        Args:
            planned: every round the run, or the backfill it belongs to, is going to make.
        """
        made = self._made or made_with()
        keep_made_with(self._lake, made)
        rounds = frozenset(planned)

        def before_replacing(table: str, replaced: str | None) -> None:
            left = rounds_made_otherwise(self._lake, table, made.stamp)
            if set(left) <= rounds:
                self._require(left, replaced, made)

        return Making(made.stamp, before_replacing)

    def _require(self, rounds: Iterable[str], replaced: str | None, made: MadeWith) -> None:
        """Refuse, unless a person has approved replacing these rounds by what is made with this.

        Raises:
            Refusal: with the reason code; nothing of the table is replaced.
        """
        verifier = None if self._keeper is None else self._keeper.verifier(self._lake)
        if self._keeper is not None and verifier is None and self._keeper.without_gate is not None:
            if not self._is_said:
                self._keeper.without_gate(f"{_WHAT}; no gate is configured, so nobody is asked")
            self._is_said = True
            return
        if self._keeper is None or verifier is None:
            raise Refusal(
                ReasonCode.MISSING,
                f"{_WHAT}, and no gate is configured, so nobody can approve it; make one with `govern trust init`, or "
                "use another lake, where nothing is replaced",
            )
        try:
            proposal = kept_proposal(self._lake, AUTHORITY, ACTION)
        except StorageError as error:
            raise Refusal(ReasonCode.MISSING, f"{_WHAT}; nobody was asked: {COMMAND}") from error
        _refuse_other(proposal, rounds, replaced, made)
        check_act(proposal, verifier, self._keeper.clock())


def rounds_made_otherwise(lake: Lake, table: str, stamp: str) -> list[str]:
    """List the rounds whose stored table was made with something else, or nobody knows with what; sorted."""
    found = ((round_id, lake.versions(table, round_id).in_force()) for round_id in lake.rounds(table))
    return [round_id for round_id, in_force in found if in_force is not None and in_force.made_by != stamp]


def reprocessing_proposal(
    lake: Lake, tables: Iterable[str], agent: str, why: str, made: MadeWith | None = None
) -> Proposal:
    """Make the proposal of replacing every round of a lake that was made otherwise.

    Args:
        lake: where the tables are.
        tables: the tables that are kept by round.
        agent: who wants it.
        why: the reason.
        made: what makes tables now; None means what runs here.
    """
    made = made or made_with()
    stamps: set[str] = set()
    rounds: set[str] = set()
    for table in tables:
        for round_id in rounds_made_otherwise(lake, table, made.stamp):
            rounds.add(round_id)
            in_force = lake.versions(table, round_id).in_force()
            stamps.add((in_force.made_by if in_force is not None else None) or UNKNOWN)
    action = {
        "action": ACTION,
        "rounds": sorted(rounds),
        "from_stamps": sorted(stamps),
        "from_code_sha256": sorted({before.code_sha256 for s in stamps if (before := kept_made_with(lake, s))}),
        **{f"to_{name}": value for name, value in made._asdict().items()},
        "to_stamp": made.stamp,
        "reason": why,
    }
    return Proposal(AUTHORITY.name, ACTION, (agent,), None, action)


def _refuse_other(proposal: Proposal, rounds: Iterable[str], replaced: str | None, made: MadeWith) -> None:
    """DIGEST_MISMATCH: what is approved names other digests, or not every round that would be replaced."""
    action = proposal.action
    strangers = sorted(set(rounds) - set(action["rounds"]))
    if action.get("to_stamp") != made.stamp or (replaced or UNKNOWN) not in action["from_stamps"]:
        said = "other code, policies or settings than those that were asked about"
    elif strangers:
        said = f"rounds that were not asked about ({', '.join(strangers[:5])})"
    else:
        return
    raise Refusal(ReasonCode.DIGEST_MISMATCH, f"{_WHAT}, and with {said}; ask again: {COMMAND}")
